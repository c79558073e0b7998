/* Models of short and interrupted calls: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_SHORT(X)
/* clang-format on */

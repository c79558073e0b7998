/* Models of memory: addresses and contents: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_MEMORY(X)
/* clang-format on */

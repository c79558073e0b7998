/* Models of time and threads: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_THREADS(X)
/* clang-format on */

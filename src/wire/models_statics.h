/* Models of results in memory that the library uses again: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_STATICS(X)
/* clang-format on */

/* Models of hash tables and search trees: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_HASH(X)
/* clang-format on */

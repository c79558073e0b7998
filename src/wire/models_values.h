/* Models of values of which only a property is promised: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_VALUES(X)
/* clang-format on */

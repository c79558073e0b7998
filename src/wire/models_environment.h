/* Models of the surroundings of a process: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_ENVIRONMENT(X)
/* clang-format on */

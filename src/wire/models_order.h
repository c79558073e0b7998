/* Models of order: directories, sorting, names, readiness: see wire/models.h. */
#pragma once

/* clang-format off */
#define WIRE_MODELS_ORDER(X)                                                     \
	X(qsort, WIRE_PERMUTE, WIRE_ONE, 0, "qsort",                           \
	  "C17 7.22.5.2: if two elements compare as equal, their order in the" \
	  " resulting sorted array is unspecified",                            \
	  "elements that compare as different, or an inconsistent comparison")
/* clang-format on */

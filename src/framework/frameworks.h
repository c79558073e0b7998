/*
 * The frameworks that can be driven, and suites that are test executables driven
 * through them. Each function gives one entry after the other, then NULL.
 */
#pragma once

#include <stddef.h>

struct framework;
struct framework_own;
struct suite_kind;

extern const struct framework *const frameworks[]; /* NULL at the end */
extern const struct suite_kind executable_suite_kind;

/* What --framework takes. */
const char *frameworks_name(size_t i);
/* What belongs to them in a program. */
const struct framework_own *frameworks_own(size_t i);
/* How file names of their shared libraries begin. */
const char *frameworks_library(size_t i);

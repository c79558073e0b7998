/*
 * Names that are meant, by a list of shell globs that ends with NULL. A name is
 * meant if one of them matches it and none of those that begin with '!' does.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct str;

/* Does one without '!' match? */
bool globs_include(const char *const *globs, const char *name);
/* Does one with '!' match what follows it? */
bool globs_exclude(const char *const *globs, const char *name);
bool globs_match(const char *const *globs, const char *name);
/* For people: "'test_*', '!test_util_*'". */
struct err *globs_describe(const char *const *globs,
			   struct str *out) _must_check_;

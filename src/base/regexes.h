/* Lists of POSIX extended regular expressions, as options give them. */
#pragma once

#include <regex.h>
#include <stdbool.h>

#include "base/vec.h"

struct regexes {
	regex_t *data;
	size_t n;
	size_t cap;
};

/*
 * Adds @expressions, which end with NULL or are NULL; an invalid one is an
 * ERR_USAGE that names @option.
 */
struct err *regexes_add(struct regexes *regexes, const char *option,
			const char *const *expressions) _must_check_;
/*
 * Before they are used: invalid ones, and those that would take more time or
 * memory than the search itself, are ERR_USAGE.
 */
struct err *regexes_check(const char *option,
			  const char *const *expressions) _must_check_;
void regexes_free(struct regexes *regexes);
/* Does any of them match somewhere in @text? */
bool regexes_match(const struct regexes *regexes, const char *text);

/*
 * A list of texts that owns them: words of a command line, names of tests.
 *
 * Once something was added, a NULL follows the last text, so that data is an
 * argument vector.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct words {
	char **data;
	size_t n;
	size_t cap;
};

void words_free(struct words *words);
static inline void words_freep(struct words *words)
{
	words_free(words);
}

/* Adds a copy of @text. */
struct err *words_add(struct words *words, const char *text) _must_check_;
struct err *words_addf(struct words *words, const char *fmt, ...)
	_printf_(2, 3) _must_check_;
/* Adds copies of all of @from, which ends with NULL. */
struct err *words_add_all(struct words *words,
			  char *const *from) _must_check_;

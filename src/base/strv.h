/*
 * A list of texts that owns them: words of a command line, names of tests.
 *
 * Once something was added, a NULL follows the last text, so that data is an
 * argument vector.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct strv {
	char **data;
	size_t n;
	size_t cap;
};

void strv_free(struct strv *strv);
static inline void strv_freep(struct strv *strv)
{
	strv_free(strv);
}

/* Takes @text over, also where it fails; NULL: out of memory. */
struct err *strv_take(struct strv *strv, char *text) _must_check_;
/* Adds a copy of @text. */
struct err *strv_add(struct strv *strv, const char *text) _must_check_;
struct err *strv_addf(struct strv *strv, const char *fmt, ...)
	_printf_(2, 3) _must_check_;
/* Adds copies of all of @from, which ends with NULL. */
struct err *strv_add_all(struct strv *strv, char *const *from) _must_check_;

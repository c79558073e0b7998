/*
 * How wide text is on a terminal, in columns. Needs an LC_CTYPE of UTF-8
 * (main() sets it); text is expected to be escaped already.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

size_t width_of(const char *text);
/* Bytes of @text that fit into @columns. */
size_t width_fit(const char *text, size_t columns);
/*
 * @text in lines of @columns (0: one line, whatever its length). Its first word
 * is in column @at, the lines after the first begin with @indent blanks. Words are
 * never divided: one that is wider than a line has a line of its own.
 */
struct err *width_append_wrapped(struct str *str, const char *text, size_t at,
				 size_t indent, size_t columns) _must_check_;
/* Columns of the terminal at @fd; 0: it is not one, or does not say. */
size_t width_terminal(int fd);

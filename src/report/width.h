/*
 * How wide text is on a terminal, in columns. Needs an LC_CTYPE of UTF-8
 * (main() sets it); text is expected to be escaped already.
 */
#pragma once

#include <stddef.h>

size_t width_of(const char *text);
/* Bytes of @text that fit into @columns. */
size_t width_fit(const char *text, size_t columns);
/* Columns of the terminal at @fd; 0: it is not one, or does not say. */
size_t width_terminal(int fd);

/* TOML text as JSON; see toml.cc for why it is C++. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The table that @text, UTF-8 without a NUL, holds: an object with, for each key, an object of
 * "line" (from 1) and "value": a table of the same kind, a string, a number, a
 * boolean, or an array of plain values (text for dates and times). Keys stand
 * in the order of their lines.
 *
 * NULL on failure: @ret_line is then the line (0: not known) and @ret_message,
 * to be freed, the reason; NULL: out of memory.
 */
json_t *toml_to_json(const char *text, size_t n, unsigned *ret_line,
		     char **ret_message);

#ifdef __cplusplus
}
#endif

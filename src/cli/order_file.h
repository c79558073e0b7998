/*
 * Order files (--order FILE): one test name a line.
 *
 * Inside a name \n, \t, \r, \\ and \xNN stand for the byte, so that every name
 * fits on one line; `polygraph list --quiet` writes names that way
 * (report/name.h). A line that is no name when read so is tried as it stands,
 * because names with backslashes (command lines above all) are often written by
 * hand. Blank lines are skipped; there are no comments, since names may begin
 * with anything.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct order_line {
	char *name; /* escapes resolved; NULL where they make no name */
	char *raw;
	size_t line; /* from 1 */
};

struct order_file {
	struct order_line *data;
	size_t n;
	size_t cap;
};

struct err *order_file_parse(const char *text, size_t n,
			     struct order_file *ret) _must_check_;
struct err *order_file_read(const char *path,
			    struct order_file *ret) _must_check_;
void order_file_free(struct order_file *order);
static inline void order_file_freep(struct order_file *order)
{
	order_file_free(order);
}

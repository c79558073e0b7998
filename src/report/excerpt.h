/*
 * Lines of source files, for reports that show them.
 *
 * The debug information of the tested program names the files, so it could name
 * any. Only regular files below the source root or the working directory are
 * read, and no more than a report can show.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "report/report.h"

struct excerpts;

struct err *excerpts_create(const struct report *report,
			    struct excerpts **ret) _must_check_;
void excerpts_destroy(struct excerpts *excerpts); /* NULL is fine */
static inline void excerpts_destroyp(struct excerpts **excerpts)
{
	excerpts_destroy(*excerpts);
}

/* Remembers each place that a finding names ("file" and "line"). */
struct err *excerpts_add(struct excerpts *excerpts,
			 const json_t *finding) _must_check_;
/*
 * "FILE:LINE": {"first": …, "lines": […]} for each of them that can be read, as
 * an object.
 */
struct err *excerpts_write(struct excerpts *excerpts, FILE *out) _must_check_;

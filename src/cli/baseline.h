/*
 * The list of known findings (--baseline FILE): an id a line; what follows it on
 * the line, and lines that begin with '#', are for people.
 */
#pragma once

#include "base/map.h"
#include "finding/finding.h"

struct baseline {
	struct map_text ids;
};

/* @path NULL: an empty one. */
struct err *baseline_read(struct baseline *baseline,
			  const char *path) _must_check_;
void baseline_free(struct baseline *baseline);
static inline void baseline_freep(struct baseline *baseline)
{
	baseline_free(baseline);
}
/* Notes which findings it lists. */
void baseline_mark(const struct baseline *baseline, struct findings *findings);

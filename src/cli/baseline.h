/*
 * The list of known findings (--baseline FILE): one a line.
 *
 *	ID TAB TEST TAB what it is
 *
 * TEST is as order files have it (report/name.h). Both may be missing in a line
 * that was written by hand; what follows the id is then for people. Lines that
 * begin with '#' are comments.
 *
 * Invariants:
 *  1. A line that is no entry is an error with its number. One whose test is not
 *     there any more is a warning.
 *  2. Updating drops what was looked for and not found. What was not looked for
 *     stays.
 *
 * What it does not do: know which findings were looked for.
 */
#pragma once

#include <stdio.h>

#include "base/map.h"
#include "base/outfile.h"
#include "finding/finding.h"
#include "store/store.h"

struct baseline_entry {
	char *id;
	char *test; /* as the file has it; NULL: not said */
	char *rest; /* what else the line says; "" */
	unsigned line;
	bool seen; /* it was found */
	bool gone; /* it was looked for, and not found */
};

struct baseline {
	char *path;
	struct map_text ids; /* to entries */
	VEC(struct baseline_entry) entries;
	struct outfile_place place; /* where it is written to */
	bool updates;
	size_t added; /* that were not in it */
};

/*
 * @path NULL: an empty one. @updates: it will be written, and need not be there
 * yet.
 */
struct err *baseline_read(struct baseline *baseline, const char *path,
			  bool updates) _must_check_;
/* The same from text; for tests. */
struct err *baseline_parse(struct baseline *baseline,
			   const char *text) _must_check_;
void baseline_free(struct baseline *baseline);
static inline void baseline_freep(struct baseline *baseline)
{
	baseline_free(baseline);
}

/* A warning for each entry whose test is not in @names (baseline_name()). */
void baseline_warn(const struct baseline *baseline,
		   const struct map_text *names);
/* Such entries are gone. */
void baseline_drop(struct baseline *baseline, const struct map_text *names);
/* Adds a test's name as the file has it. */
struct err *baseline_name(struct map_text *names,
			  const char *test) _must_check_;
bool baseline_lists(const struct baseline *baseline, const char *id);
/* Notes which findings it lists. */
void baseline_mark(struct baseline *baseline, struct findings *findings);

/* ---- writing ---- */

/* What is written of a finding. */
struct err *baseline_add(struct baseline *baseline, const char *id,
			 const char *test, const char *message) _must_check_;
/* All entries but those that are gone, in the order of their tests. */
struct err *baseline_write(const struct baseline *baseline) _must_check_;
/* How many it has then, and how many of them are new. */
void baseline_tell(const struct baseline *baseline, FILE *out);

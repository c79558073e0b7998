/*
 * A whole build in one call: each part (whole/part.h) is checked by a call of
 * its own, one after the other, and the reports are joined into one
 * (whole/document.h).
 */
#pragma once

#include "cli/command.h"
#include "cli/common.h"

struct whole_options {
	struct option_list programs; /* globs */
	bool inside;
	char *shard;
	char *weights;
	char *store;
	char *since;
	bool dry_run;
};

#define WHOLE_DEFAULTS                                                         \
	{                                                                      \
		.inside = true                                                 \
	}

extern const struct option_group whole_group;

/* @argc: words after the options, which are a test executable. */
bool whole_is_wanted(const struct options *options,
		     const struct whole_options *whole, int argc);
/* *@ret_plain: nothing can be opened, and nothing was done. */
struct err *whole_run(const struct options *options,
		      const struct whole_options *whole, uint64_t budget_ns,
		      bool *ret_plain, enum status *ret) _must_check_;

/* What the check of one part of a build has to know of it. */
struct whole_part {
	bool is_part;
	uint64_t budget_ns; /* of the whole build; 0: none */
	int terminal; /* for its progress, which begins with @head; 0: none */
	char *head;
};
void whole_part_free(struct whole_part *part);

/*
 * Results are kept where the build was called to be checked from then on. The tested
 * program does not see what tells it.
 */
struct err *whole_take_part(struct whole_part *ret) _must_check_;

/* ---- for `merge` ---- */

struct document;
struct outputs;
struct err *whole_write(const struct outputs *outputs,
			const struct document *document) _must_check_;

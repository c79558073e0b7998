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

/*
 * In the check of one part: the budget of the whole build, in nanoseconds; 0:
 * none. The tested program does not see what tells it.
 */
uint64_t whole_take_budget(void);

/* ---- for `merge` ---- */

struct document;
struct outputs;
struct err *whole_write(const struct outputs *outputs,
			const struct document *document) _must_check_;

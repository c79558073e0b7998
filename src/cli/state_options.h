/*
 * What commands share that look at the state of the tested program: which of it
 * is compared and how, how long, in which order, and what is known already.
 *
 * The values of such a command begin with struct state_command_options.
 */
#pragma once

#include "cli/common.h"
#include "cli/output.h"
#include "cli/recipe.h"
#include "finding/finding.h"
#include "suite/suite.h"

/* First member of the command's values; itself begins with the common ones. */
struct state_command_options {
	struct common_options common;
	/* what is compared */
	char *capture;
	struct option_list include_roots;
	struct option_list exclude_roots;
	struct option_list exclude_fields;
	struct option_list containers;
	unsigned only; /* kind of state */
	struct option_list watch_dirs;
	bool eager;
	/* what it means */
	bool effect;
	bool readers;
	bool prove;
	uint64_t paths;
	/* run */
	char *order;
	uint64_t budget_ns; /* 0: none */
	char *baseline;
	bool update_baseline;
	struct option_list suppress;
	unsigned fail_on; /* enum finding_severity; or FAIL_ON_NONE */
	unsigned tracking;
	unsigned file_tracking;
};

#define STATE_DEFAULTS                                                         \
	{                                                                      \
		.common = COMMON_DEFAULTS, .effect = true, .readers = true,    \
		.prove = true, .paths = 3, .fail_on = FINDING_MEDIUM,          \
	}

extern const struct option_group state_compared_group;
extern const struct option_group state_meaning_group;
extern const struct option_group state_run_group;

DEFINE_VEC(state_texts, const char *)

/* The options as the suite takes them; texts are the options' and outputs'. */
struct state_watch {
	struct suite_watch watch;
	struct state_texts include, exclude, fields, dirs, own;
	struct recipes recipes;
	char *cache;
};

/* @outputs are files of ours, which are not compared. */
struct err *state_watch_choose(const struct state_command_options *options,
			       const struct outputs *outputs,
			       struct state_watch *ret) _must_check_;
void state_watch_free(struct state_watch *watch);
static inline void state_watch_freep(struct state_watch *watch)
{
	state_watch_free(watch);
}

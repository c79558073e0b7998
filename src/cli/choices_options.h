/*
 * What the user may choose about choices: at which levels, how often, which
 * APIs; and the search that follows from it. Shared by `choices` and `check`.
 */
#pragma once

#include "base/str.h"
#include "choices/choices.h"
#include "choices/user_models.h"
#include "cli/option.h"
#include "report/report.h"

struct unwinder;

struct choices_settings {
	unsigned level; /* enum wire_level, where it is given */
	uint64_t runs;
	struct option_list apis; /* patterns */
	struct option_list
		models; /* of polygraph.toml: choices/user_models.h */
	bool pedantic;
	bool systematic;
	uint64_t bound;
	uint64_t repeat;
	uint64_t baselines;
	uint64_t seed;
};

#define CHOICES_DEFAULTS                                                       \
	{                                                                      \
		.runs = 3, .bound = 10000, .repeat = 3, .baselines = 2,        \
		.seed = 1,                                                     \
	}

/* Of `choices`; and what `check` takes of them. */
extern const struct option_group choices_group;
extern const struct option_group choices_check_group;

/* A search, except for the run and its deadline. */
struct choices_plan {
	struct choices_options options;
	struct unwinder *unwinder;
	struct user_model_texts user;
};

/* A pattern that matches nothing is an error. @level_given: only that one. */
struct err *choices_plan_make(const struct choices_settings *settings,
			      bool level_given,
			      struct choices_plan *ret) _must_check_;
void choices_plan_free(struct choices_plan *plan);
static inline void choices_plan_freep(struct choices_plan *plan)
{
	choices_plan_free(plan);
}

/* What opens a suite for it. */
void choices_plan_open(const struct choices_plan *plan,
		       struct suite_options *ret);

/*
 * The table of models that patterns leave; all of them without. malloc()ed;
 * texts are @user's.
 */
struct err *choices_list_models(const struct choices_settings *settings,
				struct user_model_texts *user,
				struct report_model **ret,
				size_t *ret_n) _must_check_;

/*
 * The detector of tests that assume more than an API promises: those that pass
 * as things are today and fail where an API does something else that its
 * specification allows; which call it is, and what it did instead.
 *
 * Baseline runs first show which tests pass without choices, each time. Then
 * the suite runs under seeds and levels, from the most consistent (ONE) to the
 * least (FULL). Each test that fails is run alone under the same seed; delta
 * debugging reduces the models, then the numbered choices, down to the smallest
 * set that makes it fail (choices/debug.c). That model is switched off for that
 * test from then on, so that others can be found in it.
 *
 * Invariants:
 *  1. A finding's test passes without choices and fails with the decisive ones
 *     alone, in each of the repetitions.
 *  2. A test whose outcome varies without choices, or with the same ones, is
 *     flaky, and has no assumption.
 *
 * What it does not do: know what runs the tests (suite/suite.h), or how a stack
 * is unwound (choices_options.unwind).
 */
#pragma once

#include "finding/assumption.h"
#include "finding/reach.h"
#include "suite/suite.h"
#include "wire/choices.h"

struct choices_options;
struct str;

/* A model: of the table (wire/models.h), or of polygraph.toml. */
struct choices_model {
	const char *api;
	const char *clause; /* what leaves it open */
	const char *never;
	enum wire_kind kind;
	enum wire_level level; /* the first at which it is used */
	unsigned flags;	       /* enum wire_model_flags */
};
/* By number, WIRE_MODELS_N of them; NULL: no such number. */
const struct choices_model *choices_model(uint64_t number);
/* The same, and those of polygraph.toml. */
const struct choices_model *
choices_find_model(const struct choices_options *options, uint64_t number);
/* Is that one among @words, of which there are WIRE_MODEL_WORDS? */
bool choices_has_model(const uint64_t *words, uint64_t number);
/*
 * What tells it from others in later versions, too: its number does not, and an
 * API may leave several things open.
 */
struct err *
choices_append_model_key(struct str *str,
			 const struct choices_model *model) _must_check_;
/*
 * Is it met at nearly every call of a program (memory, clocks)? Then exploring every way
 * comes to nothing else, unless it was asked for.
 */
bool choices_model_often(uint64_t number);
const char *choices_level_name(unsigned level); /* "one", … */
const char *choices_kind_name(unsigned kind);	/* "permute", … */

struct choices_result {
	struct findings findings; /* evidence: struct assumption, flaky */
	struct choices_reach reach;
};

struct choices_options {
	const struct finding_run *run; /* that findings speak of */
	bool level_given; /* only @level; else from ONE up to FULL */
	enum wire_level level;
	size_t runs; /* seeds a level; at least 1 */
	uint64_t seed;
	uint64_t models[WIRE_MODEL_WORDS]; /* those that may be used */
	size_t baselines;		   /* at least 1 */
	/* Of detectors before: flaky tests are left out. NULL: none. */
	const struct findings *known;
	/* The same: tests that depend on timing. */
	const struct findings *arrivals;
	size_t repeats; /* that verify a finding; at least 1 */
	bool systematic;
	uint64_t bound;	   /* nodes of a test, with @systematic */
	uint64_t deadline; /* clock_now(); 0: none */
	/* The stack of a record; NULL: not wanted. */
	struct err *(*unwind)(void *data, const struct wire_choices *block,
			      const struct wire_choice *record,
			      struct assumption_call *ret);
	void *unwind_data;
	/* Of polygraph.toml, numbered from WIRE_MODEL_USER on. */
	const struct choices_model *user;
	size_t n_user;
};

/*
 * @tests: those to examine, in natural order. @observer gets limits and the
 * first run without choices. On ERR_INTERRUPTED @ret has what was found.
 */
struct err *choices_find(struct suite *suite, const size_t *tests, size_t n,
			 const struct choices_options *options,
			 const struct suite_observer *observer,
			 struct choices_result *ret) _must_check_;
void choices_result_free(struct choices_result *result);
static inline void choices_result_freep(struct choices_result *result)
{
	choices_result_free(result);
}

/* The decisive choices of a finding, for `replay`. */
struct choices_again {
	enum wire_level level;
	uint64_t seed;
	const struct wire_choice_range *ranges;
	size_t n_ranges;
	const uint64_t *models; /* WIRE_MODEL_WORDS: that were numbered … */
	const uint64_t *on;	/* … and that act */
	bool startup;		/* also before the first test */
	/* Of systematic exploration: picks in sequence, instead of drawing. */
	const uint64_t *forced;
	size_t n_forced;
};
/*
 * Runs @order once more with these choices only (NULL: without any); *@ret is the
 * result of its last test, which the caller frees.
 */
struct err *choices_run_again(struct suite *suite, const size_t *order,
			      size_t n, const struct choices_again *again,
			      struct suite_result *ret) _must_check_;

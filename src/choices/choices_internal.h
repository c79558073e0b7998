/* What the parts of the search share: see choices.h. */
#pragma once

#include "choices/choices.h"

/* What is known of a test. */
struct choices_test {
	enum outcome baseline;
	size_t runs, failures; /* without choices */
	size_t findings;
	bool left;   /* left out: fails on its own, or is flaky */
	bool steady; /* it was tried whether it is flaky, and is not */
};

struct choices_search {
	struct suite *suite;
	const size_t *tests;
	size_t n;
	const struct choices_options *options;
	const struct suite_observer *observer;
	struct choices_result *result;
	struct choices_test *of; /* by number in the suite */
	bool *failed;		 /* by test: in the last run of the suite */
	uint64_t *off;		 /* by test: models that were found in it */
	/* Models that had something to choose. */
	uint64_t met[WIRE_MODEL_WORDS];
};

/* Which choices act in a run. */
struct choices_set {
	enum wire_level level;
	uint64_t seed;
	uint64_t models[WIRE_MODEL_WORDS]; /* numbered */
	uint64_t on[WIRE_MODEL_WORDS];
	bool startup;
	bool only_ranges;
	const struct wire_choice_range *ranges;
	size_t n_ranges;
	bool detail;
	const uint64_t *off_by_test; /* NULL: all tests alike */
	const uint64_t *forced;	     /* NULL: they are drawn */
	size_t n_forced;
};

/* How a test went under such a set. */
struct choices_trial {
	enum outcome outcome;
	char *message; /* NULL: none */
	char *file;
	unsigned line;
	uint64_t ns;
	uint64_t acted[WIRE_MODELS_MAX];
	VEC(struct wire_choice_thread) threads; /* how many choices they made */
	VEC(struct assumption_call) calls;	/* with set.detail */
	bool more_calls;			/* than there was room for */
};
void choices_trial_free(struct choices_trial *trial);

static inline bool choices_bit(const uint64_t *words, uint64_t model)
{
	return words[model / 64] >> model % 64 & 1;
}

static inline void choices_set_bit(uint64_t *words, uint64_t model)
{
	words[model / 64] |= 1ULL << model % 64;
}

/*
 * trial.c: one run of @test, alone or with those before it. NULL: no choices.
 */
struct err *choices_try(struct choices_search *search,
			const struct choices_set *set, size_t test, bool alone,
			struct choices_trial *ret) _must_check_;
struct suite_choices choices_to_suite(const struct choices_set *set);

/* The models in use at a level. */
void choices_models_at(const struct choices_search *search, unsigned level,
		       uint64_t ret[WIRE_MODEL_WORDS]);
bool choices_late(const struct choices_search *search);

/* debug.c: @test failed under @set in a run of the whole suite: why? */
struct err *choices_debug(struct choices_search *search,
			  const struct choices_set *set,
			  size_t test) _must_check_;
/* There is no time to find out why it failed. */
struct err *choices_unexplained(struct choices_search *search,
				const struct choices_set *set,
				size_t test) _must_check_;
/* flaky.c: it failed under @set (NULL: without choices), and not each time. */
struct err *choices_try_flaky(struct choices_search *search,
			      const struct choices_set *set,
			      size_t test) _must_check_;
/* It failed each time: does it ever pass alone? */
struct err *choices_try_failing(struct choices_search *search,
				size_t test) _must_check_;
/* A limit, for the caller of the search. */
struct err *choices_limit(struct choices_search *search, const char *format,
			  ...) _printf_(2, 3) _must_check_;

/* systematic.c: every combination of choices in @test, up to the bound. */
struct err *choices_explore(struct choices_search *search,
			    size_t test) _must_check_;

/* choices_finding.c */

/* What the API of a call is called, and what leaves it open. */
struct err *choices_name_call(const struct choices_options *options,
			      struct assumption_call *call) _must_check_;
/*
 * Adds a call of which there is no record: takes what is in @call, and names it.
 */
struct err *choices_add_nameless(const struct choices_options *options,
				 const struct assumption_call *call,
				 struct assumption_calls *calls) _must_check_;
struct finding_failure choices_take_failure(struct choices_trial *trial);
/* Adds it to the result; takes @assumption over where it succeeds. */
struct err *choices_finding_add(struct choices_search *search,
				struct assumption *assumption) _must_check_;
/* What the result says of the search: levels, seeds, models. */
struct err *choices_end_reach(struct choices_search *search) _must_check_;

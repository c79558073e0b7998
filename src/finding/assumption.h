/*
 * Evidence of a test that assumes more than an API promises: the smallest set of
 * calls that make it fail where they do something else that is allowed, and what
 * makes them do that again.
 */
#pragma once

#include "base/call_frame.h"
#include "base/str.h"
#include "finding/finding.h"
#include "wire/choices.h"

/* A call that did something else that is allowed. */
struct assumption_call {
	uint64_t model;
	char *api;
	char *clause;		   /* what leaves it open; "" */
	char *test;		   /* that made it; NULL: the one that fails */
	uint64_t thread, n, phase; /* which choice: wire/choices.h */
	uint64_t pick, alternatives;
	char *argument; /* what it was called with, raw bytes; "" */
	char *did;	/* what it did instead, raw bytes; "" */
	VEC(struct call_frame) stack; /* from the call outwards */
};
void assumption_call_free(struct assumption_call *call);

/* In the thread that the test begins in. */
static inline bool assumption_call_in_main(const struct assumption_call *call)
{
	return call->thread == WIRE_MAIN;
}

/* Before the first test: numbered from the start of the program. */
static inline bool assumption_call_early(const struct assumption_call *call)
{
	return !call->phase;
}

DEFINE_VEC(assumption_calls, struct assumption_call)

struct assumption {
	size_t test;
	uint64_t model; /* of the first decisive call; or user's */
	enum wire_level level;
	size_t runs, failures; /* of this test at that level, all models on */
	uint64_t failing_seed;
	struct assumption_calls calls; /* the smallest set; at least one */
	/* That again, for `replay`: which models were numbered and act … */
	uint64_t numbered[WIRE_MODEL_WORDS], on[WIRE_MODEL_WORDS];
	bool startup; /* … also before the first test; and of those only */
	VEC(struct wire_choice_range) ranges; /* these; none: all */
	bool minimal; /* nothing can be left out; false: the budget ended */
	/* The test alone fails; else only after those before it. */
	bool alone;
	VEC(size_t) prefix; /* these */
	struct finding_failure failure;
	size_t repeats; /* how many times it was confirmed, with and without */
	/* With --systematic. */
	bool systematic;
	double probability;   /* that it fails, under uniform choice */
	VEC(uint64_t) forced; /* picks that lead to a failing end */
	struct assumption_calls
		critical; /* choices that decide by themselves */
};

extern const struct finding_kind assumption_kind;
/* NULL: of another kind. */
static inline const struct assumption *
assumption_of(const struct finding *finding)
{
	return finding->kind == &assumption_kind ? finding->evidence : NULL;
}

void assumption_free(struct assumption *assumption);

/* By enum wire_level: "one", …; ends with NULL. */
extern const char *const assumption_levels[];

/* Calls that a text names. */
#define ASSUMPTION_CALLS_MAX 4
/* "qsort promises", "qsort and read promise" */
struct err *
assumption_append_apis(struct str *str,
		       const struct assumption *assumption) _must_check_;

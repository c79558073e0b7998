/*
 * The detector of order-dependent tests: those whose outcome depends on which
 * tests ran before them in the same process (or, for suites of processes,
 * before them at all), which tests these are, and through which state.
 *
 * It searches cheapest first: what pollution leaves possible, then orders that
 * cover every pair (order/search.c); each difference is reduced to the smallest
 * orders that show it and verified by repeating (order/explain.c).
 *
 * Invariants:
 *  1. A finding's failing order fails and its passing order passes, in each of
 *     the repetitions.
 *  2. A test whose outcome varies in one and the same order is flaky, and
 *     never order-dependent.
 *  3. Orders are such as the suite allows (order/rules.h), unless any_order.
 *
 * What it does not do: know what runs the tests. It works on suite/suite.h.
 */
#pragma once

#include "base/strv.h"
#include "base/vec.h"
#include "finding/dependence.h"
#include "finding/flaky.h"
#include "finding/reach.h"
#include "pollution/pollution.h"
#include "suite/suite.h"

struct order_result {
	struct findings findings; /* evidence: struct dependence, flaky */
	VEC(char *) kept; /* files that were restored before each process */
	/* Ids of pollution whose readers all pass right after its test. */
	struct strv harmless;
	struct order_reach reach;
};

enum order_strategy {
	ORDER_SYSTEMATIC,
	ORDER_RANDOM, /* shuffles the whole suite, as iDFlakies does */
};

/* What an earlier call found; keys and values are the search's own. */
struct order_memory {
	bool (*get)(void *data, const char *key, void **ret, size_t *ret_n);
	void (*put)(void *data, const char *key, const void *value, size_t n);
	void *data;
};

/* A finding of an earlier run, which is tried before anything is explored. */
struct order_earlier {
	size_t test;
	struct order_tests prefix; /* that turns it, or after which it varies */
	bool flaky;
	bool unexplained;     /* the prefix is not minimal */
	enum outcome outcome; /* of the test after it, if unexplained */
	bool left_out;	      /* not to be tried */
	bool tried;	      /* if it is not found again, it is gone */
};

struct order_options {
	const struct finding_run *run; /* that findings speak of */
	enum order_strategy strategy;
	bool any_order;
	uint64_t seed;
	size_t orders;	/* random orders; (size_t)-1: as its strategy has it */
	bool all_pairs; /* cover them whatever it costs */
	size_t repeats; /* that verify a finding; at least 1 */
	bool cleaners;	/* find out */
	bool roots;	/* find out */
	/* Only whether those that read what tests leave pass right after it. */
	bool readers;
	uint64_t deadline; /* clock_now() at which no more is begun; 0: never */
	bool budget;	   /* it was asked for: use it up */
	/* How to examine state; for roots and for files to restore. */
	const struct suite_watch *watch;
	const struct order_memory *memory; /* NULL: none */
	struct order_earlier *earlier;
	size_t n_earlier;
};

/*
 * @tests: those to examine, in natural order. @pollution: what they leave
 * behind; NULL: not known. It guides the search, except for random orders, and
 * explains findings. @observer gets limits, and the first run in natural order
 * if it took place here. On ERR_INTERRUPTED @ret has what was found so far.
 */
struct err *order_find(struct suite *suite, const size_t *tests, size_t n,
		       const struct pollution *pollution,
		       const struct order_options *options,
		       const struct suite_observer *observer,
		       struct order_result *ret) _must_check_;
void order_result_free(struct order_result *result);
static inline void order_result_freep(struct order_result *result)
{
	order_result_free(result);
}

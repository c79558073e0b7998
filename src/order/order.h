/*
 * The detector of order-dependent tests: those whose outcome depends on which
 * tests ran before them in the same process (or, for suites of processes, before
 * them at all), which tests these are, and through which state.
 *
 * It searches cheapest first: what pollution leaves possible, then orders that
 * cover every pair (order/search.c); each difference is brought down to the
 * smallest orders that show it and verified by repeating (order/explain.c).
 *
 * Invariants:
 *  1. A finding's failing order fails and its passing order passes, in each of
 *     the repetitions.
 *  2. Tests whose outcome varies in one and the same order are set apart:
 *     never a finding.
 *  3. Orders are such as the suite allows (order/rules.h), unless any_order.
 *
 * What it does not do: know what runs the tests. It works on suite/suite.h.
 */
#pragma once

#include "base/vec.h"
#include "pollution/pollution.h"
#include "suite/suite.h"

enum order_class { ORDER_VICTIM, ORDER_BRITTLE, ORDER_NON_IDEMPOTENT };

DEFINE_VEC(order_tests, size_t)
DEFINE_VEC(order_lists, struct order_tests)

struct order_finding {
	size_t test;
	enum order_class class;
	/*
	 * Minimal lists of tests. Victims: run before it, in this sequence,
	 * each makes it fail; the first of them are single tests. The last may
	 * be the test itself.
	 */
	struct order_lists polluters;
	/* Brittle: run before it, each makes it pass. */
	struct order_lists setters;
	/* Run between the first of the polluters and the victim: it passes. */
	struct order_lists cleaners;
	/* The same for each of the polluters, by place; may be fewer. */
	VEC(struct order_lists) cleaned;
	bool polluters_complete; /* all single tests were tried */
	bool cleaners_complete;
	struct order_tests passing, failing; /* minimal; the test stands last */
	enum outcome outcome;		     /* of the failing one */
	char *message; /* of the failure, raw bytes; NULL: none */
	char *file;    /* its place; NULL: unknown */
	unsigned line;
	VEC(char *) polluted;	  /* roots; see roots_known */
	size_t polluted_together; /* so many of them: only together; 0: each */
	bool roots_known;	  /* looked for; and restoring works here */
	bool roots_in_vain;	  /* none of what is compared turns it */
	size_t repeats;		  /* so often both orders went as said */
	bool natural;		  /* it fails in the suite's own order, too */
};

/* A test that fails now and then in one and the same order. */
struct order_random {
	size_t test;
	size_t runs, failures; /* of that order */
};

/* How far the search went, for the report. Pairs are ordered: a before b. */
struct order_reach {
	uint64_t executions;  /* tests begun, to look for pollution included */
	uint64_t until_last;  /* of those, when the last finding was known */
	uint64_t known;	      /* tests whose outcome an earlier call knew */
	uint64_t pairs;	      /* that the suite allows */
	uint64_t pairs_tried; /* stood next to each other, or alone */
	uint64_t
		pairs_by_state; /* not tried: the first leaves nothing behind */
	size_t orders;		/* of the whole suite that were run */
	size_t rows, rows_all;	/* of the orders that cover all pairs */
	bool alone, twice;	/* done for all tests */
	bool candidates;	/* all pairs of polluter and reader tried */
	bool polluters;		/* all pairs of polluter and any test tried */
	bool reversed;
	bool fixed;	 /* only parts of the suite's own order; none twice */
	const char *why; /* what ended it: "budget", "interrupted"; NULL */
};

struct order_result {
	VEC(struct order_finding) findings;
	VEC(struct order_random) randoms;
	VEC(char *) kept; /* files that were put back before each process */
	struct order_reach reach;
};

enum order_strategy {
	ORDER_SYSTEMATIC,
	ORDER_RANDOM, /* shuffles the whole suite, as iDFlakies does */
};

/* What an earlier call found out; keys and values are the search's own. */
struct order_memory {
	bool (*get)(void *data, const char *key, void **ret, size_t *ret_n);
	void (*put)(void *data, const char *key, const void *value, size_t n);
	void *data;
};

struct order_options {
	enum order_strategy strategy;
	bool any_order;
	uint64_t seed;
	size_t orders;	/* random orders; (size_t)-1: as its strategy has it */
	bool all_pairs; /* cover them whatever it costs */
	size_t repeats; /* that verify a finding; at least 1 */
	bool cleaners;	/* find out */
	bool roots;	/* find out */
	uint64_t deadline; /* clock_now() at which no more is begun; 0: never */
	bool budget;	   /* it was asked for: use it up */
	/* How to look at state; for roots and for files to put back. */
	const struct suite_watch *watch;
	const struct order_memory *memory; /* NULL: none */
};

/*
 * @tests: those that take part, in natural order. @pollution: what they leave
 * behind; NULL: not known. @observer is told of limits, and of the first run in
 * natural order where that took place here. On ERR_INTERRUPTED @ret has what was
 * found so far.
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

const char *order_class_name(enum order_class class);
/* "high", …: as findings have it. */
const char *order_severity(const struct order_finding *finding);

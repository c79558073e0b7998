/*
 * How far the searches of detectors went, for reports: what was tried, and what
 * was not.
 */
#pragma once

#include "base/strv.h"
#include "finding/dependence.h"
#include "finding/finding.h"
#include "wire/choices.h"

/* What is known of a pair, the one test right before the other. */
enum order_pair {
	PAIR_OPEN = '.',    /* nothing */
	PAIR_TRIED = 'p',   /* they ran so, and it went as alone */
	PAIR_STATE = 's',   /* the first leaves nothing behind */
	PAIR_FAILING = 'f', /* the first makes the second fail */
	PAIR_SETTING =
		'm', /* the second fails alone; the first makes it pass */
	PAIR_REFUSED = '-', /* the suite does not allow it; or it is one test */
};

/* A whole order that was run, and the tests that went another way in it. */
struct order_executed {
	struct order_tests order;
	struct order_tests differing;
};

/* Of orders. Pairs are ordered: a before b. */
struct order_reach {
	bool systematic;      /* else random orders */
	uint64_t executions;  /* tests begun, to look for pollution included */
	uint64_t until_last;  /* of those, when the last finding was known */
	uint64_t known;	      /* tests whose outcome an earlier call knew */
	uint64_t pairs;	      /* that the suite allows */
	uint64_t refused;     /* those that it does not */
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
	/* Those that were examined; and enum order_pair, a row for each. */
	struct order_tests examined;
	char *matrix; /* NULL: there are too many */
	VEC(struct order_executed) executed;
	size_t executed_more; /* that there was no room for */
};
void order_reach_free(struct order_reach *reach);
/* Pairs of more tests are only counted; so many tests of orders are kept. */
#define ORDER_MATRIX_MAX 512
#define ORDER_EXECUTED_MAX 20000

/* A run of the suite with choices. */
struct choices_run {
	unsigned level;
	uint64_t seed;
	struct order_tests failed; /* and pass without */
};

/* All ways through a test, as far as they were walked. */
struct choices_space {
	size_t test;
	uint64_t nodes;	      /* choices met, equal states counted once */
	uint64_t edges;	      /* alternatives of them that were followed */
	uint64_t leaves;      /* ways to the end of the test */
	uint64_t failing;     /* of them */
	uint64_t merged;      /* edges to a state that was known already */
	uint64_t merge_nodes; /* nodes that more than one edge leads to */
	/*
	 * Critical states: nodes where one alternative leads to failing ends
	 * only, another to passing ends only.
	 */
	uint64_t critical;
	double probability;
	bool exhausted; /* there was no more; else the bound was met */
};

/* Of schedules. */
struct schedules_reach {
	size_t tests;	 /* that other threads work for, so explored */
	size_t all;	 /* tests that were asked for */
	uint64_t runs;	 /* under schedules */
	uint64_t events; /* pieces of other threads' work that were held */
	struct order_tests unsteady; /* do not pass without a schedule */
	struct order_tests limited;  /* their own limit of time ran out then */
	struct order_tests partly;   /* explored in part, by time */
	const char *why;	     /* what ended it; NULL: all was done */
};

/* Of choices. */
struct choices_reach {
	bool systematic; /* every way through each test, not seeds */
	unsigned first_level, n_levels;
	size_t seeds;	     /* a level */
	uint64_t seed;	     /* the first */
	uint64_t executions; /* tests begun */
	size_t runs;	     /* of the whole suite, with choices */
	size_t baselines;    /* without */
	uint64_t made;	     /* choices in all runs */
	uint64_t acted;	     /* that took another alternative */
	struct strv met;     /* models that had something to choose */
	size_t models;	     /* that might have had */
	const char *why;     /* what ended it; NULL: all was done */
	size_t undebugged; /* failing tests that the budget left unexplained */
	VEC(struct choices_space) spaces; /* with @systematic */
	VEC(struct choices_run) outcomes; /* without: one a seed and level */
};
void choices_reach_free(struct choices_reach *reach);

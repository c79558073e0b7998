/*
 * A report: what one command found out, and the formats that show it.
 *
 * The records here belong to this room; commands fill them with pointers to
 * what they know, which has to live until the report is written. Texts are the
 * tested program's bytes as they are: each format makes them harmless itself.
 *
 * Invariants:
 *  1. Tests stand in the order in which they ran (list: in natural order).
 *  2. A test that ran twice stands there twice; one that did not run (left out
 *     by a budget or an interruption) does not, and a limit says so.
 *
 * What it does not do: decide on the exit status.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/outcome.h"

struct report_test {
	const char *name;
	const char *file; /* as the compiler was given it; NULL: unknown */
	unsigned line;
	bool disabled;
	enum outcome outcome; /* OUTCOME_NONE in lists */
	uint64_t ns;

	/* Why it did not pass: NULL where that is not known. */
	const char *message;
	const char *failure_file;
	unsigned failure_line;

	const char *output; /* NULL: none */
	size_t output_n;
	uint64_t output_dropped; /* bytes left out in its middle */
};

struct report_frame {
	const char *function; /* NULL: unknown */
	const char *file;     /* NULL: unknown */
	unsigned line;
};

struct report_path {
	const char *path;
	const char *before;
	const char *after;
	const struct report_frame *stack; /* where the leftover was allocated */
	size_t n_stack;
};

struct report_names {
	const char *const *data;
	size_t n;
};

/* Each of them does it, none of them can be shorter. */
struct report_lists {
	const struct report_names *data;
	size_t n;
	bool partial; /* there may be more: not all was tried */
};

/* An order-dependent test. */
struct report_order {
	const char *class; /* "victim", … */
	struct report_lists polluters, setters, cleaners;
	struct report_names passing, failing; /* orders; the test stands last */
	enum outcome outcome;		      /* of the failing one */
	const char *message; /* NULL: unknown, as is the file */
	const char *file;
	unsigned line;
	/* By polluter, in their sequence; may be fewer. */
	const struct report_lists *cleaned;
	size_t n_cleaned;
	struct report_names polluted; /* roots */
	bool polluted_together;	      /* not each of them alone */
	bool roots_known;	      /* looked for */
	bool roots_in_vain;	      /* looked for, and none of them is it */
	/* What one of the tests before it leaves in them; test NULL: unknown. */
	struct {
		const char *test, *path, *before, *after;
	} left;
	size_t repeats;
	bool natural; /* it fails in the suite's own order, too */
};

/* A call that did something else that is allowed. */
struct report_call {
	const char *api;
	const char *clause; /* what leaves it open */
	uint64_t index;	    /* which choice of its thread, from 1 on */
	uint64_t thread;    /* as the choices are numbered; see @in_main */
	bool in_main;	    /* the thread that the test begins in */
	bool before;	    /* the first test: numbered from the start-up */
	uint64_t pick, alternatives;
	const char *argument;		  /* what it was called with; "" */
	const char *did;		  /* instead; "" */
	const struct report_frame *stack; /* from the call outwards */
	size_t n_stack;
};

/* A test that assumes more than an API promises. */
struct report_choice {
	const char *api;       /* of the first call */
	const char *level;     /* "one", … */
	size_t runs, failures; /* at that level */
	uint64_t failing_seed;
	const struct report_call *calls; /* the decisive ones, at least one */
	size_t n_calls;
	bool minimal; /* none of them can be left out */
	bool alone;   /* else only after the tests before it */
	enum outcome outcome;
	const char *message; /* NULL: unknown, as is the file */
	const char *file;
	unsigned line;
	size_t repeats;
	bool systematic; /* then these are known: */
	double probability;
	const struct report_call *critical;
	size_t n_critical;
};

struct report_finding {
	const char *id;
	const char *kind; /* "pollution", "order-dependent", "assumption" */
	const char *test;
	const char *severity;
	const char *message; /* one sentence */
	bool known;	     /* the baseline lists it */
	const char *replay;

	/* pollution */
	const char *where; /* "memory", … */
	const char *root;
	const char *file; /* its declaration; NULL: unknown */
	unsigned line;
	const struct report_path *paths; /* at least one */
	size_t n_paths;
	size_t more_paths;
	const char *effect;
	const char *const *readers; /* names */
	size_t n_readers;
	const char *detail; /* lines; NULL: none */
	/* The id of another finding that tells of this one; NULL: none does. */
	const char *told_by;

	const struct report_order *order;   /* NULL: of another kind */
	const struct report_choice *choice; /* NULL: of another kind */
};

static inline bool report_is_pollution(const struct report_finding *finding)
{
	return !finding->order && !finding->choice;
}

/* A root that a test initialised for the first time. */
struct report_first {
	const char *test;
	const char *root;
};

/* A test that fails at random, whatever the order or what is chosen. */
struct report_random {
	const char *test;
	size_t runs, failures;
};

/* How far a search for order-dependent tests went. Pairs are ordered. */
struct report_reach {
	bool systematic;
	bool by_state; /* what tests leave behind was known */
	uint64_t executions, until_last, known;
	uint64_t pairs, pairs_tried, pairs_by_state;
	size_t orders, rows, rows_all;
	bool alone, twice, candidates, polluters, reversed;
	const char *why; /* what ended it; NULL: there was no more to do */
	const struct report_random *randoms;
	size_t n_randoms;
};

/* All ways through a test, as far as they were walked. */
struct report_space {
	const char *test;
	uint64_t nodes, leaves, failing, merged;
	double probability;
	bool exhausted;
};

/* How far a search for assumptions went. */
struct report_choices {
	bool systematic; /* every way through each test, not seeds */
	struct report_names levels;
	size_t seeds;  /* a level */
	uint64_t seed; /* that --seed gives again */
	uint64_t executions;
	size_t runs, baselines; /* of the suite, with choices and without */
	uint64_t made, acted;
	struct report_names met; /* models that had something to choose */
	size_t models;		 /* that might have had */
	const char *why; /* what ended it; NULL: there was no more to do */
	size_t undebugged;
	const struct report_space *spaces;
	size_t n_spaces;
	const struct report_random *randoms;
	size_t n_randoms;
};

/* What an API leaves open, for a list of all. */
struct report_model {
	const char *api;
	const char *kind;  /* "permute", … */
	const char *level; /* the first at which it takes part */
	bool optional;	   /* only where it is asked for */
	const char *clause;
	const char *never;
};

struct report {
	const char *kind;    /* the command: "list", "run"; or "models" */
	const char *version; /* of polygraph */
	const char *const *command; /* of the suite; ends with NULL */
	const char *framework;
	size_t suite_tests; /* all tests of the suite */

	const struct report_test *tests;
	size_t n;
	size_t distinct;      /* tests among them */
	uint64_t ns;	      /* the whole run */
	const uint64_t *seed; /* NULL: nothing was left to chance */

	const struct report_finding *findings;
	size_t n_findings;
	const struct report_first *firsts;
	size_t n_firsts;
	const struct report_reach *reach; /* NULL: orders were not searched */
	bool not_watched; /* what tests leave behind was not looked at */
	const struct report_choices *choices; /* NULL: not searched */
	const struct report_model *models;    /* of the kind "models" */
	size_t n_models;

	const char *const *limits; /* what was not done, and why */
	size_t n_limits;
};

struct report_style {
	bool color;
	bool verbose; /* everything */
	bool quiet;   /* only what matters */
};

/*
 * To add a format: write report/NAME.c with one of these, declare it below, list
 * it in report.c.
 */
struct report_format {
	const char *name;
	bool lists; /* can show a list, too */
	/* Whether writing to @out failed is the caller's to ask. */
	struct err *(*write)(const struct report *report,
			     const struct report_style *style, FILE *out);
};

extern const struct report_format report_text;
extern const struct report_format report_json;
extern const struct report_format report_junit;

/* NULL where there is none of that name. */
const struct report_format *report_format_find(const char *name);

/* How many tests ended in each way. */
struct report_counts {
	size_t of[OUTCOMES];
	size_t disabled; /* among the skipped */
};
struct report_counts report_count(const struct report *report);
/* Did tests fail, crash or time out? */
bool report_has_failures(const struct report *report);
/* Findings that the baseline does not list. */
size_t report_new_findings(const struct report *report);

/* One finding as the JSON format has it, on one line; malloc()ed. */
struct err *report_finding_text(const struct report_finding *finding,
				char **ret) _must_check_;

/*
 * A report: what one command found, and the formats that show it.
 *
 * Findings and what is said of the searches come from the detectors as they are
 * (finding/). The other records belong to this room; commands fill them with
 * pointers to what they know, which has to live until the report is written.
 * Texts are the tested program's bytes as they are: each format makes them
 * harmless itself. Formats know no kind of finding: report/kind.h does.
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
#include "finding/finding.h"
#include "finding/leftover.h"
#include "finding/reach.h"

struct report_test {
	const char *name;
	const char *file; /* as the compiler was given it; NULL: unknown */
	unsigned line;
	bool disabled;
	bool known;	      /* that it fails now and then, or after others */
	uint64_t digest;      /* of what it is made of; 0: none */
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

/* What an API leaves open, for a list of all. */
struct report_model {
	const char *api;
	const char *kind;  /* "permute", … */
	const char *level; /* the first at which it is used */
	bool optional;	   /* only where it is asked for */
	const char *clause;
	const char *never;
};

/* A part of the run: a detector's turn. */
struct report_phase {
	const char *name;
	uint64_t start, ns;  /* since the run began, and how long */
	uint64_t executions; /* tests begun in it */
};

/* What else is known of the call that the report is of. */
struct report_run {
	const char *folder;   /* the working directory */
	const char *sources;  /* what source files lie below; NULL: unknown */
	const char *build_id; /* of the test executable; NULL: it has none */
	/* Options in force, as words: "--budget=30s". */
	const char *const *options;
	size_t n_options;
	uint64_t started; /* seconds since 1970 */
	uint64_t ns;	  /* until the report */
	const struct report_phase *phases;
	size_t n_phases;
	int status; /* that the call ends with */
};

/* What was done with patches. */
struct report_patches {
	bool built;   /* they were to be proven */
	bool applied; /* the proven ones are in the files now */
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

	const struct roster *roster; /* what numbers of tests below mean */
	const struct finding *findings;
	size_t n_findings;
	bool watched; /* what tests leave behind was examined */
	const struct first_use *firsts;
	size_t n_firsts;
	const struct left_out *left_out; /* variables that were not compared */
	size_t n_left_out;
	const struct order_reach *order; /* NULL: orders were not searched */
	const struct schedules_reach *schedules; /* NULL: not searched */
	const struct choices_reach *choices;	 /* NULL: not searched */
	const struct report_model *models;	 /* of the kind "models" */
	size_t n_models;

	bool reused; /* nothing has changed since the last time: of that one */
	bool in_replay; /* of a finding, which has a verdict of its own */
	unsigned
		fail_on; /* milder ones are told, and no more (report/verdict.h) */
	const char
		*open; /* what the budget left open, in a line; NULL: nothing */
	const char *const *gone; /* of the baseline, not found any more */
	size_t n_gone;
	const struct report_run *run;	      /* NULL: not known */
	const struct report_patches *patches; /* of the kind "repair" */
	/*
	 * A report of an earlier call, as JSON: what is said of its searches is
	 * taken from there. NULL: of this call.
	 */
	const struct json_t *earlier;

	const char *const *limits; /* what was not done, and why */
	size_t n_limits;
};

struct report_style {
	bool color;
	size_t columns; /* of the terminal; 0: there is none, nothing is cut */
	bool all;	/* also what nobody is expected to act on */
	bool verbose;	/* everything */
	bool quiet;	/* only what matters */
};

/*
 * To add a format: write report/NAME.c with one of these, declare it below, list
 * it in report.c.
 */
struct report_format {
	const char *name;
	bool lists;   /* can show a list, too */
	bool patches; /* and those of `polygraph repair` */
	/* Whether writing to @out failed is the caller's to ask. */
	struct err *(*write)(const struct report *report,
			     const struct report_style *style, FILE *out);
};

extern const struct report_format report_text;
extern const struct report_format report_json;
extern const struct report_format report_junit;
extern const struct report_format report_sarif;
extern const struct report_format report_html;

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
struct err *report_finding_text(const struct finding *finding,
				char **ret) _must_check_;

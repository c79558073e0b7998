/*
 * Results of many suites in one: the findings format of the contract, with
 *
 *	"suites": [{"name": …, "command": …, "framework": …, "tests": …,
 *		    "status": …, "seconds": …, "message": …}]
 *
 * and in each test and finding the name of its "suite". What a report says about
 * a search (order, choices) is in the entry of its suite.
 *
 * A document is read from files that others wrote: it is checked before anything
 * in it is used.
 *
 * Invariants:
 *  1. Suites have different names.
 *  2. Joining documents in any order gives the same: suites are sorted.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/strv.h"
#include "report/report.h"
#include "whole/shard.h"

struct document {
	json_t *root;
};

/* @command: as a report shows it; ends with NULL. */
struct err *document_create(char *const *command, const char *version,
			    struct document *ret) _must_check_;
void document_free(struct document *document);

/* What one suite was found to be. */
struct document_suite {
	const char *name;
	const char *folder; /* its working directory; NULL: ours */
	const char
		*report; /* JSON of the report, as text; NULL: there is none */
	size_t report_n;
	char *const *command; /* where there is no report; ends with NULL */
	int status;	      /* exit status of the call */
	double seconds;
	const char *message; /* why there is no report; NULL: there is one */
};
struct err *document_add(struct document *document,
			 const struct document_suite *suite) _must_check_;
struct err *document_add_limit(struct document *document,
			       const char *text) _must_check_;
/* A share of a whole: @plan is a digest of all parts, on every machine alike. */
struct err *document_set_shard(struct document *document,
			       const struct shard *shard,
			       const char *plan) _must_check_;
/* Sorts, and names the program in replays of ids that several have. */
struct err *document_finish(struct document *document) _must_check_;

struct err *document_read(const char *path, struct document *ret) _must_check_;
/*
 * Adds everything of @from. Reports of single suites, as `check` writes them,
 * are suites of that name.
 */
struct err *document_join(struct document *document,
			  const struct document *from,
			  const char *path) _must_check_;

/*
 * Exit status of the whole: findings (1) before suites that could not be run (3)
 * and internal errors (4); an interrupt (130) before all.
 */
struct err *document_status(const struct document *document,
			    int *ret) _must_check_;
/* Adds what all suites come to: as JSON the "totals" of a report, and its "run". */
struct err *document_total(struct document *document) _must_check_;
/* The seconds that a suite of that name took; < 0: not known, as of a dry run. */
double document_seconds(const struct document *document, const char *name);
/* Does it know that of any suite? */
bool document_is_timed(const struct document *document);
/*
 * Adds the names of tests of the suite of that name, where it was started with
 * these arguments (they end with NULL); of fewer than two, none.
 */
struct err *document_take_tests(const struct document *document,
				const char *name, char *const *arguments,
				struct strv *ret) _must_check_;

/* ---- formats ---- */

struct err *document_write_json(const struct document *document,
				FILE *out) _must_check_;
/*
 * Blocks by cause, as for one suite (report/block.h), of all suites by severity;
 * what several suites have alike is one block that names them.
 */
struct err *document_write_text(const struct document *document,
				const struct report_style *style,
				FILE *out) _must_check_;
/* Its last line alone. */
struct err *document_write_verdict(const struct document *document,
				   const struct report_style *style,
				   FILE *out) _must_check_;
struct err *document_write_junit(const struct document *document,
				 FILE *out) _must_check_;

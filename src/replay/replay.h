/*
 * Makes a finding happen again, from what was kept of it.
 *
 *	replay_describe(finding, &source, &text);    the detector's command keeps it
 *	…
 *	replay_run(&kept, &options, &reproduced);    `polygraph replay` reads it
 *
 * Kinds of findings differ in what a trial does; they have one type of trial
 * (replay/record.h), one way through them and one output. A finding is
 * reproduced if all of its trials go as expected in each of their runs. Where a
 * trial is a run of the detector itself, one that finds it again suffices.
 *
 * To add a kind: copy replay/order.c, list it in replay/kinds.c.
 *
 * What it does not do: know the command line. Who calls it says what the words
 * of a suite open, and runs detectors (struct replay_options).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/strv.h"
#include "store/store.h"
#include "suite/suite.h"

struct choices_options;
struct finding;

/* What a record says beyond its finding. */
struct replay_source {
	const struct strv *suite; /* words of a command line that open it */
	const char *files_digest; /* results/digest.h */
	const char *folder;	  /* as the record has it */
	/* Files that were restored before each process. */
	const char *const *files;
	size_t n_files;
	/* Of a search for assumptions; and models of users, as texts. */
	const struct choices_options *choices;
	const struct strv *models;
	/*
	 * The command line that finds it again, the command first: for @test
	 * alone, or as it was (NULL).
	 */
	struct err *(*command)(void *data, const char *detector,
			       const char *test, struct strv *ret);
	void *data;
};

/* An error where it cannot be said, as with names that are not UTF-8. */
struct err *replay_describe(const struct finding *finding,
			    const struct replay_source *source,
			    char **ret) _must_check_;

struct replay_options {
	uint64_t times; /* runs of each trial */
	bool debug;	/* a debugger where it fails, instead */
	bool json;
	bool quiet; /* the verdict alone */
	bool verbose;
	bool color;
	FILE *out;
	/* What @words of a command line open. *@ret may point into both. */
	struct err *(*choose_suite)(void *data, const struct strv *words,
				    struct suite_options *ret);
	/*
	 * Runs the command line of a detector; *@ret: a finding with that id was
	 * among its own. @silent: it writes nothing to standard output.
	 */
	struct err *(*detect)(void *data, const struct strv *command,
			      const char *id, bool silent, bool *ret);
	/* After a run that did not go as expected; an error: it says nothing. */
	struct err *(*check_unexpected)(void);
	void *data;
};

struct err *replay_run(const struct store_finding *finding,
		       const struct replay_options *options,
		       bool *ret_reproduced) _must_check_;

/* ---- replay/list.c: what there is to replay ---- */

/*
 * By id, or the beginning of one; the error names those that there are. Of
 * @program, by its path or the end of that; NULL: of what was searched last.
 */
struct err *replay_find(const char *id, const char *program,
			struct store_finding *ret) _must_check_;
/*
 * Those of the latest run that have an id with that prefix ("order"), of one
 * suite; an error where there are none.
 */
struct err *replay_find_latest(const char *prefix,
			       struct store_findings *ret) _must_check_;
/* All findings, a line each, or as JSON. */
struct err *replay_list(bool json, bool quiet, FILE *out) _must_check_;

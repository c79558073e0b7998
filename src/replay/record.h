/*
 * What is kept of a finding so that it can be made to happen again: what to
 * open, and trials. One shape for all kinds of findings.
 *
 * A trial is one way to run tests, and what is expected of it. A finding has
 * several, which together show it: in one order the test fails, in another it
 * passes. What only one kind needs (decisive choices) is its details, an object
 * that the kind writes and reads itself (replay/replay_internal.h).
 *
 * Invariants:
 *  1. Names of tests are as JSON has them: bytes that are not UTF-8 as \xNN.
 *  2. A record that was read has trials; the order of each ends with the test of
 *     the finding, and where the detector is run there is a command.
 *
 * What it does not do: trust a text. It is read as foreign.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/strv.h"
#include "base/vec.h"
#include "results/digest.h"
#include "suite/suite.h"

/* What is expected of a trial. */
enum trial_expect {
	TRIAL_FAIL,    /* the last test of the order fails */
	TRIAL_PASS,    /* it passes */
	TRIAL_FINDING, /* the detector finds it again */
};

struct trial {
	char *name; /* "failing" */
	enum trial_expect expect;
	bool forced;	     /* with what the details of the record force */
	struct strv order;   /* names of tests */
	struct strv command; /* TRIAL_FINDING: a command line of ours */

	/* What came of it, once for each run; not kept. */
	VEC(size_t) tests; /* the order as numbers of the suite's tests */
	VEC(struct suite_result) results;
	size_t runs;
	size_t as_expected; /* of the runs */
};

struct record {
	char files_digest[DIGEST_SIZE]; /* of the suite then; "": unknown */
	char *test;
	struct strv suite; /* words of a command line that open it */
	char *folder;	   /* that it is opened in; NULL: where results are */
	struct strv files; /* as they are now before each run */
	VEC(struct trial) trials;
	json_t *details; /* NULL: none */
};

void record_free(struct record *record);
static inline void record_freep(struct record *record)
{
	record_free(record);
}

/* Goes to its folder, from where the results are. */
struct err *record_enter(const struct record *record) _must_check_;

/* ---- to fill in ---- */

/* Raw bytes of the tested program become a name. */
struct err *record_add_name(struct strv *names, const char *raw) _must_check_;
/* @name is copied. The trial is the record's, and valid until the next one. */
struct err *record_add_trial(struct record *record, const char *name,
			     enum trial_expect expect,
			     struct trial **ret) _must_check_;

/* ---- as a text ---- */

/* Fails where a text in it is not UTF-8. */
struct err *record_write(const struct record *record, char **ret) _must_check_;
struct err *record_read(const char *text, struct record *ret) _must_check_;

/* The error of a record that is not as it should be. */
struct err *record_unreadable(const char *what) _must_check_;
/* A list of texts, as JSON and back. NULL: one is not UTF-8, or no memory. */
json_t *record_pack_list(const struct strv *list);
struct err *record_read_list(const json_t *value, const char *what,
			     struct strv *ret) _must_check_;

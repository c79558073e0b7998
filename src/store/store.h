/*
 * Results that outlive a call: an SQLite database under .polygraph/ in the
 * working directory.
 *
 * Two kinds of things are kept. Findings of the last run of each detector,
 * whole (JSON as in the report) with what is needed to reproduce them. And
 * facts: what a search learnt about a suite, under its own keys, so that a
 * later call need not learn it again. Facts belong to one state of a suite: its
 * digest (test executable or list of commands, tests, options that matter).
 * Facts of other states are forgotten when that suite is opened again.
 *
 * What it stands on: a write-ahead log where the file system is a local one, so
 * that a fact costs no more than a few system calls and each is written as it
 * is put; a rollback journal on others (that log needs memory shared by all who
 * have the file open), where facts are gathered for some 200 ms.
 *
 * Invariants:
 *  1. Whatever was put is there after a crash or Ctrl-C a second later. Not
 *     kept is, on file systems that are not local, what was gathered when the
 *     process was killed.
 *  2. Two calls at once do not hurt each other: one waits, or goes without.
 *  3. A file that is no such database, or of another version, is moved aside
 *     (.old) and said; never an error of the run.
 *  4. The file does not grow beyond STORE_BYTES_MAX: facts of suites that were
 *     not opened for the longest time go first, then no more are kept.
 *  5. What cannot be written can still be read.
 *  6. Only the process that opened a store uses it; in a fork it does nothing.
 *
 * What it does not do: know what facts and findings say. And the file must not
 * be opened by other means while a store is open: closing it again would take
 * SQLite's locks with it (fcntl(2), "Record locking"). Who watches files leaves
 * the folder out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

#define STORE_FILE "results.db"
#define STORE_BYTES_MAX ((uint64_t)512 << 20)
#define STORE_VALUE_MAX ((size_t)64 << 20) /* of a fact or a finding */
#define STORE_SUITES_MAX 64		   /* whose facts are kept */
#define STORE_RUNS_MAX 256		   /* whose findings are kept */

struct store;

/*
 * @folder is created, with a .gitignore in it, if it does not exist; only its
 * owner can read it. What others can have put there is ERR_USAGE (base/trust.h).
 */
struct err *store_open(const char *folder, struct store **ret) _must_check_;
void store_close(struct store *store); /* NULL is fine */
static inline void store_closep(struct store **store)
{
	store_close(*store);
}

/* ---- findings ---- */

struct store_finding {
	char *id;
	char *command; /* the detector: "order" */
	char *json;    /* the finding, whole */
	char *replay; /* what reproduces it: replay/record.h; NULL: nothing does */
	char *suite; /* set when reading; ignored when writing */
};
DEFINE_VEC(store_findings, struct store_finding)

/*
 * Findings of @command for the suite @suite (its command line as one text)
 * replace those of its last run.
 */
struct err *store_put_findings(struct store *store, const char *suite,
			       const char *command,
			       const struct store_finding *findings,
			       size_t n) _must_check_;
/* By id, or the beginning of one that is unique. ERR_USAGE where there is none. */
struct err *store_get_finding(struct store *store, const char *id,
			      struct store_finding *ret) _must_check_;
/* All of them, those of the latest run first; 10,000 at most. */
struct err *store_list_findings(struct store *store,
				struct store_findings *ret) _must_check_;
void store_finding_free(struct store_finding *finding);
void store_findings_free(struct store_findings *findings);

/* ---- facts ---- */

/* From now on of that suite in that state; others of the suite are dropped. */
struct err *store_begin(struct store *store, const char *suite,
			const char *digest) _must_check_;
/* false: not known. *@ret is malloc()ed. */
bool store_get(struct store *store, const char *key, void **ret, size_t *ret_n);
struct err *store_put(struct store *store, const char *key, const void *value,
		      size_t n) _must_check_;
/* Writes what store_put() gathered. It does so itself from time to time. */
struct err *store_flush(struct store *store) _must_check_;
/* Drops all facts of the suite (--fresh). */
struct err *store_forget(struct store *store) _must_check_;

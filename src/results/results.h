/*
 * What outlives a call: findings of the last runs of each detector, for
 * `polygraph replay`, and facts about a suite, for a search that continues
 * where the last one ended. Both are in .polygraph/ in the working directory
 * (store/store.h).
 *
 *	TRY(results_open(&source, &results));
 *	…results_get_fact(results, …), results_put_fact(results, …)…
 *	results_put(results, "order", findings, n);
 *
 * Invariants:
 *  1. No command fails because results cannot be kept: it warns once and goes
 *     on without.
 *  2. The folder is not made before there is something to keep.
 *  3. Facts are those of the suite in its present state (results/digest.h).
 *
 * What it does not do: know how a finding is reproduced. That is a text that
 * comes from above (results_source.describe) and is read there again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "store/store.h"

#define RESULTS_FOLDER ".polygraph"

/*
 * Where they are: in the working directory, unless results_set_folder() named another
 * folder, which ends with RESULTS_FOLDER.
 */
const char *results_folder(void);
struct err *results_set_folder(const char *path) _must_check_;
/* Is anything kept there? */
bool results_are_there(void);

struct finding;
struct results;
struct suite;
struct suite_options;

/* A finding that is searched for, instead of keeping any. */
struct results_look {
	const char *id;
	const char *json; /* what is kept of it */
	bool found;
};

/* What results are of. All that it points to outlives them. */
struct results_source {
	const struct suite *suite;
	const struct suite_options *options; /* that opened it */
	const char *name; /* of the suite: its command line, as one text */
	/* What else facts depend on, as one text; NULL: nothing. */
	const char *matters;
	/*
	 * What reproduces @finding, malloc()ed; an error where that cannot be
	 * said. @files_digest: of the suite's files.
	 */
	struct err *(*describe)(void *data, const struct finding *finding,
				const char *files_digest, char **ret);
	void *data;
	struct results_look *look; /* NULL: findings are kept */
};

struct err *results_open(const struct results_source *source,
			 struct results **ret) _must_check_;
void results_close(struct results *results); /* NULL is fine */
static inline void results_closep(struct results **results)
{
	results_close(*results);
}

/*
 * Findings of a detector ("pollution") replace those of its last run. Those of
 * other detectors among @findings are left out.
 */
/*
 * Findings of the last runs of a detector on the suite; *@ret_digest: of the
 * suite's files as they are now.
 */
struct err *results_get(struct results *results, const char *detector,
			struct store_findings *ret,
			const char **ret_digest) _must_check_;
/* One of those stays when others are put. Takes it over. */
struct err *results_retain(struct results *results,
			   struct store_finding *finding) _must_check_;
void results_put(struct results *results, const char *detector,
		 const struct finding *findings, size_t n);

/* ---- facts; as struct order_memory has them ---- */

/* false: not known. *@ret is malloc()ed. */
bool results_get_fact(void *results, const char *key, void **ret,
		      size_t *ret_n);
void results_put_fact(void *results, const char *key, const void *value,
		      size_t n);
/* Facts from earlier calls do not hold any more (--fresh). */
void results_forget_facts(struct results *results);

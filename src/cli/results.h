/*
 * Results that outlive a call, for the commands: findings of the last run, for
 * `polygraph replay`, and facts, for a search that goes on where the last one
 * ended. Both lie in .polygraph/ in the working directory (store/store.h).
 *
 *	TRY(results_open(options, &choice, suite, "any-order", &results));
 *	search.memory = results_memory(results);
 *	…
 *	results_put_order(results, findings, n, files, n_files);
 *
 * Invariants:
 *  1. No command fails because results cannot be kept: one warning, then it goes
 *     without.
 *  2. The folder is not made before there is something to keep.
 *  3. Facts are those of the suite as it is now (results/digest.h).
 *
 * How findings are made again: of order-dependent tests both orders are kept,
 * and what opens the suite. Of others the detector's own command line for that
 * test; a finding is there again if its id is (results_replay_begin()).
 */
#pragma once

#include "choices/choices.h"
#include "cli/common.h"
#include "order/order.h"
#include "report/report.h"

#define RESULTS_FOLDER ".polygraph"

struct results;

/*
 * @matters: options of the command that facts depend on, as a text of its own;
 * NULL: none. Everything handed over outlives the results.
 */
struct err *results_open(const struct options *options,
			 const struct common_suite *choice,
			 const struct suite *suite, const char *matters,
			 struct results **ret) _must_check_;
void results_close(struct results *results); /* NULL is fine */
static inline void results_closep(struct results **results)
{
	results_close(*results);
}

/* Lives as long as @results. */
const struct order_memory *results_memory(struct results *results);
/* Facts that an earlier call found out are not to be believed (--fresh). */
void results_forget(struct results *results);

/*
 * Findings of a detector ("pollution") replace those of its last run. Those of
 * other kinds among @findings are left out.
 */
void results_put(struct results *results, const char *command,
		 const struct finding *findings, size_t n);
/* Likewise for "order". @files: what was put back before each order (suite_keep_files()). */
void results_put_order(struct results *results, const struct finding *findings,
		       size_t n, const char *const *files, size_t n_files);
/* Likewise for "choices". @options: of the search, which name its models. */
void results_put_choices(struct results *results,
			 const struct choices_options *options,
			 const struct finding *findings, size_t n);

/* ---- for replay ---- */

/* What is kept of an order-dependent test. */
struct results_order {
	struct strv suite;     /* words that open it: options, "--", command */
	char files_digest[33]; /* as the suite's files were; or "" */
	char *test;
	/* Names as in JSON: bytes that are not UTF-8 are written as \xNN. */
	struct strv failing;
	struct strv passing;
	struct strv files;
};

/* @text is foreign: whatever is not as it should be is an error. */
struct err *results_order_parse(const char *text,
				struct results_order *ret) _must_check_;
void results_order_free(struct results_order *order);
static inline void results_order_freep(struct results_order *order)
{
	results_order_free(order);
}

/* What is kept of a test that assumes more than an API promises. */
struct results_choice {
	struct strv suite; /* as above */
	char files_digest[33];
	char *test;
	struct strv prefix; /* tests that run before it; mostly none */
	enum wire_level level;
	uint64_t seed;
	bool startup;
	/* By name: the numbers of models are those of one version. */
	struct strv numbered, on;
	struct strv models; /* of polygraph.toml */
	VEC(struct wire_choice_range) ranges;
	VEC(uint64_t) forced; /* picks in sequence, instead of drawing */
};
struct err *results_choice_parse(const char *text,
				 struct results_choice *ret) _must_check_;
void results_choice_free(struct results_choice *choice);
static inline void results_choice_freep(struct results_choice *choice)
{
	results_choice_free(choice);
}

/*
 * Of other findings: command lines of ours; the first word is the command. What a
 * test leaves may be there only after others: then the whole run shows it.
 */
struct results_again {
	struct strv alone;     /* for that test */
	struct strv whole;     /* as it was found */
	char files_digest[33]; /* or "" */
};
struct err *results_again_parse(const char *text,
				struct results_again *ret) _must_check_;
void results_again_free(struct results_again *again);
static inline void results_again_freep(struct results_again *again)
{
	results_again_free(again);
}

/*
 * From now on nothing is kept, and results_put() looks for @id instead; @files is
 * the digest that the suite's files had. Until results_replay_end(), which says
 * whether it was there.
 */
void results_replay_begin(const char *id, const char *files);
bool results_replay_end(void);
/* One line, where the files of the suite are not those that @files is of. */
void results_say_changed(const struct common_suite *choice,
			 const struct suite *suite, const char *files);

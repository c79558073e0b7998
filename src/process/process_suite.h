/*
 * A suite whose tests are commands, each a process: what --ctest, --meson and
 * --commands share. The kinds read their lists, fill in struct process_test and
 * judge exit statuses by their rules; running is here.
 *
 * Invariants:
 *  1. With one job entries run in the order they are given in.
 *  2. With more, an entry waits for those before it that it depends on, that
 *     hold a lock it needs, and that are the same test; a serial one runs
 *     alone. Waiting is for earlier entries only, so it cannot be circular.
 *  3. After a test nothing of its process group is left, except for a fixture's
 *     set-up, whose processes serve other tests and end with the run.
 *  4. When suite_run() returns, however it does, nothing that the tests started
 *     is left, daemons included.
 */
#pragma once

#include "base/str.h"
#include "base/tap.h"
#include "process/env.h"
#include "process/process.h"
#include "suite/kind.h"

#define PROCESS_NO_LIMIT UINT64_MAX

struct process_test {
	struct strv argv; /* empty: there is nothing to start, see why */
	char *why;	  /* it cannot be started; or NULL */
	char *folder;	  /* NULL: ours */
	struct env_changes environment;
	uint64_t timeout_ns; /* its own; 0: that of the options */
	struct strv files;   /* have to be there */
	/* Side by side with others: */
	bool serial;
	unsigned weight;     /* jobs it takes; 0 is 1 */
	VEC(uint32_t) locks; /* numbers from process_suite_lock() */
	VEC(size_t) after;   /* tests that come first, if they run … */
	size_t fixtures;     /* … of which so many first ones have to */
	bool provides; /* it sets up for later tests; its processes stay */
	bool cleans;   /* it takes away what such a test set up */
	/* For the judge: */
	bool tap;
	bool search; /* the judge searches the output: keep more of it */
	void *rules; /* of the kind; free_rules() */
};

/* How a test's process ended by itself, with an exit status. */
struct process_end {
	int status;
	const char *output;
	size_t output_n;
	const struct tap *tap; /* NULL: not asked for */
};

struct ipc_span;
struct process_suite;
struct saver;

/* To add a kind of suite of processes: commands.c is the smallest. */
struct process_kind {
	/* Sets outcome and message. */
	struct err *(*judge)(const struct process_suite *suite,
			     const struct process_test *test,
			     const struct process_end *end,
			     struct suite_result *result);
	void (*free_rules)(void *rules); /* NULL: there are none */
};

struct process_suite {
	struct suite suite;
	const struct process_kind *kind;
	VEC(struct process_test) tests;	 /* as in suite.tests */
	struct map_text locks;		 /* name to number */
	const struct suite_watch *watch; /* NULL: runs are not watched */
	/* Said already: one at a time, not followed, readers unknown. */
	bool said_jobs, said_walk, said_readers;
	struct saver *saver;	     /* of files; NULL: none are kept */
	bool follows_known, follows; /* can calls be followed here? */
	/* For suite_choose(): see process_choices.h. */
	char *library; /* that is preloaded; NULL: not looked for yet */
	bool choosing; /* as @choices says */
	struct suite_choices choices;
};

struct err *process_suite_create(const struct suite_options *options,
				 const char *framework,
				 const struct process_kind *kind,
				 struct process_suite **ret) _must_check_;
void process_suite_destroy(struct process_suite *suite); /* NULL is fine */
static inline void process_suite_destroyp(struct process_suite **suite)
{
	process_suite_destroy(*suite);
}
/* Empties @test into the suite. */
struct err *process_suite_add(struct process_suite *suite, const char *name,
			      const char *file, unsigned line, bool disabled,
			      struct process_test *test) _must_check_;
struct err *process_suite_lock(struct process_suite *suite, const char *name,
			       uint32_t *ret) _must_check_;
void process_test_free(struct process_test *test,
		       const struct process_kind *kind);

/*
 * The lists that other programs wrote, as text; for the kinds' own openers and
 * for fuzzing. @ask: Meson may be asked what its list leaves out.
 */
struct err *ctest_suite_parse(const struct suite_options *options,
			      const char *text, size_t n,
			      struct suite **ret) _must_check_;
struct err *meson_suite_parse(const struct suite_options *options,
			      const char *folder, const char *text, size_t n,
			      bool ask, struct suite **ret) _must_check_;

/*
 * For judges. Pass for 0, skip for 77 and fail for the rest, as automake and
 * Meson have it; 99 is their "hard error".
 */
struct err *process_judge_status(int status,
				 struct suite_result *result) _must_check_;
struct err *process_message(struct suite_result *result, const char *fmt, ...)
	_printf_(2, 3) _must_check_;
/* "SIGSEGV (Segmentation fault)" */
struct err *process_signal_name(int number, struct str *ret) _must_check_;

/*
 * Collects the results of a run into the records of a report.
 *
 * Results live only until the suite continues, so what a report needs is
 * copied: of tests that pass, only time and outcome, unless everything is
 * wanted. It also moves the progress line and ends the run when its budget is
 * spent.
 */
#pragma once

#include "base/vec.h"
#include "report/progress.h"
#include "report/report.h"
#include "suite/roster.h"

/* Did other threads than its own run in its process, or did it wait? */
enum collect_threads {
	COLLECT_NO_THREADS,
	COLLECT_THREADS,
	COLLECT_THREADS_BEGAN, /* during the test, as far as that is known */
};

struct collect {
	const struct roster *roster;
	bool everything;
	struct progress *progress; /* or NULL */
	uint64_t deadline;	   /* clock_now() at which to stop; 0: never */

	VEC(struct report_test) tests; /* texts in them are ours */
	VEC(char *) limits;
	bool *seen;		       /* by test */
	enum collect_threads *threads; /* by test */
	size_t distinct;
	size_t finished;
	bool budget_spent;
	struct err *err; /* why it asked for an end; or NULL */
};

struct err *collect_init(struct collect *collect, const struct roster *roster,
			 bool everything) _must_check_;
void collect_free(struct collect *collect);
static inline void collect_freep(struct collect *collect)
{
	collect_free(collect);
}

struct suite_observer collect_observer(struct collect *collect);
/*
 * What an error of the run means: a budget that is spent is none, and where the
 * collection asked for the end its own reason counts. Takes @err over.
 */
struct err *collect_end(struct collect *collect, struct err *err) _must_check_;
/* A test that the suite itself would not run: skipped. */
struct err *collect_disabled(struct collect *collect, size_t test) _must_check_;
/* The same text again is said once. */
struct err *collect_limit(struct collect *collect,
			  const char *text) _must_check_;

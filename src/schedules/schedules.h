/*
 * The detector of tests whose outcome depends on when asynchronous work arrives:
 * those that pass as things usually go, and fail where the work of another thread
 * is later, or earlier, than the test expects.
 *
 * Each test that other threads work for runs once to see where their work
 * begins. Then, one after the other, such a beginning is held as long as the test
 * can do without it. A test that fails then was not waiting. If none does, the
 * test's own thread waits for the others before each of its statements; and last,
 * what was held arrives just before each statement between its bounds.
 *
 * Invariants:
 *  1. A finding's test passes without the schedule and fails with it, in each of
 *     the repetitions, and the schedule took place.
 *  2. Our own time limit is never a finding. A test hangs if all of its threads
 *     wait and nothing can end that.
 *
 * What it does not do: know what runs the tests, or how a thread is held
 * (suite/schedule.h).
 */
#pragma once

#include "finding/arrival.h"
#include "finding/reach.h"
#include "suite/schedule.h"

enum schedules_strategy {
	SCHEDULES_DELAY,  /* as above */
	SCHEDULES_PCT,	  /* threads have random priorities */
	SCHEDULES_RANDOM, /* random delays */
};

struct schedules_options {
	const struct finding_run *run;
	enum schedules_strategy strategy;
	uint64_t patience_ns;
	uint64_t delay_ns; /* SCHEDULES_RANDOM: the longest */
	size_t runs;	   /* of a test, for random strategies */
	uint64_t seed;
	size_t repeats;	   /* that verify a finding; at least 1 */
	uint64_t deadline; /* clock_now(); 0: none */
	/* Of detectors before: flaky tests are left out. NULL: none. */
	const struct findings *known;
};

struct schedules_result {
	struct findings findings; /* evidence: struct arrival */
	struct schedules_reach reach;
};

/*
 * @tests: those that other threads work for. @observer gets limits. On
 * ERR_INTERRUPTED @ret has what was found.
 */
struct err *schedules_find(struct suite *suite, const size_t *tests, size_t n,
			   const struct schedules_options *options,
			   const struct suite_observer *observer,
			   struct schedules_result *ret) _must_check_;
void schedules_result_free(struct schedules_result *result);

/*
 * Runs @test once more under @schedule (NULL: under none), for `replay`. *@ret is
 * the caller's.
 */
struct err *schedules_run_again(struct suite *suite, size_t test,
				const struct suite_schedule *schedule,
				struct suite_result *ret) _must_check_;

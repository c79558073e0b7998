/* What the parts of the search share: see schedules.h. */
#pragma once

#include "schedules/schedules.h"

struct schedules_search {
	struct suite *suite;
	const struct schedules_options *options;
	const struct suite_observer *observer;
	struct schedules_result *result;
	uint64_t runs;	/* of the test that is explored */
	uint64_t until; /* clock_now(), for that test; 0: none */
};

/* One run of a test. */
struct schedules_trial {
	struct suite_result result;
	struct suite_trace trace;
};
void schedules_trial_free(struct schedules_trial *trial);

struct err *schedules_try(struct schedules_search *search, size_t test,
			  const struct suite_schedule *schedule,
			  struct schedules_trial *ret) _must_check_;
/* It failed, not by a time limit of ours, and the schedule took place. */
bool schedules_shows(const struct schedules_trial *trial);
bool schedules_passes(const struct schedules_trial *trial);
bool schedules_late(const struct schedules_search *search);
/* The same, or this test had its share of time. */
bool schedules_enough(const struct schedules_search *search);

/* explore.c: all schedules of one test. */
struct err *schedules_explore(struct schedules_search *search,
			      size_t test) _must_check_;

/* schedules_finding.c: of a schedule that was confirmed, and its failing run. */
struct err *schedules_add_finding(struct schedules_search *search,
				  const struct schedules_trial *failing,
				  struct arrival *arrival) _must_check_;
struct err *schedules_take_steps(const struct suite_trace *trace,
				 struct arrival *arrival) _must_check_;
struct err *schedules_copy_place(const struct suite_moment *moment,
				 struct arrival_place *ret) _must_check_;

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
	/* Real time that a run of it may take; 0: not known yet. */
	uint64_t limit_ns;
	bool limited; /* a limit of its own ran out under a schedule */
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

/* A statement of a test: the n-th time that it comes to it. */
struct schedules_anchor {
	char *key;
	unsigned nth;
};

/* Before which statements an event can arrive, as they are to be tried. */
struct schedules_range {
	char *event;
	VEC(struct schedules_anchor) anchors;
};
void schedules_range_free(struct schedules_range *range);

/* Of a trace. */
DEFINE_VEC(schedules_events, const struct suite_moment *)

/* What is known of a test while its schedules are tried. */
struct schedules_exploration {
	struct schedules_search *search;
	size_t test;
	struct schedules_trial plain; /* as it usually runs */
	/* All work is early, and what is inside segments can be seen. */
	struct schedules_trial early;
	/* Under which it passes; nothing is held: as it usually runs. */
	struct suite_schedule passing;
	char *held;			    /* its event; or NULL */
	VEC(struct schedules_range) ranges; /* of events that were held */
	bool needed; /* the test waited for what was held last */
	bool found;
};

/* explore.c: all schedules of one test. */
struct err *schedules_explore(struct schedules_search *search,
			      size_t test) _must_check_;

/* ---- late.c, early.c: some of them, until one shows something ---- */

struct err *
schedules_explore_first(struct schedules_exploration *exploration) _must_check_;
struct err *
schedules_explore_rest(struct schedules_exploration *exploration) _must_check_;
struct err *
schedules_explore_pairs(struct schedules_exploration *exploration) _must_check_;
struct err *schedules_explore_inside(struct schedules_exploration *exploration)
	_must_check_;
struct err *schedules_explore_single(struct schedules_exploration *exploration)
	_must_check_;
struct err *schedules_explore_statements(
	struct schedules_exploration *exploration) _must_check_;
struct err *schedules_explore_more_statements(
	struct schedules_exploration *exploration) _must_check_;
struct err *
schedules_explore_early(struct schedules_exploration *exploration) _must_check_;
/* Is it the first with its key? */
bool schedules_is_first(const struct suite_trace *trace, size_t index);

/* ---- confirm.c ---- */

bool schedules_is_event(const struct suite_moment *moment);
bool schedules_is_statement(const struct suite_moment *moment);
/* The first of that kind; NULL: none. */
const struct suite_moment *
schedules_find_moment(const struct suite_trace *trace,
		      enum suite_moment_kind kind);
/* @moment NULL: the last of all. */
const struct suite_moment *
schedules_last_statement(const struct suite_trace *trace,
			 const struct suite_moment *moment);
struct err *
schedules_keep_schedule(const struct schedules_exploration *exploration,
			const struct suite_schedule *schedule,
			struct arrival *arrival) _must_check_;
struct err *schedules_keep_event(const struct suite_moment *moment,
				 struct arrival *arrival) _must_check_;
struct err *
schedules_keep_bound(const struct schedules_exploration *exploration,
		     const struct suite_moment *statement,
		     struct arrival_place *ret) _must_check_;
struct err *schedules_keep_failure(const struct schedules_trial *failing,
				   struct arrival_place *ret) _must_check_;
struct err *schedules_choose_passing(struct schedules_exploration *exploration,
				     const struct suite_schedule *failing,
				     const char *event) _must_check_;
struct err *schedules_confirm(struct schedules_exploration *exploration,
			      const struct suite_schedule *schedule,
			      bool *ret) _must_check_;
/* A finding, if it is confirmed. @runs: until it was found. */
struct err *schedules_add_late(struct schedules_exploration *exploration,
			       const struct suite_schedule *schedule,
			       struct schedules_trial *failing,
			       uint64_t runs) _must_check_;

/* schedules_finding.c: of a schedule that was confirmed, and its failing run. */
struct err *schedules_add_finding(struct schedules_search *search,
				  const struct schedules_trial *failing,
				  struct arrival *arrival) _must_check_;
struct err *schedules_take_steps(const struct suite_trace *trace,
				 struct arrival *arrival) _must_check_;
struct err *schedules_copy_place(const struct suite_moment *moment,
				 struct arrival_place *ret) _must_check_;

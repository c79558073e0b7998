/*
 * What a kind of finding says about its replay: how a record is made, what one
 * run of a trial is, and the verdict. All else is common (replay/replay.c).
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "finding/finding.h"
#include "replay/record.h"
#include "replay/replay.h"

struct order_tests;
struct replay;

#define REPLAY_TRIALS 2
/* Runs of what happens now and then, at most. */
#define REPLAY_UNTIL_RUNS 100

struct replay_kind {
	const struct finding_kind *finding;
	/* Of its trials, in this sequence; a record with others is refused. */
	enum trial_expect expects[REPLAY_TRIALS];
	/*
	 * What differs between its trials: "order" in "failing order 1/3".
	 * NULL: they are runs of the detector, which shows by itself what it
	 * does; each is run once, until one finds it.
	 */
	const char *noun;
	bool shows_order; /* in its lines; else the test */
	bool until; /* a trial ends with the first run that is as expected */
	enum suite_agent agent; /* that the suite is opened with */

	/* Adds trials and details to a record that has the rest. */
	struct err *(*describe)(const struct finding *finding,
				const struct replay_source *source,
				struct record *record);
	/* Details of a record, as they are used; NULL: it has none. */
	struct err *(*read_details)(const struct record *record, void **ret);
	void (*free_details)(void *details);
	/* What the suite must be opened with because of them; or NULL. */
	void (*prepare)(const void *details, struct suite_options *options);
	/* One run. *@ret is the caller's. */
	struct err *(*run)(struct replay *replay, const struct trial *trial,
			   struct suite_result *ret, bool *ret_as_expected);
	/* Whole lines; the first begins with "reproduced" or "not reproduced". */
	struct err *(*append_verdict)(const struct replay *replay,
				      struct str *str);
};

extern const struct replay_kind replay_order;
extern const struct replay_kind replay_flaky;
extern const struct replay_kind replay_choices;
extern const struct replay_kind replay_schedules;
extern const struct replay_kind replay_pollution;

/* Of the finding with that id; NULL: of none. */
const struct replay_kind *replay_kind_of(const char *id);

struct replay {
	const struct replay_kind *kind;
	const struct replay_options *options;
	const struct store_finding *finding;
	struct record record;
	void *details;
	struct suite_options suite_options;
	struct suite *suite; /* NULL: the detector opens it itself */
	bool reproduced;
};

/* Are the trials of a record that was read those of the kind? */
struct err *replay_check_trials(const struct replay_kind *kind,
				const struct record *record) _must_check_;
/* Of a finding that is replayed in two orders: the files and both trials. */
struct err *replay_describe_orders(const struct finding *finding,
				   const struct replay_source *source,
				   const struct order_tests *failing,
				   const struct order_tests *passing,
				   struct record *record) _must_check_;
/* Does the outcome go with what is expected? One that is unknown never does. */
bool replay_is_expected(const struct trial *trial, enum outcome outcome);
/*
 * replay_kind.run: in a fresh process, with the files that the tests share
 * restored.
 */
struct err *replay_run_order(struct replay *replay, const struct trial *trial,
			     struct suite_result *ret,
			     bool *ret_as_expected) _must_check_;
/* "[A, B, C, … 7 more, Z]": the last of an order is what counts. */
struct err *replay_append_names(struct str *str,
				const struct strv *names) _must_check_;
/* The name of the finding's test, for a terminal. */
struct err *replay_append_test(const struct replay *replay,
			       struct str *str) _must_check_;
/*
 * The verdict of two trials: the test fails @how (with something, under
 * something) and passes without.
 */
struct err *replay_append_comparison(const struct replay *replay,
				     const char *how,
				     struct str *str) _must_check_;
/* Opens the suite as the detector did; where it is open, that one is forgotten. */
struct err *replay_open_suite(struct replay *replay) _must_check_;
/* gdb.c: instead of the trials. */
struct err *replay_debug(struct replay *replay) _must_check_;

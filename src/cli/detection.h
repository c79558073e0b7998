/*
 * A run of detectors, cheapest first and within one budget: prepare, find,
 * write, judge.
 *
 * All commands that look for findings go through it. They differ in the
 * detectors that they run, one after the other (struct detection_step), and in
 * the options that they take.
 *
 * Invariants:
 *  1. A spent budget ends the run in the suite's own order, which everything
 *     else needs; later detectors are told when to end, and not interrupted.
 *  2. Detectors that need different agents run in different processes: the suite
 *     is closed and opened again with the same tests. What that makes impossible
 *     is a limit, not an error.
 *  3. Where a detector fails, no later one begins. What was found until then is
 *     reported.
 *
 * To add a detector: write cli/detector_NAME.c with one struct detector, declare
 * it below, add its options to struct detection_options, and list it in the
 * commands that run it.
 */
#pragma once

#include "base/clock.h"
#include "cli/baseline.h"
#include "cli/choices_options.h"
#include "cli/collect.h"
#include "cli/command.h"
#include "cli/earlier.h"
#include "cli/holds.h"
#include "cli/records.h"
#include "cli/run_facts.h"
#include "cli/select.h"
#include "cli/state_options.h"
#include "cli/suppress.h"
#include "cli/whole.h"
#include "order/order.h"
#include "pollution/pollution.h"
#include "schedules/schedules.h"

/* The values of all these commands, whichever of the options they take. */
struct detection_options {
	struct state_command_options state;
	/* orders */
	unsigned strategy;
	uint64_t runs; /* random orders; 0: as the strategy has it */
	bool any_order;
	bool all_pairs;
	uint64_t repeat;
	bool cleaners;
	bool roots;
	bool pollution;
	bool fresh;
	uint64_t seed;
	/* schedules */
	bool schedules;
	unsigned schedule_strategy;
	uint64_t patience_ns, delay_ns;
	uint64_t schedule_runs, schedule_repeat, schedule_seed;
	/* choices */
	bool choices;
	struct choices_settings settings;
	bool list_models;
	/* whole builds */
	struct whole_options whole;
};

#define DETECTION_DEFAULTS                                                     \
	{                                                                      \
		.state = STATE_DEFAULTS, .repeat = 3, .cleaners = true,        \
		.roots = true, .pollution = true, .choices = true,             \
		.schedules = true, .patience_ns = NS_PER_S,                    \
		.delay_ns = 10 * NS_PER_MS, .schedule_runs = 20,               \
		.schedule_repeat = 2, .schedule_seed = 1,                      \
		.settings = CHOICES_DEFAULTS, .whole = WHOLE_DEFAULTS,         \
	}

extern const struct option_group detection_order_group;
extern const struct option_group schedules_group;
extern const struct option_group schedules_check_group;

struct detection;
struct detection_step;
struct reread;

struct detector {
	const char *name;	/* as limits have it */
	enum suite_agent agent; /* in the tested program */
	size_t state_size; /* of what it keeps during the run, all zero at first */

	/* All but find() and add() may be NULL. */
	bool (*is_wanted)(const struct detection *detection,
			  const struct detection_step *step);
	/*
	 * Is there something to do, after what others found? Asked before a
	 * suite is opened for it.
	 */
	bool (*has_work)(const struct detection *detection);
	/* Before the suite is opened: what options say. */
	struct err *(*prepare)(struct detection *detection, void *state);
	/* What else the suite is opened with. */
	void (*open)(const void *state, struct suite_options *ret);
	/* The tests are known, and nothing has run. */
	struct err *(*begin)(struct detection *detection, void *state);
	/* What was found is in @state also where it fails. */
	struct err *(*find)(struct detection *detection, void *state);
	/*
	 * Its turn is over, or there was none. @failed: it, or one before it.
	 */
	void (*end)(struct detection *detection, void *state, bool failed);
	/*
	 * It stopped because its share of the budget was spent. What the others
	 * leave of it is for another turn, from the beginning: what it learnt is
	 * stored. begin_again() empties the state.
	 */
	bool (*wants_more)(const void *state);
	struct err *(*begin_again)(struct detection *detection, void *state);
	/* What was not done, and why; also where find() had no turn. */
	struct err *(*say_limits)(struct detection *detection, void *state);
	/*
	 * Which findings of earlier runs were tried again, or not asked for;
	 * NULL: none. Also where find() had no turn, or did not come to its end.
	 */
	void (*judge_earlier)(const struct detection *detection, void *state,
			      struct earlier_list *earlier);
	/* Moves its findings to the detection's; the rest of the report. */
	struct err *(*add)(struct detection *detection, void *state,
			   struct report *report);
	/* Keeps what the next call is to know. */
	void (*keep)(struct detection *detection, void *state);
	void (*free)(void *state); /* its parts */
};

extern const struct detector detector_pollution;
extern const struct detector detector_readers;
extern const struct detector detector_order;
extern const struct detector detector_schedules;
extern const struct detector detector_choices;

struct detection_step {
	const struct detector *detector; /* NULL ends the list */
	bool hidden; /* only for the detectors after it: not reported */
};

#define DETECTION_STEPS_MAX 8

struct detection {
	const struct options *options;
	const struct detection_options *values;
	const char *command;
	const struct detection_step *steps;
	void *states[DETECTION_STEPS_MAX]; /* NULL: it is not wanted */
	bool left_out
		[DETECTION_STEPS_MAX];	/* it could not run: a limit says so */
	bool open[DETECTION_STEPS_MAX]; /* there was more to do: the same */
	bool last_turns;		/* the budget is not shared any more */
	struct earlier_list earlier[DETECTION_STEPS_MAX];
	const struct detection_step *step; /* whose turn it is */
	size_t opened;	   /* the step that the suite was opened for */
	size_t unrestored; /* files of that suite that were named so far */

	struct common_suite choice;
	struct outputs outputs;
	struct state_watch watch;
	struct baseline baseline;
	struct suppressions suppressions;
	struct strv gone; /* findings of it that were not found any more */
	struct suite *suite;
	struct roster *roster;
	char *suite_words;	/* see struct finding_run */
	struct finding_run run; /* of these two */
	struct indexes order, disabled;
	struct collect collect;
	struct records records;
	struct run_facts facts;
	uint64_t began; /* the whole command, from where its budget counts */
	struct reread *reused; /* the report that is shown again; NULL: none */
	bool limited;	       /* there is a budget also where none was given */
	uint64_t budget_ns;    /* 0: none, or not known yet */
	struct whole_part part; /* of a build */
	uint64_t deadline;	/* clock_now(); 0: none */
	struct holds holds;
	uint64_t start, ns;
	struct strv short_of_time; /* limits because of it */
	char *open_line;	   /* the same in a line; NULL: none */

	/* What tests leave behind, for later detectors; NULL: not known. */
	const struct pollution *pollution;
	/* What the search for orders found, the same way. */
	const struct findings *orders;
	/* And that for schedules. */
	const struct findings *arrivals;
	struct findings findings; /* of all that are reported */
};

/*
 * The command of that @name, whose values are a struct detection_options. `check`
 * has a budget also where none is given: it is for everyday use.
 */
struct err *detection_run(const struct options *options, int argc, char **argv,
			  const char *name, const struct detection_step *steps,
			  enum status *ret) _must_check_;

/* ---- for detectors ---- */

/* Is another one going to follow this one? */
bool detection_goes_on(const struct detection *detection);
/*
 * Results go to the report, once: not where the suite's own run is there
 * already.
 */
struct suite_observer detection_observer(struct detection *detection);
/*
 * The progress line, where there is one. @what: counts tests instead; NULL: of
 * the order.
 */
struct err *detection_show_progress(struct detection *detection,
				    const char *what,
				    struct progress **ret) _must_check_;
/*
 * The suite's own order took @suite_ns: where no budget was given and the command
 * has one, it begins to count. Is there one now?
 */
bool detection_settle_budget(struct detection *detection, uint64_t suite_ns);
/* Until when the detector whose turn it is may search, if others follow. */
uint64_t detection_share(const struct detection *detection);
/*
 * From now on the budget is exceeded by no more than a test takes; what does not
 * look at the clock in time is ended.
 */
void detection_hold_budget(const struct detection *detection);
/* Files are as before the first test. */
struct err *detection_put_files_back(struct detection *detection) _must_check_;
/* Adds a limit: "NAME: …". */
struct err *detection_say(struct detection *detection, const char *fmt, ...)
	_printf_(2, 3) _must_check_;
/*
 * Why something was left open, in brackets: @why as a search has it; NULL: it
 * does not say.
 */
void detection_why(const struct detection *detection, const char *why,
		   const char *otherwise, char out[48]);

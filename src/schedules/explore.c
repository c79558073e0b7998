/* All schedules of one test, likeliest first. */
#include <string.h>

#include "base/log.h"
#include "schedules/schedules_internal.h"

/* Beginnings of work that are held, statements that are tried, of a test. */
#define EVENTS_MAX ((size_t)24)
#define SINGLE_EVENTS_MAX ((size_t)4)
#define STATEMENTS_TRIED ((size_t)24)

/* What is known of a test while its schedules are tried. */
struct schedules_exploration {
	struct schedules_search *search;
	size_t test;
	struct schedules_trial plain; /* as it usually runs */
	/* Under which it passes; nothing is held: as it usually runs. */
	struct suite_schedule passing;
	char *held; /* its event; or NULL */
	bool found;
};

static void
schedules_exploration_free(struct schedules_exploration *exploration)
{
	schedules_trial_free(&exploration->plain);
	free(exploration->held);
}

static bool moment_is_event(const struct suite_moment *moment)
{
	return (moment->kind == SUITE_MOMENT_STARTED ||
		moment->kind == SUITE_MOMENT_RESUMED) &&
	       moment->key;
}

static bool moment_is_statement(const struct suite_moment *moment)
{
	return moment->kind == SUITE_MOMENT_STATEMENT ||
	       moment->kind == SUITE_MOMENT_PAUSED;
}

static const struct suite_moment *find_moment(const struct suite_trace *trace,
					      enum suite_moment_kind kind)
{
	for (size_t i = 0; i < trace->moments.n; i++) {
		if (trace->moments.data[i].kind == kind)
			return &trace->moments.data[i];
	}
	return NULL;
}

static const struct suite_moment *
last_statement_before(const struct suite_trace *trace,
		      const struct suite_moment *moment)
{
	const struct suite_moment *last = NULL;
	const struct suite_moment *end =
		moment ? moment : trace->moments.data + trace->moments.n;
	for (const struct suite_moment *at = trace->moments.data; at < end;
	     at++) {
		if (moment_is_statement(at))
			last = at;
	}
	return last;
}

/* ---- what is kept of a schedule ---- */

static struct err *
keep_schedule(const struct schedules_exploration *exploration,
	      const struct suite_schedule *schedule, struct arrival *arrival)
{
	arrival->passing_early = exploration->passing.early;
	TRY(str_copy(exploration->passing.event, &arrival->passing_event));
	arrival->early = schedule->early;
	arrival->nth = schedule->nth;
	arrival->until_nth = schedule->until_nth;
	arrival->before_nth = schedule->before_nth;
	arrival->patience_ns = schedule->patience_ns;
	arrival->seed = schedule->seed;
	arrival->delay_ns = schedule->delay_ns;
	arrival->priorities = schedule->priorities;
	TRY(str_copy(schedule->event, &arrival->event));
	TRY(str_copy(schedule->until, &arrival->until));
	return str_copy(schedule->before, &arrival->before);
}

static struct err *keep_event(const struct suite_moment *moment,
			      struct arrival *arrival)
{
	arrival->thread = moment->thread;
	TRY(str_copy(moment->operation, &arrival->operation));
	for (size_t i = 0; i < moment->stack.n; i++) {
		const struct call_frame *from = &moment->stack.data[i];
		struct call_frame frame = { .line = from->line };
		TRY(str_copy(from->function, &frame.function));
		struct err *err = str_copy(from->file, &frame.file);
		if (!err)
			err = vec_push(&arrival->stack, frame);
		if (err) {
			free(frame.function);
			free(frame.file);
			return err;
		}
	}
	return NULL;
}

/* The statement, or else where the test begins: its first may not be seen. */
static struct err *keep_bound(const struct schedules_exploration *exploration,
			      const struct suite_moment *statement,
			      struct arrival_place *ret)
{
	const struct suite_test *test =
		suite_test(exploration->search->suite, exploration->test);
	if (statement)
		return schedules_copy_place(statement, ret);
	if (!test->file)
		return NULL;
	ret->line = test->line;
	return str_copy(test->file, &ret->file);
}

/* ---- confirming ---- */

/*
 * The other side: how the test passes, whatever the machine does. Of late work
 * that is early work; of early work, work that is held as long as it can be.
 * Where neither passes, it is the test as it usually runs.
 */
static struct err *choose_passing(struct schedules_exploration *exploration,
				  const struct suite_schedule *failing,
				  const char *event)
{
	struct schedules_search *search = exploration->search;
	const struct suite_schedule other = {
		.early = !failing->early,
		.event = failing->early ? event : NULL,
		.patience_ns = search->options->patience_ns,
	};
	if (exploration->passing.event || exploration->passing.early)
		return NULL;
	if (other.event || other.early) {
		_cleanup_(
			schedules_trial_free) struct schedules_trial trial = {};
		TRY(schedules_try(search, exploration->test, &other, &trial));
		if (schedules_passes(&trial) && trial.trace.reached) {
			/* The exploration outlives the failing trial. */
			exploration->passing = other;
			exploration->passing.event = NULL;
			TRY(str_copy(other.event, &exploration->held));
			exploration->passing.event = exploration->held;
		}
	}
	return NULL;
}

/* It fails each time under @schedule, and passes each time without. */
static struct err *confirm_schedule(struct schedules_exploration *exploration,
				    const struct suite_schedule *schedule,
				    bool *ret)
{
	struct schedules_search *search = exploration->search;
	*ret = false;
	for (size_t i = 0; i < search->options->repeats; i++) {
		_cleanup_(
			schedules_trial_free) struct schedules_trial with = {};
		_cleanup_(schedules_trial_free) struct schedules_trial
			without = {};
		TRY(schedules_try(search, exploration->test, schedule, &with));
		if (!schedules_shows(&with))
			return NULL;
		TRY(schedules_try(search, exploration->test,
				  &exploration->passing, &without));
		if (!schedules_passes(&without))
			return NULL;
	}
	*ret = true;
	return NULL;
}

/* ---- bounds ---- */

/*
 * The event is held up to each statement that the test came to while it was held:
 * where does it begin to fail? Binary search: what comes later is worse.
 */
static struct err *find_bounds(struct schedules_exploration *exploration,
			       const struct suite_schedule *schedule,
			       const struct suite_trace *trace,
			       struct arrival *arrival)
{
	struct schedules_search *search = exploration->search;
	const struct suite_moment *held = find_moment(trace, SUITE_MOMENT_HELD);
	const struct suite_moment *end =
		find_moment(trace, SUITE_MOMENT_RELEASED);
	VEC(const struct suite_moment *) between = VEC_INIT;
	if (!held || schedule->until)
		return NULL;
	if (!end)
		end = trace->moments.data + trace->moments.n;
	struct err *err = NULL;
	for (const struct suite_moment *at = held; at < end && !err; at++) {
		if (moment_is_statement(at))
			err = vec_push(&between, at);
	}
	/* Before [low] it passes; before [high] it fails. */
	size_t low = 0, high = between.n;
	while (!err && low < high && !schedules_enough(search)) {
		size_t middle = low + (high - low) / 2;
		struct suite_schedule tried = *schedule;
		_cleanup_(
			schedules_trial_free) struct schedules_trial trial = {};
		tried.until = between.data[middle]->key;
		tried.until_nth = between.data[middle]->nth;
		err = schedules_try(search, exploration->test, &tried, &trial);
		if (!err && schedules_passes(&trial))
			low = middle + 1;
		else
			high = middle;
	}
	if (!err && low && low <= between.n)
		err = schedules_copy_place(between.data[low - 1],
					   &arrival->passing);
	if (!err && low < between.n)
		err = schedules_copy_place(between.data[low],
					   &arrival->failing);
	vec_free(&between);
	return err;
}

static struct err *take_failure_place(const struct schedules_trial *failing,
				      struct arrival_place *ret)
{
	if (!failing->result.file)
		return NULL;
	ret->line = failing->result.line;
	return str_copy(failing->result.file, &ret->file);
}

static struct err *add_late_finding(struct schedules_exploration *exploration,
				    const struct suite_schedule *schedule,
				    struct schedules_trial *failing)
{
	const struct suite_trace *trace = &failing->trace;
	_cleanup_(arrival_free) struct arrival arrival = {
		.test = exploration->test,
		.runs = exploration->search->runs,
	};
	const struct suite_moment *held = find_moment(trace, SUITE_MOMENT_HELD);
	const struct suite_moment *end =
		find_moment(trace, SUITE_MOMENT_RELEASED);
	bool confirmed;
	TRY(choose_passing(exploration, schedule, NULL));
	TRY(confirm_schedule(exploration, schedule, &confirmed));
	if (!confirmed)
		return NULL;
	TRY(keep_schedule(exploration, schedule, &arrival));
	if (held) {
		TRY(keep_event(held, &arrival));
		TRY(keep_bound(exploration, last_statement_before(trace, held),
			       &arrival.lower));
	}
	const struct suite_moment *upper = last_statement_before(trace, end);
	TRY(keep_bound(exploration, upper, &arrival.upper));
	if (schedule->until && upper)
		TRY(schedules_copy_place(upper, &arrival.failing));
	TRY(find_bounds(exploration, schedule, trace, &arrival));
	if (!arrival.failing.file)
		TRY(take_failure_place(failing, &arrival.failing));
	exploration->found = true;
	return schedules_add_finding(exploration->search, failing, &arrival);
}

/* ---- late ---- */

static struct err *try_late(struct schedules_exploration *exploration,
			    const struct suite_schedule *schedule)
{
	struct schedules_search *search = exploration->search;
	_cleanup_(schedules_trial_free) struct schedules_trial trial = {};
	if (schedules_enough(search))
		return NULL;
	search->result->reach.events++;
	TRY(schedules_try(search, exploration->test, schedule, &trial));
	log_debug(LOG_SCHEDULES, "'%s' %u held up to %s: %s (%d)",
		  schedule->event, schedule->nth,
		  schedule->until ? schedule->until : "the end",
		  outcome_name(trial.result.outcome), trial.trace.ended);
	return schedules_shows(&trial)
		       ? add_late_finding(exploration, schedule, &trial)
		       : NULL;
}

/* Is it the first with its key? */
static bool is_first_of_key(const struct suite_trace *trace, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		const struct suite_moment *moment = &trace->moments.data[i];
		if (moment_is_event(moment) &&
		    !strcmp(moment->key, trace->moments.data[index].key))
			return false;
	}
	return true;
}

/* All with one key at once: starts before later parts of the work. */
static struct err *explore_late(struct schedules_exploration *exploration)
{
	const struct suite_trace *trace = &exploration->plain.trace;
	uint64_t patience = exploration->search->options->patience_ns;
	size_t tried = 0;
	for (int starts = 1; starts >= 0; starts--) {
		for (size_t i = 0; i < trace->moments.n; i++) {
			const struct suite_moment *moment =
				&trace->moments.data[i];
			bool start = moment->kind == SUITE_MOMENT_STARTED;
			if (!moment_is_event(moment) || start != starts ||
			    !is_first_of_key(trace, i))
				continue;
			if (exploration->found || tried++ >= EVENTS_MAX)
				return NULL;
			struct suite_schedule schedule = {
				.event = moment->key,
				.patience_ns = patience,
			};
			TRY(try_late(exploration, &schedule));
		}
	}
	return NULL;
}

/* One of several with the same key: the first, and the last. */
static struct err *explore_single(struct schedules_exploration *exploration)
{
	const struct suite_trace *trace = &exploration->plain.trace;
	uint64_t patience = exploration->search->options->patience_ns;
	size_t tried = 0;
	for (size_t i = 0; i < trace->moments.n; i++) {
		const struct suite_moment *moment = &trace->moments.data[i];
		bool last = true, again = moment->nth > 1;
		if (!moment_is_event(moment))
			continue;
		for (size_t j = i + 1; j < trace->moments.n; j++) {
			const struct suite_moment *next =
				&trace->moments.data[j];
			if (moment_is_event(next) &&
			    !strcmp(next->key, moment->key)) {
				last = false;
				again = true;
			}
		}
		if (!again || (moment->nth > 1 && !last))
			continue;
		if (exploration->found || tried++ >= SINGLE_EVENTS_MAX)
			return NULL;
		struct suite_schedule schedule = {
			.event = moment->key,
			.nth = moment->nth,
			.patience_ns = patience,
		};
		TRY(try_late(exploration, &schedule));
	}
	return NULL;
}

/* ---- just before a statement ---- */

/* The latest first; in loops the first time alone. */
static struct err *explore_statements(struct schedules_exploration *exploration)
{
	const struct suite_trace *trace = &exploration->plain.trace;
	uint64_t patience = exploration->search->options->patience_ns;
	size_t tried = 0, events = 0;
	for (size_t i = 0; i < trace->moments.n; i++) {
		const struct suite_moment *event = &trace->moments.data[i];
		if (!moment_is_event(event) || !is_first_of_key(trace, i))
			continue;
		if (events++ >= SINGLE_EVENTS_MAX)
			break;
		for (size_t j = trace->moments.n; j-- > i + 1;) {
			const struct suite_moment *at = &trace->moments.data[j];
			if (!moment_is_statement(at) || at->nth > 1)
				continue;
			if (exploration->found || tried++ >= STATEMENTS_TRIED)
				return NULL;
			struct suite_schedule schedule = {
				.event = event->key,
				.until = at->key,
				.until_nth = at->nth,
				.patience_ns = patience,
			};
			TRY(try_late(exploration, &schedule));
		}
	}
	return NULL;
}

/* ---- early ---- */

/* The work that came while the test's thread waited; else the last before. */
static const struct suite_moment *find_early(const struct suite_trace *trace)
{
	const struct suite_moment *found = NULL;
	bool paused = false;
	for (size_t i = 0; i < trace->moments.n; i++) {
		const struct suite_moment *moment = &trace->moments.data[i];
		if (moment->kind == SUITE_MOMENT_PAUSED)
			paused = true;
		else if (moment->kind == SUITE_MOMENT_FAILED)
			break;
		if (moment_is_event(moment)) {
			found = moment;
			if (paused)
				break;
		}
	}
	return found;
}

static struct err *add_early_finding(struct schedules_exploration *exploration,
				     const struct suite_schedule *schedule,
				     struct schedules_trial *failing,
				     size_t runs)
{
	const struct suite_trace *trace = &failing->trace;
	_cleanup_(arrival_free) struct arrival arrival = {
		.test = exploration->test,
		.runs = runs,
	};
	const struct suite_moment *event = find_early(trace);
	const struct suite_moment *paused =
		find_moment(trace, SUITE_MOMENT_PAUSED);
	bool confirmed;
	TRY(choose_passing(exploration, schedule, event ? event->key : NULL));
	TRY(confirm_schedule(exploration, schedule, &confirmed));
	if (!confirmed)
		return NULL;
	TRY(keep_schedule(exploration, schedule, &arrival));
	if (event) {
		TRY(keep_event(event, &arrival));
		TRY(keep_bound(exploration, last_statement_before(trace, event),
			       &arrival.lower));
	}
	const struct suite_moment *upper = last_statement_before(trace, NULL);
	TRY(keep_bound(exploration, upper, &arrival.upper));
	if (paused && schedule->before)
		TRY(schedules_copy_place(paused, &arrival.failing));
	else
		TRY(take_failure_place(failing, &arrival.failing));
	exploration->found = true;
	return schedules_add_finding(exploration->search, failing, &arrival);
}

/* Which of the waits is it? One alone, if that suffices. */
static struct err *reduce_early(struct schedules_exploration *exploration,
				const struct suite_schedule *all,
				struct schedules_trial *failing)
{
	struct schedules_search *search = exploration->search;
	const struct suite_trace *trace = &failing->trace;
	size_t runs = search->runs, tried = 0;
	for (size_t i = 0; i < trace->moments.n; i++) {
		const struct suite_moment *moment = &trace->moments.data[i];
		_cleanup_(
			schedules_trial_free) struct schedules_trial trial = {};
		struct suite_schedule schedule = *all;
		if (moment->kind != SUITE_MOMENT_PAUSED)
			continue;
		if (tried++ >= STATEMENTS_TRIED || schedules_enough(search))
			break;
		schedule.before = moment->key;
		schedule.before_nth = moment->nth;
		TRY(schedules_try(search, exploration->test, &schedule,
				  &trial));
		if (schedules_shows(&trial))
			return add_early_finding(exploration, &schedule, &trial,
						 runs);
	}
	return add_early_finding(exploration, all, failing, runs);
}

static struct err *explore_early(struct schedules_exploration *exploration)
{
	struct schedules_search *search = exploration->search;
	_cleanup_(schedules_trial_free) struct schedules_trial trial = {};
	const struct suite_schedule schedule = {
		.early = true,
		.patience_ns = search->options->patience_ns,
	};
	TRY(schedules_try(search, exploration->test, &schedule, &trial));
	log_debug(LOG_SCHEDULES, "all early: %s",
		  outcome_name(trial.result.outcome));
	return schedules_shows(&trial)
		       ? reduce_early(exploration, &schedule, &trial)
		       : NULL;
}

/* ---- at random ---- */

static struct err *explore_random(struct schedules_exploration *exploration)
{
	struct schedules_search *search = exploration->search;
	const struct schedules_options *options = search->options;
	for (size_t i = 0; i < options->runs && !exploration->found; i++) {
		_cleanup_(
			schedules_trial_free) struct schedules_trial trial = {};
		struct suite_schedule schedule = {
			.seed = options->seed + i,
			.delay_ns = options->delay_ns,
			.priorities = options->strategy == SCHEDULES_PCT,
			.patience_ns = options->patience_ns,
		};
		if (schedules_late(search)) {
			search->result->reach.why = "budget";
			return NULL;
		}
		TRY(schedules_try(search, exploration->test, &schedule,
				  &trial));
		if (schedules_shows(&trial))
			TRY(add_late_finding(exploration, &schedule, &trial));
	}
	return NULL;
}

/*
 * It does not pass while it is followed, and yet it did before: does it if all
 * work is early, or if something is held? Then that is how it passes.
 */
static struct err *explore_failing(struct schedules_exploration *exploration)
{
	struct schedules_search *search = exploration->search;
	_cleanup_(schedules_trial_free) struct schedules_trial early = {};
	const struct suite_schedule all_early = {
		.early = true,
		.patience_ns = search->options->patience_ns,
	};
	TRY(schedules_try(search, exploration->test, &all_early, &early));
	if (schedules_passes(&early) && early.trace.reached) {
		exploration->passing = all_early;
		schedules_trial_free(&exploration->plain);
		exploration->plain = early;
		early = (struct schedules_trial){};
		return explore_late(exploration);
	}
	const struct suite_trace *trace = &exploration->plain.trace;
	for (size_t i = 0; i < trace->moments.n; i++) {
		const struct suite_moment *moment = &trace->moments.data[i];
		_cleanup_(
			schedules_trial_free) struct schedules_trial trial = {};
		struct suite_schedule schedule = {
			.event = moment->key,
			.patience_ns = search->options->patience_ns,
		};
		if (!moment_is_event(moment) || !is_first_of_key(trace, i))
			continue;
		if (schedules_enough(search))
			break;
		TRY(schedules_try(search, exploration->test, &schedule,
				  &trial));
		if (!schedules_passes(&trial) || !trial.trace.reached)
			continue;
		exploration->passing = schedule;
		return explore_early(exploration);
	}
	search->result->reach.unsteady++;
	return NULL;
}

static struct err *explore_passing(struct schedules_exploration *exploration)
{
	const struct schedules_search *search = exploration->search;
	static struct err *(*const steps[])(struct schedules_exploration *) = {
		explore_late,
		explore_early,
		explore_single,
		explore_statements,
	};
	if (search->options->strategy != SCHEDULES_DELAY)
		return explore_random(exploration);
	for (size_t i = 0; i < ARRAY_SIZE(steps) && !exploration->found; i++) {
		if (!schedules_enough(search))
			TRY(steps[i](exploration));
	}
	return NULL;
}

struct err *schedules_explore(struct schedules_search *search, size_t test)
{
	static const struct suite_schedule none;
	_cleanup_(schedules_exploration_free) struct schedules_exploration
		exploration = {
			.search = search,
			.test = test,
		};
	struct schedules_reach *reach = &search->result->reach;
	TRY(schedules_try(search, test, &none, &exploration.plain));
	bool passes = schedules_passes(&exploration.plain);
	if (!exploration.plain.trace.threads) {
		reach->unsteady += !passes;
		return NULL;
	}
	TRY(passes ? explore_passing(&exploration)
		   : explore_failing(&exploration));
	if (exploration.found || !schedules_enough(search))
		return NULL;
	if (schedules_late(search))
		reach->why = "budget";
	else
		reach->partly++;
	return NULL;
}

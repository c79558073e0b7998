/* A schedule under which a test failed: is it so each time, and what is kept. */
#include "schedules/schedules_internal.h"

bool schedules_is_event(const struct suite_moment *moment)
{
	return (moment->kind == SUITE_MOMENT_STARTED ||
		moment->kind == SUITE_MOMENT_RESUMED) &&
	       moment->key;
}

bool schedules_is_statement(const struct suite_moment *moment)
{
	return moment->kind == SUITE_MOMENT_STATEMENT ||
	       moment->kind == SUITE_MOMENT_PAUSED;
}

const struct suite_moment *
schedules_find_moment(const struct suite_trace *trace,
		      enum suite_moment_kind kind)
{
	for (size_t i = 0; i < trace->moments.n; i++) {
		if (trace->moments.data[i].kind == kind)
			return &trace->moments.data[i];
	}
	return NULL;
}

const struct suite_moment *
schedules_last_statement(const struct suite_trace *trace,
			 const struct suite_moment *moment)
{
	const struct suite_moment *last = NULL;
	const struct suite_moment *end =
		moment ? moment : trace->moments.data + trace->moments.n;
	for (const struct suite_moment *at = trace->moments.data; at < end;
	     at++) {
		if (schedules_is_statement(at))
			last = at;
	}
	return last;
}

/* ---- what is kept of a schedule ---- */

struct err *
schedules_keep_schedule(const struct schedules_exploration *exploration,
			const struct suite_schedule *schedule,
			struct arrival *arrival)
{
	arrival->passing_early = exploration->passing.early;
	TRY(str_copy(exploration->passing.event, &arrival->passing_event));
	arrival->early = schedule->early;
	arrival->inside = schedule->inside;
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

struct err *schedules_keep_event(const struct suite_moment *moment,
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
struct err *
schedules_keep_bound(const struct schedules_exploration *exploration,
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
struct err *schedules_choose_passing(struct schedules_exploration *exploration,
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
struct err *schedules_confirm(struct schedules_exploration *exploration,
			      const struct suite_schedule *schedule, bool *ret)
{
	struct schedules_search *search = exploration->search;
	/* Which of a pool's threads is first inside is left to chance. */
	size_t repeats = search->options->repeats +
			 (schedule->inside && schedule->event ? 3 : 0);
	*ret = false;
	for (size_t i = 0; i < repeats; i++) {
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
	const struct suite_moment *held =
		schedules_find_moment(trace, SUITE_MOMENT_HELD);
	const struct suite_moment *end =
		schedules_find_moment(trace, SUITE_MOMENT_RELEASED);
	VEC(const struct suite_moment *) between = VEC_INIT;
	if (!held || schedule->until)
		return NULL;
	if (!end)
		end = trace->moments.data + trace->moments.n;
	struct err *err = NULL;
	for (const struct suite_moment *at = held; at < end && !err; at++) {
		if (schedules_is_statement(at))
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

struct err *schedules_keep_failure(const struct schedules_trial *failing,
				   struct arrival_place *ret)
{
	if (!failing->result.file)
		return NULL;
	ret->line = failing->result.line;
	return str_copy(failing->result.file, &ret->file);
}

struct err *schedules_add_late(struct schedules_exploration *exploration,
			       const struct suite_schedule *schedule,
			       struct schedules_trial *failing, uint64_t runs)
{
	const struct suite_trace *trace = &failing->trace;
	_cleanup_(arrival_free) struct arrival arrival = {
		.test = exploration->test,
		.runs = runs,
	};
	const struct suite_moment *held =
		schedules_find_moment(trace, SUITE_MOMENT_HELD);
	const struct suite_moment *end =
		schedules_find_moment(trace, SUITE_MOMENT_RELEASED);
	bool confirmed;
	TRY(schedules_choose_passing(exploration, schedule, NULL));
	TRY(schedules_confirm(exploration, schedule, &confirmed));
	if (!confirmed)
		return NULL;
	TRY(schedules_keep_schedule(exploration, schedule, &arrival));
	if (held) {
		TRY(schedules_keep_event(held, &arrival));
		TRY(schedules_keep_bound(exploration,
					 schedules_last_statement(trace, held),
					 &arrival.lower));
	}
	const struct suite_moment *upper = schedules_last_statement(trace, end);
	TRY(schedules_keep_bound(exploration, upper, &arrival.upper));
	if (schedule->until && upper)
		TRY(schedules_copy_place(upper, &arrival.failing));
	TRY(find_bounds(exploration, schedule, trace, &arrival));
	if (!arrival.failing.file)
		TRY(schedules_keep_failure(failing, &arrival.failing));
	exploration->found = true;
	return schedules_add_finding(exploration->search, failing, &arrival);
}

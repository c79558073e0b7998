/* Work that comes late: as late as can be, or just before a statement. */
#include <string.h>

#include "base/log.h"
#include "schedules/schedules_internal.h"

/* Beginnings of work that are held, statements that are tried, of a test. */
#define EVENTS_MAX ((size_t)24)
#define SINGLE_EVENTS_MAX ((size_t)4)
#define PAIRED_EVENTS_MAX ((size_t)4)
#define INSIDE_EVENTS_MAX ((size_t)12)
#define STATEMENTS_TRIED ((size_t)24)
/* The statements that are likeliest come before what is inside segments. */
#define STATEMENTS_FIRST ((size_t)3)

void schedules_range_free(struct schedules_range *range)
{
	for (size_t i = 0; i < range->anchors.n; i++)
		free(range->anchors.data[i].key);
	vec_free(&range->anchors);
	free(range->event);
	*range = (struct schedules_range){};
}

static struct err *add_anchor(struct schedules_range *range,
			      const struct suite_moment *statement)
{
	struct schedules_anchor anchor = { .nth = statement->nth };
	TRY(str_copy(statement->key, &anchor.key));
	struct err *err = vec_push(&range->anchors, anchor);
	if (err)
		free(anchor.key);
	return err;
}

/* Of those with its key, from @at to @end: is it neither first nor last? */
static bool is_amid_loop(const struct suite_moment *at,
			 const struct suite_moment *first,
			 const struct suite_moment *end)
{
	bool before = false, after = false;
	for (const struct suite_moment *other = first; other < end; other++) {
		if (!schedules_is_statement(other) ||
		    strcmp(other->key, at->key) != 0)
			continue;
		before |= other < at;
		after |= other > at;
	}
	return before && after;
}

/*
 * The event was held as long as could be, and the test passed: it can arrive
 * before each statement that the test came to meanwhile. The latest comes first,
 * but for the one at which the hold ended: that is almost what was just tried.
 */
static struct err *keep_range(struct schedules_exploration *exploration,
			      const char *event,
			      const struct suite_trace *trace)
{
	const struct suite_moment *held =
		schedules_find_moment(trace, SUITE_MOMENT_HELD);
	const struct suite_moment *end =
		schedules_find_moment(trace, SUITE_MOMENT_RELEASED);
	const struct suite_moment *upper = NULL;
	struct schedules_range range = {};
	if (!held)
		return NULL;
	if (!end)
		end = trace->moments.data + trace->moments.n;
	struct err *err = str_copy(event, &range.event);
	for (const struct suite_moment *at = end; !err && at-- > held;) {
		if (!schedules_is_statement(at))
			continue;
		if (!upper)
			upper = at;
		else if (!is_amid_loop(at, held, end))
			err = add_anchor(&range, at);
	}
	if (!err && upper)
		err = add_anchor(&range, upper);
	if (!err)
		err = vec_push(&exploration->ranges, range);
	if (err)
		schedules_range_free(&range);
	return err;
}

/* @ret is the caller's, also after an error. */
static struct err *try_late(struct schedules_exploration *exploration,
			    const struct suite_schedule *schedule,
			    struct schedules_trial *ret)
{
	struct schedules_search *search = exploration->search;
	search->result->reach.events++;
	TRY(schedules_try(search, exploration->test, schedule, ret));
	log_debug(LOG_SCHEDULES, "'%s' %u held up to %s: %s (%d)",
		  schedule->event, schedule->nth,
		  schedule->until ? schedule->until : "the end",
		  outcome_name(ret->result.outcome), ret->trace.ended);
	return NULL;
}

/* A finding, if it shows something. */
static struct err *explore_one(struct schedules_exploration *exploration,
			       const struct suite_schedule *schedule)
{
	_cleanup_(schedules_trial_free) struct schedules_trial trial = {};
	if (exploration->found || schedules_enough(exploration->search))
		return NULL;
	TRY(try_late(exploration, schedule, &trial));
	exploration->needed = trial.trace.ended == SUITE_HOLD_NEEDED;
	if (schedules_shows(&trial))
		return schedules_add_late(exploration, schedule, &trial,
					  exploration->search->runs);
	if (!schedule->until && !schedule->nth && !schedule->inside &&
	    schedules_passes(&trial))
		return keep_range(exploration, schedule->event, &trial.trace);
	return NULL;
}

bool schedules_is_first(const struct suite_trace *trace, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		const struct suite_moment *moment = &trace->moments.data[i];
		if (schedules_is_event(moment) &&
		    !strcmp(moment->key, trace->moments.data[index].key))
			return false;
	}
	return true;
}

/* One of each key: starts of threads before later parts of their work. */
static struct err *list_events(const struct suite_trace *trace, size_t max,
			       struct schedules_events *ret)
{
	for (int starts = 1; starts >= 0; starts--) {
		for (size_t i = 0; i < trace->moments.n && ret->n < max; i++) {
			const struct suite_moment *moment =
				&trace->moments.data[i];
			bool start = moment->kind == SUITE_MOMENT_STARTED;
			if (schedules_is_event(moment) && start == starts &&
			    schedules_is_first(trace, i))
				TRY(vec_push(ret, moment));
		}
	}
	return NULL;
}

static struct suite_schedule
make_late(const struct schedules_exploration *exploration, const char *event)
{
	return (struct suite_schedule){
		.event = event,
		.patience_ns = exploration->search->options->patience_ns,
	};
}

static bool events_have(const struct schedules_events *events, const char *key)
{
	for (size_t i = 0; i < events->n; i++) {
		if (!strcmp(events->data[i]->key, key))
			return true;
	}
	return false;
}

/* What was held only now: whether a thread has to wait is often chance. */
static struct err *add_held_events(const struct suite_trace *trace,
				   struct schedules_events *events)
{
	for (size_t i = 0; i < trace->moments.n && events->n < EVENTS_MAX;
	     i++) {
		const struct suite_moment *moment = &trace->moments.data[i];
		if (moment->kind == SUITE_MOMENT_HELD && moment->key &&
		    !events_have(events, moment->key))
			TRY(vec_push(events, moment));
	}
	return NULL;
}

/* Everything was late, and the test failed: is one piece of work enough? */
static struct err *reduce_all(struct schedules_exploration *exploration,
			      struct schedules_events *events,
			      const struct suite_schedule *all,
			      struct schedules_trial *failing)
{
	struct schedules_search *search = exploration->search;
	uint64_t runs = search->runs;
	TRY(add_held_events(&failing->trace, events));
	/* The first one was tried before. */
	for (size_t i = 1; i < events->n && !exploration->found; i++) {
		_cleanup_(
			schedules_trial_free) struct schedules_trial trial = {};
		struct suite_schedule one =
			make_late(exploration, events->data[i]->key);
		if (schedules_enough(search))
			break;
		TRY(try_late(exploration, &one, &trial));
		if (schedules_shows(&trial))
			TRY(schedules_add_late(exploration, &one, &trial,
					       runs));
	}
	return exploration->found
		       ? NULL
		       : schedules_add_late(exploration, all, failing, runs);
}

static struct err *explore_all(struct schedules_exploration *exploration,
			       struct schedules_events *events)
{
	_cleanup_(schedules_trial_free) struct schedules_trial trial = {};
	struct suite_schedule all = make_late(exploration, SUITE_ALL_EVENTS);
	if (exploration->found || schedules_enough(exploration->search))
		return NULL;
	TRY(try_late(exploration, &all, &trial));
	return schedules_shows(&trial)
		       ? reduce_all(exploration, events, &all, &trial)
		       : NULL;
}

/*
 * All with one key at once, then everything: so what is not waited for shows in
 * the second or third run.
 */
struct err *schedules_explore_first(struct schedules_exploration *exploration)
{
	_cleanup_(schedules_events_freep) struct schedules_events events = {};
	TRY(list_events(&exploration->plain.trace, EVENTS_MAX, &events));
	if (!events.n)
		return NULL;
	struct suite_schedule one = make_late(exploration, events.data[0]->key);
	TRY(explore_one(exploration, &one));
	/* What it waited for was the first part of more that is to come. */
	return events.n > 1 || exploration->needed
		       ? explore_all(exploration, &events)
		       : NULL;
}

/* The keys that are left, each alone. */
struct err *schedules_explore_rest(struct schedules_exploration *exploration)
{
	_cleanup_(schedules_events_freep) struct schedules_events events = {};
	TRY(list_events(&exploration->plain.trace, EVENTS_MAX, &events));
	for (size_t i = 1; i < events.n; i++) {
		struct suite_schedule one =
			make_late(exploration, events.data[i]->key);
		TRY(explore_one(exploration, &one));
	}
	return NULL;
}

/* Two keys at once. */
struct err *schedules_explore_pairs(struct schedules_exploration *exploration)
{
	_cleanup_(schedules_events_freep) struct schedules_events events = {};
	TRY(list_events(&exploration->plain.trace, PAIRED_EVENTS_MAX, &events));
	/* Of two, that was everything. */
	for (size_t i = 0; events.n > 2 && i < events.n; i++) {
		for (size_t j = i + 1; j < events.n; j++) {
			_cleanup_(freep) char *both = NULL;
			TRY(str_format(&both, "%s\n%s", events.data[i]->key,
				       events.data[j]->key));
			struct suite_schedule pair =
				make_late(exploration, both);
			TRY(explore_one(exploration, &pair));
		}
	}
	return NULL;
}

/* Does its key come once more after @index? */
static bool comes_again(const struct suite_trace *trace, size_t index)
{
	const struct suite_moment *moment = &trace->moments.data[index];
	for (size_t i = index + 1; i < trace->moments.n; i++) {
		const struct suite_moment *next = &trace->moments.data[i];
		if (schedules_is_event(next) && !strcmp(next->key, moment->key))
			return true;
	}
	return false;
}

/* One of several with the same key: the first, and the last. */
struct err *schedules_explore_single(struct schedules_exploration *exploration)
{
	const struct suite_trace *trace = &exploration->plain.trace;
	size_t tried = 0;
	for (size_t i = 0; i < trace->moments.n; i++) {
		const struct suite_moment *moment = &trace->moments.data[i];
		if (!schedules_is_event(moment) ||
		    (moment->nth > 1) == comes_again(trace, i))
			continue;
		if (exploration->found || tried++ >= SINGLE_EVENTS_MAX)
			return NULL;
		struct suite_schedule schedule =
			make_late(exploration, moment->key);
		schedule.nth = moment->nth;
		TRY(explore_one(exploration, &schedule));
	}
	return NULL;
}

/* ---- inside segments ---- */

static bool schedules_locks(const struct suite_moment *moment)
{
	return !strcmp(moment->operation, "pthread_mutex_lock");
}

static struct err *
explore_inside_kind(struct schedules_exploration *exploration, bool locks,
		    size_t *tried)
{
	const struct suite_trace *trace = &exploration->early.trace;
	for (size_t i = 0; i < trace->moments.n; i++) {
		const struct suite_moment *moment = &trace->moments.data[i];
		if (!schedules_is_event(moment) || !moment->inside ||
		    schedules_locks(moment) != locks ||
		    (moment->nth > 1 && comes_again(trace, i)))
			continue;
		if (exploration->found || (*tried)++ >= INSIDE_EVENTS_MAX)
			return NULL;
		struct suite_schedule schedule =
			make_late(exploration, moment->key);
		schedule.inside = true;
		schedule.nth = moment->nth > 1 ? moment->nth : 0;
		TRY(explore_one(exploration, &schedule));
	}
	return NULL;
}

/*
 * Segments are divided where a thread has handed something over, or is about to
 * lock; the former first. Of several with the same key the first and the last.
 */
struct err *schedules_explore_inside(struct schedules_exploration *exploration)
{
	size_t tried = 0;
	TRY(explore_inside_kind(exploration, false, &tried));
	return explore_inside_kind(exploration, true, &tried);
}

/* ---- just before a statement ---- */

static struct err *explore_anchors(struct schedules_exploration *exploration,
				   size_t first, size_t end)
{
	size_t at = 0;
	for (size_t i = 0; i < exploration->ranges.n; i++) {
		const struct schedules_range *range =
			&exploration->ranges.data[i];
		if (i >= SINGLE_EVENTS_MAX)
			break;
		for (size_t j = 0; j < range->anchors.n; j++) {
			const struct schedules_anchor *anchor =
				&range->anchors.data[j];
			if (exploration->found || at >= end)
				return NULL;
			if (at++ < first)
				continue;
			struct suite_schedule schedule =
				make_late(exploration, range->event);
			schedule.until = anchor->key;
			schedule.until_nth = anchor->nth;
			TRY(explore_one(exploration, &schedule));
		}
	}
	return NULL;
}

struct err *
schedules_explore_statements(struct schedules_exploration *exploration)
{
	return explore_anchors(exploration, 0, STATEMENTS_FIRST);
}

struct err *
schedules_explore_more_statements(struct schedules_exploration *exploration)
{
	return explore_anchors(exploration, STATEMENTS_FIRST, STATEMENTS_TRIED);
}

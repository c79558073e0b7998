/* All schedules of one test, likeliest first. */
#include "base/clock.h"
#include "schedules/schedules_internal.h"

/* What a run may take besides what the test and the patience take. */
#define RUN_NS NS_PER_S

static void
schedules_exploration_free(struct schedules_exploration *exploration)
{
	schedules_trial_free(&exploration->plain);
	schedules_trial_free(&exploration->early);
	free(exploration->held);
	for (size_t i = 0; i < exploration->ranges.n; i++)
		schedules_range_free(&exploration->ranges.data[i]);
	vec_free(&exploration->ranges);
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
			TRY(schedules_add_late(exploration, &schedule, &trial,
					       search->runs));
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
		TRY(schedules_explore_first(exploration));
		return schedules_explore_rest(exploration);
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
		if (!schedules_is_event(moment) ||
		    !schedules_is_first(trace, i))
			continue;
		if (schedules_enough(search))
			break;
		TRY(schedules_try(search, exploration->test, &schedule,
				  &trial));
		if (!schedules_passes(&trial) || !trial.trace.reached)
			continue;
		exploration->passing = schedule;
		return schedules_explore_early(exploration);
	}
	return vec_push(&search->result->reach.unsteady, exploration->test);
}

static struct err *explore_passing(struct schedules_exploration *exploration)
{
	const struct schedules_search *search = exploration->search;
	static struct err *(*const steps[])(struct schedules_exploration *) = {
		schedules_explore_first,      schedules_explore_early,
		schedules_explore_rest,	      schedules_explore_single,
		schedules_explore_statements, schedules_explore_pairs,
		schedules_explore_inside,     schedules_explore_more_statements,
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
	if (exploration.plain.result.outcome == OUTCOME_SKIP)
		return NULL;
	bool passes = schedules_passes(&exploration.plain);
	search->limit_ns = 3 * exploration.plain.result.ns +
			   search->options->patience_ns + RUN_NS;
	if (!exploration.plain.trace.threads)
		return passes ? NULL : vec_push(&reach->unsteady, test);
	reach->tests++;
	TRY(passes ? explore_passing(&exploration)
		   : explore_failing(&exploration));
	if (search->limited && !exploration.found)
		TRY(vec_push(&reach->limited, test));
	if (exploration.found || !schedules_enough(search))
		return NULL;
	if (!schedules_late(search))
		return vec_push(&reach->partly, test);
	reach->why = "budget";
	return NULL;
}

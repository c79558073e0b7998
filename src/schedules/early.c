/* Work that comes early: the test's thread waits for it before its statements. */
#include "base/log.h"
#include "schedules/schedules_internal.h"

/* Statements that are tried alone. */
#define PAUSES_TRIED ((size_t)24)

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
		if ((schedules_is_event(moment) && !moment->inside) ||
		    moment->kind == SUITE_MOMENT_EXPIRED) {
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
		schedules_find_moment(trace, SUITE_MOMENT_PAUSED);
	bool confirmed;
	TRY(schedules_choose_passing(exploration, schedule,
				     event ? event->key : NULL));
	TRY(schedules_confirm(exploration, schedule, &confirmed));
	if (!confirmed)
		return NULL;
	TRY(schedules_keep_schedule(exploration, schedule, &arrival));
	if (event) {
		TRY(schedules_keep_event(event, &arrival));
		TRY(schedules_keep_bound(exploration,
					 schedules_last_statement(trace, event),
					 &arrival.lower));
	}
	const struct suite_moment *upper =
		schedules_last_statement(trace, NULL);
	TRY(schedules_keep_bound(exploration, upper, &arrival.upper));
	if (paused && schedule->before)
		TRY(schedules_copy_place(paused, &arrival.failing));
	else
		TRY(schedules_keep_failure(failing, &arrival.failing));
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
		schedule.inside = false;
		if (moment->kind != SUITE_MOMENT_PAUSED)
			continue;
		if (tried++ >= PAUSES_TRIED || schedules_enough(search))
			break;
		schedule.before = moment->key;
		schedule.before_nth = moment->nth;
		TRY(schedules_try(search, exploration->test, &schedule,
				  &trial));
		if (schedules_shows(&trial))
			return add_early_finding(exploration, &schedule, &trial,
						 runs);
	}
	struct suite_schedule outside = *all;
	outside.inside = false;
	return add_early_finding(exploration, &outside, failing, runs);
}

struct err *schedules_explore_early(struct schedules_exploration *exploration)
{
	struct schedules_search *search = exploration->search;
	struct schedules_trial *trial = &exploration->early;
	const struct suite_schedule schedule = {
		.early = true,
		.inside = true,
		.patience_ns = search->options->patience_ns,
	};
	schedules_trial_free(trial);
	TRY(schedules_try(search, exploration->test, &schedule, trial));
	log_debug(LOG_SCHEDULES, "all early: %s",
		  outcome_name(trial->result.outcome));
	return schedules_shows(trial)
		       ? reduce_early(exploration, &schedule, trial)
		       : NULL;
}

#include "schedules/schedules.h"

#include "base/clock.h"
#include "base/log.h"
#include "finding/flaky.h"
#include "schedules/schedules_internal.h"

/* A test whose runs are slow is explored for that long, and not in full. */
#define TEST_NS (10 * NS_PER_S)

void schedules_trial_free(struct schedules_trial *trial)
{
	suite_result_free(&trial->result);
	suite_trace_free(&trial->trace);
	*trial = (struct schedules_trial){};
}

bool schedules_late(const struct schedules_search *search)
{
	uint64_t deadline = search->options->deadline;
	return deadline && clock_now() >= deadline;
}

bool schedules_enough(const struct schedules_search *search)
{
	return schedules_late(search) ||
	       (search->until && clock_now() >= search->until);
}

struct trial_watcher {
	struct suite_result result;
	bool told;
	struct err *err;
};

static void schedules_on_finished(void *data, const struct suite_result *result)
{
	struct trial_watcher *watcher = data;
	if (watcher->told)
		return;
	watcher->told = true;
	watcher->err = suite_result_copy(result, &watcher->result);
}

static struct err *schedules_run_one(struct suite *suite, size_t test,
				     const struct suite_schedule *schedule,
				     struct suite_result *ret_result,
				     struct suite_trace *ret_trace)
{
	struct trial_watcher watcher = {};
	const struct suite_observer observer = {
		.finished = schedules_on_finished,
		.data = &watcher,
	};
	struct err *err =
		suite_run_schedule(suite, test, schedule, &observer, ret_trace);
	if (!err)
		err = take_ptr(watcher.err);
	err_destroy(watcher.err);
	if (err) {
		suite_result_free(&watcher.result);
		return err;
	}
	*ret_result = watcher.result;
	return NULL;
}

struct err *schedules_try(struct schedules_search *search, size_t test,
			  const struct suite_schedule *schedule,
			  struct schedules_trial *ret)
{
	struct schedules_trial trial = {};
	struct suite_schedule limited = *schedule;
	limited.limit_ns = search->limit_ns;
	search->runs++;
	search->result->reach.runs++;
	TRY(schedules_run_one(search->suite, test, &limited, &trial.result,
			      &trial.trace));
	search->limited |= trial.trace.limited;
	*ret = trial;
	return NULL;
}

bool schedules_passes(const struct schedules_trial *trial)
{
	return trial->result.outcome == OUTCOME_PASS;
}

bool schedules_shows(const struct schedules_trial *trial)
{
	enum outcome outcome = trial->result.outcome;
	return trial->trace.reached && !trial->trace.stood &&
	       (outcome == OUTCOME_FAIL || outcome == OUTCOME_CRASH ||
		(outcome == OUTCOME_TIMEOUT && trial->trace.hung));
}

/* A detector before found that its outcome varies anyway. */
static bool schedules_is_flaky(const struct schedules_search *search,
			       size_t test)
{
	const struct findings *known = search->options->known;
	for (size_t i = 0; known && i < known->n; i++) {
		if (known->data[i].kind == &flaky_kind &&
		    known->data[i].test == test)
			return true;
	}
	return false;
}

struct err *schedules_find(struct suite *suite, const size_t *tests, size_t n,
			   const struct schedules_options *options,
			   const struct suite_observer *observer,
			   struct schedules_result *ret)
{
	struct schedules_search search = {
		.suite = suite,
		.options = options,
		.observer = observer,
		.result = ret,
	};
	for (size_t i = 0; i < n; i++) {
		if (schedules_late(&search)) {
			ret->reach.why = "budget";
			break;
		}
		search.runs = search.limit_ns = 0;
		search.limited = false;
		search.until = clock_now() + TEST_NS;
		log_debug(LOG_SCHEDULES, "explores '%s'%s",
			  suite_test(suite, tests[i])->name,
			  schedules_is_flaky(&search, tests[i])
				  ? ", which is flaky"
				  : "");
		TRY(schedules_explore(&search, tests[i]));
	}
	return NULL;
}

void schedules_result_free(struct schedules_result *result)
{
	findings_free(&result->findings);
	vec_free(&result->reach.unsteady);
	vec_free(&result->reach.limited);
	vec_free(&result->reach.partly);
	*result = (struct schedules_result){};
}

struct err *schedules_run_again(struct suite *suite, size_t test,
				const struct suite_schedule *schedule,
				struct suite_result *ret)
{
	static const struct suite_schedule none;
	_cleanup_(suite_trace_free) struct suite_trace trace = {};
	struct suite_result result = {};
	TRY(schedules_run_one(suite, test, schedule ? schedule : &none, &result,
			      &trace));
	/* What did not take place shows nothing. */
	bool steers = schedule && (schedule->event || schedule->early);
	if (steers && (!trace.reached || trace.stood) &&
	    result.outcome != OUTCOME_PASS)
		result.outcome = OUTCOME_NONE;
	if (schedule && result.outcome == OUTCOME_TIMEOUT && !trace.hung)
		result.outcome = OUTCOME_NONE;
	*ret = result;
	return NULL;
}

/*
 * Tests whose outcome depends on when asynchronous work arrives, as the commands
 * look for them.
 */
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "cli/detection.h"
#include "cli/interrupt.h"
#include "finding/flaky.h"
#include "finding/words.h"

/* Tests that a limit names. */
#define LIMIT_NAMES_MAX 2

#define FIELD(member) .offset = offsetof(struct detection_options, member)

static const char *const schedule_strategies[] = { "delay", "pct", "random",
						   NULL };

/* clang-format off */
#define PATIENCE_OPTION \
	{ "patience", 0, OPTION_DURATION, FIELD(patience_ns), \
	  .value = "DURATION", \
	  .help = "how long work of another thread may be late, on the " \
		  "clock of the tested program; tests that wait at least " \
		  "that long are not reported (default: 1s)" }

static const struct option schedules_options[] = {
	PATIENCE_OPTION,
	{ "strategy", 0, OPTION_CHOICE, FIELD(schedule_strategy),
	  .value = "NAME", .choices = schedule_strategies,
	  .help = "delay (default: holds one piece of work at a time), pct "
		  "(threads run by random priorities) or random (random "
		  "delays of up to --delay)" },
	{ "runs", 0, OPTION_NUMBER, FIELD(schedule_runs), .value = "N",
	  .min = 1, .max = 1000000,
	  .help = "with pct and random: runs of each test (default: 20)" },
	{ "delay", 0, OPTION_DURATION, FIELD(delay_ns), .value = "DURATION",
	  .help = "with random: the longest delay (default: 10ms)" },
	{ "repeat", 0, OPTION_NUMBER, FIELD(schedule_repeat), .value = "N",
	  .min = 1, .max = 1000,
	  .help = "confirmations required per finding: failures with the "
		  "schedule, passes without (default: 2)" },
	{ "seed", 0, OPTION_NUMBER, FIELD(schedule_seed), .value = "N",
	  .max = UINT64_C(1) << 53,
	  .help = "with pct and random: first seed (default: 1)" },
	{}
};

static const struct option schedules_check_options[] = {
	{ "schedules", 0, OPTION_FLAG, FIELD(schedules),
	  .help = "look for tests that depend on when the work of other "
		  "threads arrives (default; --no-schedules)" },
	PATIENCE_OPTION,
	{}
};
/* clang-format on */

const struct option_group schedules_group = { "Schedules", schedules_options };
const struct option_group schedules_check_group = { "Schedules",
						    schedules_check_options };

struct schedules_state {
	struct schedules_result result;
	bool searched;
};

static bool schedules_is_wanted(const struct detection *detection,
				const struct detection_step *step _unused_)
{
	return detection->values->schedules;
}

static void schedules_open(const void *state _unused_,
			   struct suite_options *ret)
{
	ret->schedules = true;
}

/* After other detectors it is known which tests have threads. */
static bool schedules_has_work(const struct detection *detection)
{
	if (!detection->collect.finished)
		return true;
	for (size_t i = 0; i < detection->order.n; i++) {
		if (detection->collect.threads[detection->order.data[i]])
			return true;
	}
	return false;
}

static struct err *list_threads_of(const struct detection *detection,
				   enum collect_threads threads,
				   struct indexes *ret)
{
	for (size_t i = 0; i < detection->order.n; i++) {
		size_t test = detection->order.data[i];
		if (detection->collect.threads[test] == threads)
			TRY(vec_push(ret, test));
	}
	return NULL;
}

/*
 * Tests that other threads work for. A thread that an earlier test left is there
 * in all tests after it, and in none of them alone: these come last.
 */
static struct err *list_threaded(const struct detection *detection,
				 struct indexes *ret)
{
	TRY(list_threads_of(detection, COLLECT_THREADS_BEGAN, ret));
	return list_threads_of(detection, COLLECT_THREADS, ret);
}

static struct err *schedules_search_all(struct detection *detection, void *data)
{
	struct schedules_state *state = data;
	const struct detection_options *values = detection->values;
	_cleanup_(indexes_freep) struct indexes tests = {};
	_cleanup_(progress_destroyp) struct progress *progress = NULL;
	struct suite_observer observer = detection_observer(detection);
	const struct schedules_options options = {
		.run = &detection->run,
		.strategy = (enum schedules_strategy)values->schedule_strategy,
		.patience_ns = values->patience_ns,
		.delay_ns = values->schedule_strategy == SCHEDULES_RANDOM
				    ? values->delay_ns
				    : 0,
		.runs = values->schedule_runs,
		.seed = values->schedule_seed,
		.repeats = values->schedule_repeat,
		.deadline = detection->deadline,
		.known = detection->orders,
	};
	TRY(detection_show_progress(detection, "schedules", &progress));
	if (!detection->collect.finished && detection->order.n) {
		struct err *err =
			suite_run(detection->suite, detection->order.data,
				  detection->order.n, SUITE_SERIAL, &observer);
		TRY(collect_end(&detection->collect, err));
	}
	if (!detection->order.n || detection->collect.budget_spent)
		return NULL;
	if (!suite_has_schedules(detection->suite))
		return detection_say(detection,
				     "the tests of this suite are processes, "
				     "whose threads are not scheduled");
	state->searched = true;
	detection->arrivals = &state->result.findings;
	state->result.reach.all = detection->order.n;
	TRY(list_threaded(detection, &tests));
	struct err *err =
		tests.n ? schedules_find(detection->suite, tests.data, tests.n,
					 &options, &observer, &state->result)
			: NULL;
	return collect_end(&detection->collect, err);
}

/* "2 slow tests explored only in part: A, B"; nothing of none. */
static struct err *say_of_tests(struct detection *detection,
				const struct order_tests *tests,
				const char *one, const char *many)
{
	_cleanup_(str_freep) struct str names = STR_INIT;
	if (!tests->n)
		return NULL;
	TRY(words_append_tests(&names, detection->collect.roster, tests->data,
			       tests->n, LIMIT_NAMES_MAX));
	return detection_say(detection, "%zu %s: %s", tests->n,
			     tests->n == 1 ? one : many, names.s);
}

static struct err *schedules_say_limits(struct detection *detection, void *data)
{
	const struct schedules_state *state = data;
	const struct schedules_reach *reach = &state->result.reach;
	char why[48];
	detection_why(detection, reach->why, "ended early", why);
	if (!state->searched)
		return detection->order.n && detection->collect.budget_spent
			       ? detection_say(detection, "not searched (%s)",
					       why)
			       : NULL;
	if (reach->why || interrupt_happened())
		TRY(detection_say(detection,
				  "not all schedules were tried, %zu test%s "
				  "explored (%s)",
				  reach->tests, reach->tests == 1 ? "" : "s",
				  why));
	TRY(say_of_tests(detection, &reach->partly,
			 "slow test explored only in part",
			 "slow tests explored only in part"));
	TRY(say_of_tests(detection, &reach->limited,
			 "test has a limit of time that ran out while work was "
			 "held, which says nothing",
			 "tests have a limit of time that ran out while work "
			 "was held, which says nothing"));
	return say_of_tests(detection, &reach->unsteady,
			    "test not explored, as it does not pass each time "
			    "that it runs alone",
			    "tests not explored, as they do not pass each time "
			    "that they run alone");
}

static void schedules_judge_earlier(const struct detection *detection _unused_,
				    void *data, struct earlier_list *earlier)
{
	const struct schedules_state *state = data;
	bool all = state->searched && !state->result.reach.why &&
		   !interrupt_happened();
	for (size_t i = 0; i < earlier->n; i++)
		earlier->data[i].tried = all;
}

/* A schedule says why the outcome of a test varies: that is one finding. */
static void drop_flaky(struct detection *detection, size_t test)
{
	struct findings *findings = &detection->findings;
	for (size_t i = 0; i < findings->n;) {
		if (findings->data[i].kind != &flaky_kind ||
		    findings->data[i].test != test) {
			i++;
			continue;
		}
		finding_free(&findings->data[i]);
		memmove(findings->data + i, findings->data + i + 1,
			(findings->n - i - 1) * sizeof(struct finding));
		findings->n--;
	}
}

static struct err *schedules_add(struct detection *detection, void *data,
				 struct report *report)
{
	struct schedules_state *state = data;
	if (state->searched)
		report->schedules = &state->result.reach;
	for (size_t i = 0; i < state->result.findings.n; i++)
		drop_flaky(detection, state->result.findings.data[i].test);
	return findings_move(&detection->findings, &state->result.findings);
}

static void schedules_keep(struct detection *detection, void *data)
{
	const struct schedules_state *state = data;
	if (state->searched)
		results_put(detection->records.results, "schedules",
			    detection->findings.data, detection->findings.n);
}

static void schedules_free(void *data)
{
	struct schedules_state *state = data;
	schedules_result_free(&state->result);
}

const struct detector detector_schedules = {
	.name = "schedules",
	.agent = SUITE_NO_AGENT,
	.state_size = sizeof(struct schedules_state),
	.is_wanted = schedules_is_wanted,
	.has_work = schedules_has_work,
	.open = schedules_open,
	.find = schedules_search_all,
	.say_limits = schedules_say_limits,
	.judge_earlier = schedules_judge_earlier,
	.add = schedules_add,
	.keep = schedules_keep,
	.free = schedules_free,
};

#include "framework/gtest_events.h"

#include <stdlib.h>

#include "base/log.h"
#include "framework/adapter.h"
#include "tracee/memory.h"

#define ON_SET_UP_END GTEST_REPEATER "22OnEnvironmentsSetUpEndERKNS_8UnitTestE"
/* The last that is told before a suite's set-up, and at its end. */
#define ON_SUITE_START GTEST_REPEATER "16OnTestSuiteStartERKNS_9TestSuiteE"
#define ON_SUITE_END GTEST_REPEATER "14OnTestSuiteEndERKNS_9TestSuiteE"
#define ON_SUITE_START_OLD GTEST_REPEATER "15OnTestCaseStartERKNS_8TestCaseE"
#define ON_SUITE_END_OLD GTEST_REPEATER "13OnTestCaseEndERKNS_8TestCaseE"
#define FAIL_FAST "_ZN7testing21FLAGS_gtest_fail_fastE"

/* UnitTestImpl::test_suite_indices_ from 1.15 on, which has a map before it. */
#define INDICES_AFTER_MAP 264

/* ---- lists ---- */

static struct err *gtest_loop_read(struct run *run, struct gtest_loop *loop,
				   uint64_t list_at, uint64_t indices_at)
{
	*loop = (struct gtest_loop){ .list_at = list_at,
				     .indices_at = indices_at };
	TRY(memory_read(run->tracee, RADDR(list_at), loop->list,
			sizeof(loop->list)));
	TRY(memory_read(run->tracee, RADDR(indices_at), loop->indices,
			sizeof(loop->indices)));
	uint64_t n = (loop->list[1] - loop->list[0]) / 8;
	if (loop->list[1] < loop->list[0] || n > GTEST_TESTS_MAX ||
	    loop->indices[1] - loop->indices[0] != n * 4)
		return adapter_unknown_version(
			run, "a list and its numbers do not fit");
	return NULL;
}

static struct err *gtest_loop_write(struct run *run, struct gtest_loop *loop,
				    const uint64_t list[2],
				    const uint64_t indices[2])
{
	TRY(memory_write(run->tracee, RADDR(loop->list_at), list,
			 sizeof(loop->list)));
	return memory_write(run->tracee, RADDR(loop->indices_at), indices,
			    sizeof(loop->indices));
}

static struct err *gtest_loop_put_back(struct run *run, struct gtest_loop *loop)
{
	if (!loop->aimed)
		return NULL;
	loop->aimed = false;
	return gtest_loop_write(run, loop, loop->list, loop->indices);
}

/* The loop is over after this round. */
static struct err *gtest_loop_end(struct run *run, struct gtest_loop *loop)
{
	const uint64_t none[2] = { loop->list[0], loop->list[0] };
	loop->aimed = true;
	return gtest_loop_write(run, loop, none, loop->indices);
}

/* Where in the list of numbers the one of @element is. */
static struct err *gtest_loop_find(struct run *run,
				   const struct gtest_loop *loop,
				   uint64_t element, uint64_t *ret)
{
	uint64_t n = (loop->list[1] - loop->list[0]) / 8;
	_cleanup_(freep) uint64_t *list = malloc(n * 8 + 1);
	_cleanup_(freep) uint32_t *numbers = malloc(n * 4 + 1);
	if (!list || !numbers)
		return err_nomem();
	TRY(memory_read(run->tracee, RADDR(loop->list[0]), list, n * 8));
	TRY(memory_read(run->tracee, RADDR(loop->indices[0]), numbers, n * 4));
	for (uint64_t i = 0; i < n; i++) {
		if (numbers[i] < n && list[numbers[i]] == element) {
			*ret = i;
			return NULL;
		}
	}
	return adapter_unknown_version(run, "a test is not in its list");
}

/* The loop's next round is for @element. */
static struct err *gtest_loop_aim(struct run *run, struct gtest_loop *loop,
				  uint64_t element)
{
	uint64_t at = 0;
	TRY(gtest_loop_find(run, loop, element, &at));
	uint64_t number = loop->indices[0] + at * 4;
	const uint64_t list[2] = { loop->list[0],
				   loop->list[0] + (loop->round + 1) * 8 };
	const uint64_t indices[2] = { number - loop->round * 4, number + 4 };
	loop->round++;
	loop->aimed = true;
	return gtest_loop_write(run, loop, list, indices);
}

static struct err *gtest_read_suites(struct run *run, struct gtest_loop *loop)
{
	struct gtest *gtest = run->state;
	uint64_t impl;
	TRY(run_u64(run, RADDR(gtest->unit_test + gtest->at.impl), &impl));
	struct err *err = gtest_loop_read(run, loop, impl + gtest->at.suites,
					  impl + gtest->at.indices);
	if (!err)
		return NULL;
	err_ignore(err);
	return gtest_loop_read(run, loop, impl + gtest->at.suites,
			       impl + INDICES_AFTER_MAP);
}

struct err *gtest_events_suites(struct run *run, uint64_t **ret, size_t *ret_n)
{
	struct gtest_loop loop;
	TRY(gtest_read_suites(run, &loop));
	uint64_t n = (loop.list[1] - loop.list[0]) / 8;
	if (n > GTEST_SUITES_MAX)
		return adapter_unknown_version(run, "too many suites");
	_cleanup_(freep) uint64_t *suites = malloc(n * 8 + 1);
	_cleanup_(freep) uint64_t *list = malloc(n * 8 + 1);
	_cleanup_(freep) uint32_t *numbers = malloc(n * 4 + 1);
	if (!suites || !list || !numbers)
		return err_nomem();
	TRY(memory_read(run->tracee, RADDR(loop.list[0]), list, n * 8));
	TRY(memory_read(run->tracee, RADDR(loop.indices[0]), numbers, n * 4));
	for (uint64_t i = 0; i < n; i++) {
		if (numbers[i] >= n)
			return adapter_unknown_version(run, "no such suite");
		suites[i] = list[numbers[i]];
	}
	*ret = take_ptr(suites);
	*ret_n = n;
	return NULL;
}

/* ---- events ---- */

/* The next round of the loop over suites is for the wanted test's. */
static struct err *gtest_aim_at_suite(struct run *run)
{
	struct gtest *gtest = run->state;
	size_t test = run_wanted(run);
	if (test == RUN_NONE) {
		gtest->done = true;
		return gtest_loop_end(run, &gtest->suites);
	}
	gtest->group = run_group(run, test);
	gtest->next_at_suite = run->next;
	TRY(gtest_enable_suite(run, gtest->group));
	return gtest_loop_aim(run, &gtest->suites, gtest->group);
}

static struct err *gtest_aim_at_test(struct run *run, size_t test)
{
	struct gtest *gtest = run->state;
	TRY(gtest_enable_test(run, test));
	return gtest_loop_aim(run, &gtest->tests, run_handle(run, test));
}

/* OnEnvironmentsSetUpEnd(unit_test): the loop over suites comes next, if any. */
static struct err *gtest_on_set_up_end(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (run->order || gtest->set_up.type == PART_SKIP ||
	    gtest->set_up.type == PART_FATAL)
		return NULL;
	gtest->unit_test = thread_arg(thread, 1);
	run_ready(run, thread);
	return NULL;
}

/* OnTestSuiteStart(suite): its set-up comes next, and then the loop. */
static struct err *gtest_on_suite_start(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	uint64_t suite = thread_arg(thread, 1);
	if (!run->order)
		return adapter_unknown_version(
			run, "suites run although global set-up skipped");
	TRY(gtest_loop_put_back(run, &gtest->suites));
	if (suite != gtest->group || gtest->done)
		return run_not_begun(run);
	TRY(gtest_loop_read(run, &gtest->tests, suite + gtest->at.suite_tests,
			    suite + gtest->at.suite_indices));
	size_t test = gtest_next_in_group(run);
	return test == RUN_NONE ? gtest_loop_end(run, &gtest->tests)
				: gtest_aim_at_test(run, test);
}

static struct err *gtest_on_suite_ended(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (!calls_returned(&gtest->suite, thread))
		return NULL;
	gtest->suite.inside = false;
	if (run->next == gtest->next_at_suite)
		return run_not_begun(run);
	return gtest_aim_at_suite(run);
}

static struct err *gtest_on_suite_end(struct run *run, struct thread *thread,
				      uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (!run->order)
		return NULL;
	TRY(gtest_loop_put_back(run, &gtest->tests));
	return calls_enter(run, thread, &gtest->suite, gtest_on_suite_ended, 0);
}

static struct err *gtest_on_test_start(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	size_t test = run->order ? gtest_next_in_group(run) : RUN_NONE;
	TRY(gtest_loop_put_back(run, &gtest->tests));
	if (test == RUN_NONE || run_handle(run, test) != thread_arg(thread, 1))
		return NULL; /* one that is not for us */
	return gtest_begin_test(run, test);
}

static struct err *gtest_on_test_ended(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (!calls_returned(&gtest->test, thread))
		return NULL;
	gtest->test.inside = false;
	TRY(gtest_end_test(run));
	size_t test = gtest_next_in_group(run);
	return test == RUN_NONE ? gtest_loop_end(run, &gtest->tests)
				: gtest_aim_at_test(run, test);
}

/* OnTestEnd(info): what other listeners do now belongs to the test. */
static struct err *gtest_on_test_end(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (!run->in_test ||
	    thread_arg(thread, 1) != run_handle(run, run->current))
		return NULL;
	return calls_enter(run, thread, &gtest->test, gtest_on_test_ended, 0);
}

struct err *gtest_events_end(struct run *run)
{
	struct gtest *gtest = run->state;
	return gtest_loop_put_back(run, &gtest->suites);
}

struct err *gtest_events_attach(struct run *run, bool *ret_found)
{
	const struct {
		const char *symbol, *old;
		run_hook *hook;
	} events[] = {
		{ ON_SET_UP_END, ON_SET_UP_END, gtest_on_set_up_end },
		{ ON_SUITE_START, ON_SUITE_START_OLD, gtest_on_suite_start },
		{ ON_SUITE_END, ON_SUITE_END_OLD, gtest_on_suite_end },
		{ GTEST_ON_TEST_START, GTEST_ON_TEST_START,
		  gtest_on_test_start },
		{ GTEST_ON_TEST_END, GTEST_ON_TEST_END, gtest_on_test_end },
	};
	*ret_found = true;
	for (size_t i = 0; i < ARRAY_SIZE(events) && *ret_found; i++) {
		TRY(run_break_symbol(run, events[i].symbol, events[i].hook, 0,
				     ret_found));
		if (!*ret_found)
			TRY(run_break_symbol(run, events[i].old, events[i].hook,
					     0, ret_found));
	}
	return NULL;
}

/* The thread is at the entry of OnEnvironmentsSetUpEnd(). */
struct err *gtest_events_start(struct run *run)
{
	struct gtest *gtest = run->state;
	struct raddr fail_fast;
	uint8_t no = 0;
	/* A failed test must not end the loops. */
	if (program_symbol(run->program, FAIL_FAST, &fail_fast))
		TRY(memory_write(run->tracee, fail_fast, &no, 1));
	TRY(gtest_read_suites(run, &gtest->suites));
	return gtest_aim_at_suite(run);
}

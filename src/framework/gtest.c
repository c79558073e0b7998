/*
 * GoogleTest, by calls: TestSuite::Run() runs one suite with its set-up, and inside
 * it TestInfo::Run() runs one test with its fixture. Both are entered again for
 * what is wanted next. Consecutive tests of one suite share one call of
 * TestSuite::Run(), as the framework demands ("all tests in the same suite must use
 * the same fixture class").
 *
 * A test's own result decides (TestInfo::result_): what a test reports to another
 * reporter, to check that it is reported (gtest-spi.h), is none of its failures.
 *
 * Where link-time optimisation left neither function, by data (gtest_events.h).
 *
 * Seen with 1.8 to 1.18; see docs/frameworks.md. Up to 1.8 suites were called test
 * cases. What is read of a TestSuite and of a TestInfo lies at the same place in all.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "framework/adapter.h"
#include "framework/gtest_events.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define SUITE_RUN "_ZN7testing9TestSuite3RunEv"
#define SUITE_RUN_OLD "_ZN7testing8TestCase3RunEv"
#define TEST_RUN "_ZN7testing8TestInfo3RunEv"
/* Instead of it, where the suite's set-up failed or skipped (since 1.12). */
#define TEST_SKIP "_ZN7testing8TestInfo4SkipEv"
#define GET_INSTANCE "_ZN7testing8UnitTest11GetInstanceEv"
#define SUITE_COUNT "_ZNK7testing8UnitTest22total_test_suite_countEv"
#define SUITE_COUNT_OLD "_ZNK7testing8UnitTest21total_test_case_countEv"
#define GET_SUITE "_ZNK7testing8UnitTest12GetTestSuiteEi"
#define GET_SUITE_OLD "_ZNK7testing8UnitTest11GetTestCaseEi"
#define MOCK_INIT "_ZN7testing14InitGoogleMockEPiPPc"
#define OBJECT_RUN "_ZN7testing4Test3RunEv"
#define OBJECT_RUN_PART OBJECT_RUN ".part.0"
/* HandleExceptionsInMethodIfSupported<Test, void>(object, method, …) */
#define HANDLE                                                                 \
	"_ZN7testing8internal35HandleExceptionsInMethodIfSupportedINS_4TestE"  \
	"vEET0_PT_MS4_FS3_vEPKc"
/* At -O3 gcc leaves out the parameters that are not needed. */
#define HANDLE_PART HANDLE ".isra.0"

#define CALL_LIMIT_NS (5 * UINT64_C(1000000000))
/* The part of a TestInfo that is read; its result comes after. */
#define INFO_SIZE 144
#define PARTS_MAX 10000000
#define PARTS_AT_ONCE UINT64_C(16)

static void gtest_find_layout(const struct run *run, struct gtest_layout *at)
{
	static const char *const suite = "testing::TestSuite";
	static const char *const info = "testing::TestInfo";
	static const char *const impl = "testing::internal::UnitTestImpl";
	const struct adapter_member rows[] = {
		{ &at->suite_tests, suite, "test_info_list_", 48, ANYWHERE },
		{ &at->suite_indices, suite, "test_indices_", 72, ANYWHERE },
		{ &at->suite_should_run, suite, "should_run_", 112, ANYWHERE },
		{ &at->suite_name, info, "test_suite_name_", 0, ANYWHERE },
		{ &at->name, info, "name_", 32, ANYWHERE },
		{ &at->file, info, "location_.file", 80, ANYWHERE },
		{ &at->line, info, "location_.line", 112, INFO_SIZE - 3 },
		{ &at->should_run, info, "should_run_", 128, INFO_SIZE },
		{ &at->disabled, info, "is_disabled_", 129, INFO_SIZE },
		{ &at->matches, info, "matches_filter_", 130, INFO_SIZE },
		{ &at->parts, info, "result_.test_part_results_", 200,
		  ANYWHERE },
		{ &at->death_tests, info, "result_.death_test_count_", 248,
		  ANYWHERE },
		{ &at->impl, "testing::UnitTest", "impl_", 64, ANYWHERE },
		{ &at->suites, impl, "test_suites_", 184, ANYWHERE },
		{ &at->indices, impl, "test_suite_indices_", 208, ANYWHERE },
	};
	adapter_find_members(run, rows, ARRAY_SIZE(rows));
}

size_t gtest_next_in_group(struct run *run)
{
	const struct gtest *gtest = run->state;
	size_t test = run_wanted(run);
	return test != RUN_NONE && run_group(run, test) == gtest->group
		       ? test
		       : RUN_NONE;
}

/* The result of an earlier run would keep its body from running. */
static struct err *gtest_clear_result(struct run *run, uint64_t info)
{
	const struct gtest *gtest = run->state;
	struct raddr parts = RADDR(info + gtest->at.parts);
	uint64_t first;
	TRY(run_u64(run, parts, &first));
	TRY(memory_write_u64(run->tracee, raddr_add(parts, 8), first));
	/* Death tests are numbered; their child counts from the beginning. */
	uint32_t none = 0;
	return memory_write(run->tracee, RADDR(info + gtest->at.death_tests),
			    &none, sizeof(none));
}

struct err *gtest_enable_test(struct run *run, size_t test)
{
	const struct gtest *gtest = run->state;
	uint64_t info = run_handle(run, test);
	uint8_t yes = 1;
	return memory_write(run->tracee, RADDR(info + gtest->at.should_run),
			    &yes, 1);
}

struct err *gtest_enable_suite(struct run *run, uint64_t suite)
{
	const struct gtest *gtest = run->state;
	uint8_t yes = 1;
	return memory_write(run->tracee,
			    RADDR(suite + gtest->at.suite_should_run), &yes, 1);
}

struct err *gtest_begin_test(struct run *run, size_t test)
{
	struct gtest *gtest = run->state;
	if (run_again(run, test))
		TRY(gtest_clear_result(run, run_handle(run, test)));
	gtest->fixture = (struct fixture){};
	return run_begin(run);
}

/* The thread is at the entry of TestInfo::Run(). */
static struct err *gtest_begin_call(struct run *run, struct thread *thread,
				    size_t test)
{
	if (run_disabled(run, test))
		TRY(gtest_enable_test(run, test));
	regs_set_arg(&thread->regs, 0, run_handle(run, test));
	thread_dirty(thread);
	return gtest_begin_test(run, test);
}

/* ---- verdicts ---- */

static bool gtest_is_failure(uint32_t type)
{
	return type == PART_NON_FATAL || type == PART_FATAL;
}

static void gtest_read_part_texts(struct run *run, struct raddr at,
				  const struct gtest_part *part, char **file,
				  char **summary)
{
	err_ignore(run_string(
		run, raddr_add(at, offsetof(struct gtest_part, summary)),
		summary));
	if (part->line > 0) /* otherwise "unknown file" */
		err_ignore(run_string(
			run, raddr_add(at, offsetof(struct gtest_part, file)),
			file));
}

static struct err *gtest_note_part(struct run *run, struct raddr at,
				   const struct gtest_part *part)
{
	_cleanup_(freep) char *file = NULL, *summary = NULL;
	gtest_read_part_texts(run, at, part, &file, &summary);
	if (part->type == PART_SKIP)
		return run_skip(run, file, (unsigned)part->line, summary);
	return run_fail(run, file, (unsigned)part->line, summary);
}

static void gtest_keep_set_up(struct run *run, struct raddr at,
			      const struct gtest_part *part)
{
	struct gtest *gtest = run->state;
	struct gtest_verdict *kept = &gtest->set_up;
	_cleanup_(freep) char *file = NULL, *summary = NULL;
	if (kept->type &&
	    !(kept->type == PART_SKIP && part->type == PART_FATAL))
		return;
	gtest_read_part_texts(run, at, part, &file, &summary);
	*kept = (struct gtest_verdict){
		.type = part->type,
		.line = file ? (unsigned)part->line : 0,
	};
	snprintf(kept->file, sizeof(kept->file), "%s", file ? file : "");
	snprintf(kept->message, sizeof(kept->message), "%s",
		 summary ? summary : "");
}

/*
 * OnTestPartResult(part): the result went into that of the running test. Its end
 * decides, but a test that crashes has none.
 */
static struct err *gtest_on_part(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	struct raddr at = RADDR(thread_arg(thread, 1));
	struct gtest_part part;
	TRY(memory_read(run->tracee, at, &part, sizeof(part)));
	if (!gtest_is_failure(part.type) && part.type != PART_SKIP)
		return NULL;
	if (run->order && !run->in_test && gtest_is_failure(part.type))
		run->failed_outside = true;
	if (run->order)
		return gtest_note_part(run, at, &part);
	gtest_keep_set_up(run, at, &part);
	return NULL;
}

/* The first failure among the parts of the test's result, else the first skip. */
static struct err *gtest_find_verdict(struct run *run, uint64_t info,
				      struct raddr *ret_at,
				      struct gtest_part *ret)
{
	const struct gtest *gtest = run->state;
	struct gtest_part parts[PARTS_AT_ONCE];
	uint64_t bounds[2];
	TRY(memory_read(run->tracee, RADDR(info + gtest->at.parts), bounds,
			sizeof(bounds)));
	uint64_t n = (bounds[1] - bounds[0]) / sizeof(parts[0]);
	if (bounds[1] < bounds[0] || n > PARTS_MAX)
		return adapter_unknown_version(
			run, "a test's result is no list of parts");
	for (uint64_t i = 0; i < n; i++) {
		const struct gtest_part *part = &parts[i % PARTS_AT_ONCE];
		struct raddr at = RADDR(bounds[0] + i * sizeof(parts[0]));
		if (i % PARTS_AT_ONCE == 0)
			TRY(memory_read(run->tracee, at, parts,
					MIN(n - i, PARTS_AT_ONCE) *
						sizeof(parts[0])));
		if (!gtest_is_failure(part->type) &&
		    (part->type != PART_SKIP || ret->type))
			continue;
		*ret = *part;
		*ret_at = at;
		if (gtest_is_failure(part->type))
			break;
	}
	return NULL;
}

struct err *gtest_end_test(struct run *run)
{
	struct gtest_part part = {};
	struct raddr at = RADDR(0);
	if (!run->in_test)
		return NULL;
	TRY(gtest_find_verdict(run, run_handle(run, run->current), &at, &part));
	if (!part.type)
		return run_end(run, OUTCOME_PASS);
	TRY(gtest_note_part(run, at, &part));
	return run_end(run,
		       part.type == PART_SKIP ? OUTCOME_SKIP : OUTCOME_FAIL);
}

/* ---- suites and tests ---- */

static struct err *gtest_on_test_return(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (!calls_returned(&gtest->test, thread))
		return NULL;
	TRY(gtest_end_test(run));
	size_t test = gtest_next_in_group(run);
	if (test == RUN_NONE) {
		/* The rest of the suite's own loop passes without a stop. */
		gtest->test.inside = false;
		calls_leave(thread, &gtest->test, false);
		TRY(run_unbreak(run, gtest->test.return_to));
		return calls_mute(run, gtest->test_run);
	}
	TRY(calls_again(run, thread, &gtest->test));
	return gtest_begin_call(run, thread, test);
}

/*
 * The function, or the part of it that gcc made of what follows its first check:
 * suites may call either, and the function goes on in the part.
 */
static struct err *gtest_on_test(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	const struct calls *call = &gtest->test;
	if (!run->order)
		return NULL;
	if (call->inside &&
	    !raddr_eq(regs_pc(&thread->regs), regs_pc(&call->entry)) &&
	    regs_sp(&thread->regs).v <= regs_sp(&call->entry).v)
		return NULL;
	size_t test = gtest_next_in_group(run);
	if (test == RUN_NONE)
		return calls_skip(run, thread, 0);
	gtest->test_run = regs_pc(&thread->regs);
	TRY(calls_enter(run, thread, &gtest->test, gtest_on_test_return, 0));
	return gtest_begin_call(run, thread, test);
}

/* The thread is at the entry of TestSuite::Run(). */
static struct err *gtest_begin_suite(struct run *run, struct thread *thread)
{
	struct gtest *gtest = run->state;
	size_t test = run_wanted(run);
	gtest->group = run_group(run, test);
	TRY(gtest_enable_suite(run, gtest->group));
	/* Where the check is in the suite's own loop, one has to pass it. */
	TRY(gtest_enable_test(run, test));
	regs_set_arg(&thread->regs, 0, gtest->group);
	thread_dirty(thread);
	return NULL;
}

static struct err *gtest_on_suite_return(struct run *run, struct thread *thread,
					 uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (!calls_returned(&gtest->suite, thread))
		return NULL;
	if (gtest->test_run.v)
		TRY(calls_unmute(run, gtest->test_run));
	if (run_wanted(run) == RUN_NONE) {
		gtest->suite.inside = false;
		gtest->done = true;
		calls_leave(thread, &gtest->suite, false);
		return calls_mute(run, gtest->suite_run);
	}
	TRY(calls_again(run, thread, &gtest->suite));
	return gtest_begin_suite(run, thread);
}

static struct err *gtest_on_suite(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (!run->order) {
		gtest->suite_run = regs_pc(&thread->regs);
		log_debug(LOG_FRAMEWORK, "GoogleTest runs suites at 0x%llx",
			  (unsigned long long)gtest->suite_run.v);
		run_ready(run, thread);
	} else if (gtest->done)
		return calls_skip(run, thread, 0);
	return NULL;
}

/* ---- global set-up that failed or skipped ---- */

static struct err *gtest_begin_unstarted(struct run *run)
{
	struct gtest *gtest = run->state;
	const struct gtest_verdict *why = &gtest->set_up;
	_cleanup_(freep) char *text = NULL;
	TRY(str_format(&text, "%s: %s",
		       why->type == PART_SKIP
			       ? "Environment::SetUp() skips all tests"
			       : "Environment::SetUp() failed, no test runs",
		       why->message));
	TRY(run_begin(run));
	return run_skip(run, *why->file ? why->file : NULL, why->line, text);
}

/* The tests get their turn without anything being called for them. */
static struct err *gtest_on_unstarted(struct run *run, struct thread *thread,
				      uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (!calls_returned(&gtest->suite, thread))
		return NULL;
	TRY(run_end(run, OUTCOME_NONE));
	if (run_wanted(run) == RUN_NONE) {
		gtest->suite.inside = false;
		calls_leave(thread, &gtest->suite, false);
		return run_unbreak(run, gtest->suite.return_to);
	}
	TRY(calls_again(run, thread, &gtest->suite));
	calls_instead(thread, gtest->stub);
	return gtest_begin_unstarted(run);
}

/* OnEnvironmentsTearDownStart(): all suites are behind us, or none was run. */
static struct err *gtest_on_tear_down(struct run *run, struct thread *thread,
				      uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (run->order && gtest->by_events)
		return gtest_events_end(run);
	if (run->order || !gtest->set_up.type)
		return NULL;
	gtest->none_runs = true;
	gtest->unit_test = thread_arg(thread, 1);
	TRY(calls_stubs(thread, 1, &gtest->stub));
	run_ready(run, thread);
	return NULL;
}

/* ---- start ---- */

#define MISSING_HINT "build it without link-time optimisation, or with -g"

static struct err *gtest_attach(struct run *run)
{
	static const char *const suites[] = { SUITE_RUN, SUITE_RUN_OLD };
	static const char *const tests[] = { TEST_RUN };
	static const char *const skips[] = { TEST_SKIP };
	struct gtest *gtest = run->state;
	size_t n_suites, n_tests;
	gtest_find_layout(run, &gtest->at);
	TRY(run_break_symbol(run, GTEST_ON_PART, gtest_on_part, 0, NULL));
	TRY(run_break_symbol(run, GTEST_ON_TEAR_DOWN, gtest_on_tear_down, 0,
			     NULL));
	TRY(adapter_break_parts(run, suites, ARRAY_SIZE(suites), gtest_on_suite,
				&n_suites));
	TRY(adapter_break_parts(run, tests, ARRAY_SIZE(tests), gtest_on_test,
				&n_tests));
	if (n_suites && n_tests)
		return adapter_break_parts(run, skips, ARRAY_SIZE(skips),
					   gtest_on_test, NULL);
	log_debug(LOG_FRAMEWORK, "GoogleTest: driven by its events");
	gtest->by_events = true;
	bool found;
	TRY(gtest_events_attach(run, &found));
	return found ? NULL
		     : adapter_function_missing(run, TEST_RUN, MISSING_HINT);
}

/* A std::string in a copy of the object that holds it. */
static struct err *gtest_string_in(struct run *run, uint64_t object,
				   const uint8_t *copy, size_t n, uint64_t at,
				   char **ret)
{
	uint64_t words[2];
	if (at + 32 <= n) {
		memcpy(words, copy + at, sizeof(words));
		/* Short ones are in the object itself. */
		if (words[0] == object + at + 16 && words[1] < 16) {
			char *text =
				strndup((const char *)copy + at + 16, words[1]);
			if (!text)
				return err_nomem();
			*ret = text;
			return NULL;
		}
	}
	return run_string(run, RADDR(object + at), ret);
}

/*
 * These run before all others, even if the framework shuffles: fork() does not
 * work well with threads that other tests may have started.
 */
static bool gtest_is_death_suite(const char *name)
{
	return str_glob("*DeathTest", name) || str_glob("*DeathTest/*", name);
}

static struct err *gtest_add_test(struct run *run, uint64_t suite,
				  uint64_t info)
{
	struct gtest *gtest = run->state;
	const struct gtest_layout *at = &gtest->at;
	uint8_t copy[INFO_SIZE];
	TRY(memory_read(run->tracee, RADDR(info), copy, sizeof(copy)));
	if (!copy[at->matches]) {
		log_debug(LOG_FRAMEWORK,
			  "GoogleTest: test at 0x%llx left out: --gtest_filter",
			  (unsigned long long)info);
		return NULL;
	}
	uint32_t line;
	memcpy(&line, copy + at->line, sizeof(line));
	_cleanup_(freep) char *suite_name = NULL, *name = NULL, *file = NULL;
	_cleanup_(freep) char *full = NULL;
	TRY(gtest_string_in(run, info, copy, sizeof(copy), at->suite_name,
			    &suite_name));
	TRY(gtest_string_in(run, info, copy, sizeof(copy), at->name, &name));
	TRY(gtest_string_in(run, info, copy, sizeof(copy), at->file, &file));
	TRY(str_format(&full, "%s.%s", suite_name, name));
	TRY(run_add_test(run, full, file, line,
			 copy[at->disabled] && !copy[at->should_run], info,
			 suite));
	if (gtest_is_death_suite(suite_name))
		run_declare_priority(run, run_tests(run) - 1, 1);
	return NULL;
}

static struct err *gtest_add_suite(struct run *run, uint64_t suite)
{
	struct gtest *gtest = run->state;
	uint64_t bounds[2];
	TRY(memory_read(run->tracee, RADDR(suite + gtest->at.suite_tests),
			bounds, sizeof(bounds)));
	uint64_t n = (bounds[1] - bounds[0]) / 8;
	if (bounds[1] < bounds[0] || n > GTEST_TESTS_MAX)
		return adapter_unknown_version(
			run, "a suite's list of tests is no list");
	_cleanup_(freep) uint64_t *infos = n ? malloc(n * 8) : NULL;
	if (n && !infos)
		return err_nomem();
	if (n)
		TRY(memory_read(run->tracee, RADDR(bounds[0]), infos, n * 8));
	TRY(run_declare_group(run, suite, 0));
	for (uint64_t i = 0; i < n; i++)
		TRY(gtest_add_test(run, suite, infos[i]));
	return NULL;
}

/* By what it has for everybody, which not every version and build has. */
static struct err *gtest_list_by_calls(struct run *run, struct thread *thread,
				       bool *ret_listed)
{
	struct raddr instance, count, get;
	const struct {
		const char *symbol, *old;
		struct raddr *at;
	} needed[] = {
		{ GET_INSTANCE, GET_INSTANCE, &instance },
		{ SUITE_COUNT, SUITE_COUNT_OLD, &count },
		{ GET_SUITE, GET_SUITE_OLD, &get },
	};
	*ret_listed = false;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (!program_symbol(run->program, needed[i].symbol,
				    needed[i].at) &&
		    !program_symbol(run->program, needed[i].old, needed[i].at))
			return NULL;
	}
	uint64_t unit_test, n;
	TRY(remote_call(thread, instance, NULL, 0, CALL_LIMIT_NS, &unit_test));
	TRY(remote_call(thread, count, &unit_test, 1, CALL_LIMIT_NS, &n));
	n = (uint32_t)n;
	if (n > GTEST_SUITES_MAX)
		return adapter_unknown_version(run, "too many suites");
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t args[] = { unit_test, i };
		uint64_t suite;
		TRY(remote_call(thread, get, args, 2, CALL_LIMIT_NS, &suite));
		if (suite)
			TRY(gtest_add_suite(run, suite));
	}
	*ret_listed = true;
	return NULL;
}

static struct err *gtest_list(struct run *run, struct thread *thread)
{
	const struct gtest *gtest = run->state;
	bool listed;
	TRY(gtest_list_by_calls(run, thread, &listed));
	if (listed)
		return NULL;
	if (!gtest->unit_test)
		return adapter_function_missing(run, GET_SUITE, MISSING_HINT);
	_cleanup_(freep) uint64_t *suites = NULL;
	size_t n;
	TRY(gtest_events_suites(run, &suites, &n));
	for (size_t i = 0; i < n; i++)
		TRY(gtest_add_suite(run, suites[i]));
	return NULL;
}

/*
 * Test::Run(), which may be inlined, or where it passes SetUp() on to be
 * called: both have the object as first argument. Then come virtual functions.
 */
static struct err *gtest_on_object(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (!run->in_test || gtest->fixture.object)
		return NULL;
	TRY(fixture_of_object(run, thread_arg(thread, 0), gtest->setup_slot,
			      &gtest->fixture));
	return fixture_watch(run, &gtest->fixture, NULL);
}

/* With this breakpoint the others are not needed. */
static struct err *gtest_on_object_run(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	static const char *const others[] = { HANDLE, HANDLE_PART };
	struct raddr at;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (program_symbol(run->program, others[i], &at))
			TRY(run_unbreak(run, at));
	}
	return gtest_on_object(run, thread, arg);
}

static struct err *gtest_watch_points(struct run *run)
{
	struct gtest *gtest = run->state;
	if (!fixture_wanted(run))
		return NULL;
	gtest->setup_slot = fixture_slot(run, "_ZTVN7testing4TestE",
					 "_ZN7testing4Test5SetUpEv", 2);
	TRY(run_break_symbol(run, OBJECT_RUN, gtest_on_object_run, 0, NULL));
	TRY(run_break_symbol(run, OBJECT_RUN_PART, gtest_on_object_run, 0,
			     NULL));
	TRY(run_break_symbol(run, HANDLE, gtest_on_object, 0, NULL));
	return run_break_symbol(run, HANDLE_PART, gtest_on_object, 0, NULL);
}

static struct err *gtest_start(struct run *run, struct thread *thread)
{
	struct gtest *gtest = run->state;
	if (gtest->none_runs) {
		run->failed_outside = gtest_is_failure(gtest->set_up.type);
		TRY(calls_enter(run, thread, &gtest->suite, gtest_on_unstarted,
				0));
		return gtest_begin_unstarted(run);
	}
	TRY(gtest_watch_points(run));
	if (gtest->by_events)
		return gtest_events_start(run);
	TRY(calls_enter(run, thread, &gtest->suite, gtest_on_suite_return, 0));
	return gtest_begin_suite(run, thread);
}

static const char *const gtest_functions[] = {
	"testing::",
	"DeleteThreadLocalValue$",
	"_GLOBAL__sub_I_gtest",
	"_GLOBAL__sub_I_gmock",
	NULL,
};

const struct framework framework_gtest = {
	.name = "gtest",
	.state_size = sizeof(struct gtest),
	.body_method = "TestBody",
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_HAS(TEST_RUN, GTEST_ON_TEST_START),
		FRAMEWORK_HAS(SUITE_RUN, SUITE_RUN_OLD, GTEST_ON_TEST_END)),
	.own = {
		.title = "GoogleTest",
		.functions = gtest_functions,
		.symbols = FRAMEWORK_LIST(TEST_RUN, GET_INSTANCE, MOCK_INIT),
		.beside = FRAMEWORK_LIST("gtest-*.cc", "gmock-*.cc",
			"gtest_main.cc", "gmock_main.cc"),
		.variables = FRAMEWORK_LIST("testing::", "*::test_info_",
			"*::gtest_registering_dummy_"),
		.types = FRAMEWORK_LIST("testing::*"),
		.libraries = FRAMEWORK_LIST("libgtest", "libgmock"),
	},
	.attach = gtest_attach,
	.list = gtest_list,
	.start = gtest_start,
	.branches = true,
};

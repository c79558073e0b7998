/*
 * GoogleTest, by calls: TestSuite::Run() runs one suite with its set-up, and inside
 * it TestInfo::Run() runs one test with its fixture. Both are entered again for
 * what is wanted next. Consecutive tests of one suite share one call of
 * TestSuite::Run(), as the framework demands ("all tests in the same suite must use
 * the same fixture class").
 *
 * Seen with 1.12; see docs/frameworks.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "framework/adapter.h"
#include "framework/fixture.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define SUITE_RUN "_ZN7testing9TestSuite3RunEv"
/* gcc may inline the function's beginning and leave this for the rest. */
#define SUITE_RUN_PART SUITE_RUN ".part.0"
#define TEST_RUN "_ZN7testing8TestInfo3RunEv"
#define GET_INSTANCE "_ZN7testing8UnitTest11GetInstanceEv"
#define SUITE_COUNT "_ZNK7testing8UnitTest22total_test_suite_countEv"
#define GET_SUITE "_ZNK7testing8UnitTest12GetTestSuiteEi"
#define ADD_PART "_ZN7testing8UnitTest17AddTestPartResult"

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
#define SUITES_MAX 1000000
#define TESTS_MAX 10000000

/* testing::TestPartResult::Type */
enum { PART_NON_FATAL = 1, PART_FATAL = 2, PART_SKIP = 3 };

struct gtest_layout {
	uint64_t suite_tests;	   /* TestSuite::test_info_list_ */
	uint64_t suite_should_run; /* TestSuite::should_run_ */
	uint64_t suite_name;	   /* TestInfo::test_suite_name_ */
	uint64_t name;		   /* TestInfo::name_ */
	uint64_t file;		   /* TestInfo::location_.file */
	uint64_t line;		   /* TestInfo::location_.line */
	uint64_t should_run;	   /* TestInfo::should_run_ */
	uint64_t disabled;	   /* TestInfo::is_disabled_ */
	uint64_t matches;	   /* TestInfo::matches_filter_ */
	uint64_t parts;		   /* TestInfo::result_.test_part_results_ */
	uint64_t death_tests;	   /* TestInfo::result_.death_test_count_ */
};

struct gtest {
	struct gtest_layout at;
	struct raddr suite_run, test_run;
	struct calls suite, test;
	uint64_t group; /* the suite being run; 0: none */
	bool done;
	/* Points of a test, where they are wanted. */
	uint64_t setup_slot; /* of Test's vtable */
	struct fixture fixture;
};

static void gtest_find_layout(const struct run *run, struct gtest_layout *at)
{
	static const char *const suite = "testing::TestSuite";
	static const char *const info = "testing::TestInfo";
	const struct adapter_member rows[] = {
		{ &at->suite_tests, suite, "test_info_list_", 48, ANYWHERE },
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
	};
	adapter_find_members(run, rows, ARRAY_SIZE(rows));
}

static size_t gtest_next_in_group(struct run *run, const struct gtest *gtest)
{
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

/* The thread is at the entry of TestInfo::Run(). */
static struct err *gtest_begin_test(struct run *run, struct thread *thread,
				    size_t test)
{
	struct gtest *gtest = run->state;
	uint64_t info = run_handle(run, test);
	uint8_t yes = 1;

	if (run_again(run, test))
		TRY(gtest_clear_result(run, info));
	if (run_disabled(run, test))
		TRY(memory_write(run->tracee,
				 RADDR(info + gtest->at.should_run), &yes, 1));
	regs_set_arg(&thread->regs, 0, info);
	thread_dirty(thread);
	gtest->fixture = (struct fixture){};
	return run_begin(run);
}

static struct err *gtest_on_test_return(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	if (!calls_returned(&gtest->test, thread))
		return NULL;
	TRY(run_end(run, OUTCOME_NONE));
	size_t test = gtest_next_in_group(run, gtest);
	if (test == RUN_NONE) {
		/* The rest of the suite's own loop passes without a stop. */
		gtest->test.inside = false;
		calls_leave(thread, &gtest->test, false);
		TRY(run_unbreak(run, gtest->test.return_to));
		return calls_mute(run, gtest->test_run);
	}
	TRY(calls_again(run, thread, &gtest->test));
	return gtest_begin_test(run, thread, test);
}

static struct err *gtest_on_test(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	struct gtest *gtest = run->state;
	size_t test = gtest_next_in_group(run, gtest);
	if (test == RUN_NONE)
		return calls_skip(run, thread, 0);
	TRY(calls_enter(run, thread, &gtest->test, gtest_on_test_return, 0));
	return gtest_begin_test(run, thread, test);
}

/* The thread is at the entry of TestSuite::Run(). */
static struct err *gtest_begin_suite(struct run *run, struct thread *thread)
{
	struct gtest *gtest = run->state;
	uint8_t yes = 1;
	gtest->group = run_group(run, run_wanted(run));
	TRY(memory_write(run->tracee,
			 RADDR(gtest->group + gtest->at.suite_should_run), &yes,
			 1));
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
		/* The function or its part, whichever is really called. */
		gtest->suite_run = regs_pc(&thread->regs);
		log_debug(LOG_FRAMEWORK, "GoogleTest runs suites at 0x%llx",
			  (unsigned long long)gtest->suite_run.v);
		run_ready(run, thread);
	} else if (gtest->done)
		return calls_skip(run, thread, 0);
	return NULL;
}

/*
 * AddTestPartResult(type, file, line, message, stack): file is a pointer in
 * 1.12 (arg 0) and a string_view in later ones (arg 1).
 */
static struct err *gtest_on_part(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	uint32_t type = (uint32_t)thread_arg(thread, 1);
	if (type == 0 || type > PART_SKIP)
		return NULL;
	uint64_t file_at = thread_arg(thread, arg ? 3 : 2);
	unsigned line = (unsigned)thread_arg(thread, arg ? 4 : 3);
	_cleanup_(freep) char *file = NULL, *message = NULL;
	if (file_at)
		err_ignore(run_text(run, RADDR(file_at), &file));
	if (file && arg) {
		size_t n = MIN(thread_arg(thread, 2), strlen(file));
		file[n] = '\0';
	}
	err_ignore(run_string(run, RADDR(thread_arg(thread, arg ? 5 : 4)),
			      &message));
	if ((int)line <= 0)
		free(take_ptr(file)); /* "unknown file" */
	if (type == PART_SKIP)
		return run_skip(run, file, line, message);
	return run_fail(run, file, line, message);
}

struct gtest_part_search {
	struct run *run;
	uint64_t bias;
	struct err *err;
};

static bool gtest_visit_part(void *data, const struct object_symbol *symbol)
{
	struct gtest_part_search *search = data;
	if (!symbol->function || !str_starts(symbol->name, ADD_PART) ||
	    strstr(symbol->name, ".cold"))
		return true;
	bool view = strstr(symbol->name, "basic_string_view");
	search->err =
		run_break(search->run, RADDR(symbol->value + search->bias),
			  gtest_on_part, view);
	return false;
}

#define MISSING_HINT                                                           \
	"build it without -Wl,--gc-sections and without link-time "            \
	"optimisation"

static struct err *gtest_attach(struct run *run)
{
	struct gtest *gtest = run->state;
	const struct module *module;
	gtest_find_layout(run, &gtest->at);
	if (!program_symbol_in(run->program, TEST_RUN, &gtest->test_run,
			       &module))
		return adapter_function_missing(run, TEST_RUN, MISSING_HINT);
	TRY(run_break_symbol(run, SUITE_RUN, gtest_on_suite, 0, NULL));
	TRY(run_break_symbol(run, SUITE_RUN_PART, gtest_on_suite, 0, NULL));
	struct gtest_part_search search = { .run = run, .bias = module->bias };
	object_each_symbol(module->object, gtest_visit_part, &search);
	return search.err;
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
	if (bounds[1] < bounds[0] || n > TESTS_MAX)
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

static struct err *gtest_list(struct run *run, struct thread *thread)
{
	struct raddr instance, count, get;
	const struct {
		const char *symbol;
		struct raddr *at;
	} needed[] = {
		{ GET_INSTANCE, &instance },
		{ SUITE_COUNT, &count },
		{ GET_SUITE, &get },
	};
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (!program_symbol(run->program, needed[i].symbol,
				    needed[i].at))
			return adapter_function_missing(run, needed[i].symbol,
							MISSING_HINT);
	}
	uint64_t unit_test, n;
	TRY(remote_call(thread, instance, NULL, 0, CALL_LIMIT_NS, &unit_test));
	TRY(remote_call(thread, count, &unit_test, 1, CALL_LIMIT_NS, &n));
	n = (uint32_t)n;
	if (n > SUITES_MAX)
		return adapter_unknown_version(run, "too many suites");
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t args[] = { unit_test, i };
		uint64_t suite;
		TRY(remote_call(thread, get, args, 2, CALL_LIMIT_NS, &suite));
		if (suite)
			TRY(gtest_add_suite(run, suite));
	}
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
	TRY(gtest_watch_points(run));
	TRY(run_break(run, gtest->test_run, gtest_on_test, 0));
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
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_HAS(TEST_RUN),
		FRAMEWORK_HAS(SUITE_RUN)),
	.own = {
		.title = "GoogleTest",
		.functions = gtest_functions,
		.variables = FRAMEWORK_LIST("testing::", "*::test_info_",
			"*::gtest_registering_dummy_"),
		.files = FRAMEWORK_LIST("*/gtest*/src/*", "*/googletest/*",
			"*/googlemock/*", "*/gmock*/src/*", "*gtest-all.cc",
			"*gmock-all.cc", "*gmock-gtest-all.cc"),
		.types = FRAMEWORK_LIST("testing::*"),
		.libraries = FRAMEWORK_LIST("libgtest", "libgmock"),
	},
	.attach = gtest_attach,
	.list = gtest_list,
	.start = gtest_start,
	.branches = true,
};

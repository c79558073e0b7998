/*
 * CppUTest, by data: TestRegistry::runAllTests() walks a linked list of tests
 * (UtestShell). When a test ends, its link is changed to the next wanted test, and
 * restored when that one starts. So the framework's own loop runs the order, counts
 * and prints, a test may run twice, and a test sees the list unchanged. In the
 * suite's own order the links stay, and there is one stop per test: when one
 * starts, the previous one has ended.
 *
 * A test may run a registry of its own with a TestResult of its own (the
 * framework's TestTestingFixture). Only calls with our TestResult count.
 *
 * Seen with 4.0; see docs/frameworks.md.
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

#define RUN_ALL "_ZN12TestRegistry11runAllTestsER10TestResult"
#define TEST_STARTED "_ZN10TestResult18currentTestStartedEP10UtestShell"
#define TEST_ENDED "_ZN10TestResult16currentTestEndedEP10UtestShell"
#define TESTS_ENDED "_ZN10TestResult10testsEndedEv"
#define COUNT_IGNORED "_ZN10TestResult12countIgnoredEv"
#define ADD_FAILURE "_ZN10TestResult10addFailureERK11TestFailure"
#define MOCK "_Z4mockRK12SimpleStringP19MockFailureReporter"
#define UTEST_RUN "_ZN5Utest3runEv"
#define SHOULD_RUN "_ZNK10UtestShell9shouldRunEPK10TestFilterS2_"

#define CALL_LIMIT_NS (5 * UINT64_C(1000000000))
/* The part of a UtestShell that is read. */
#define SHELL_SIZE 64
#define ORDERED_HEAD "_ZN16OrderedTestShell17_orderedTestsHeadE"
#define TESTS_MAX 10000000

struct cpputest_layout {
	uint64_t tests;	       /* TestRegistry::tests_ */
	uint64_t name_filter;  /* TestRegistry::nameFilters_ */
	uint64_t group_filter; /* TestRegistry::groupFilters_ */
	uint64_t group;	       /* UtestShell::group_ */
	uint64_t name;	       /* UtestShell::name_ */
	uint64_t file;	       /* UtestShell::file_ */
	uint64_t line;	       /* UtestShell::lineNumber_ */
	uint64_t next;	       /* UtestShell::next_ */
	uint64_t failure_file; /* TestFailure::fileName_ */
	uint64_t failure_line; /* TestFailure::lineNumber_ */
	uint64_t failure_text; /* TestFailure::message_ */
	uint64_t setup_slot;   /* of Utest's vtable */
};

struct cpputest {
	struct cpputest_layout at;
	struct raddr run_all;
	uint64_t registry;
	uint64_t result;
	struct {
		uint64_t at; /* 0: none */
		uint64_t value;
	} link;			/* one that was changed, and what it was */
	struct fixture fixture; /* of the running test, if points are wanted */
};

static void cpputest_find_layout(const struct run *run,
				 struct cpputest_layout *at)
{
	static const char *const registry = "TestRegistry";
	static const char *const shell = "UtestShell";
	static const char *const failure = "TestFailure";
	static const uint64_t end = SHELL_SIZE - 7;
	/* After a vtable: two strings, file, line, string, line, message. */
	uint64_t string = program_type_size(run->program, "SimpleString", 16);
	const struct adapter_member rows[] = {
		{ &at->tests, registry, "tests_", 8, ANYWHERE },
		{ &at->name_filter, registry, "nameFilters_", 16, ANYWHERE },
		{ &at->group_filter, registry, "groupFilters_", 24, ANYWHERE },
		{ &at->group, shell, "group_", 8, end },
		{ &at->name, shell, "name_", 16, end },
		{ &at->file, shell, "file_", 24, end },
		{ &at->line, shell, "lineNumber_", 32, end },
		{ &at->next, shell, "next_", 40, end },
		{ &at->failure_file, failure, "fileName_", 8 + 2 * string,
		  ANYWHERE },
		{ &at->failure_line, failure, "lineNumber_", 8 + 3 * string,
		  ANYWHERE },
		{ &at->failure_text, failure, "message_", 24 + 4 * string,
		  ANYWHERE },
	};
	adapter_find_members(run, rows, ARRAY_SIZE(rows));
}

/* A SimpleString begins with a pointer to its text. */
static struct err *cpputest_simple_string(struct run *run, uint64_t address,
					  char **ret)
{
	uint64_t text;
	TRY(run_u64(run, RADDR(address), &text));
	return run_text(run, RADDR(text), ret);
}

static uint64_t cpputest_wanted_shell(const struct run *run)
{
	size_t test = run_wanted(run);
	return test == RUN_NONE ? 0 : run_handle(run, test);
}

static struct err *cpputest_on_run_all(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct cpputest *cpputest = run->state;
	if (run->order || run->ready_thread)
		return NULL;
	cpputest->registry = thread_arg(thread, 0);
	cpputest->result = thread_arg(thread, 1);
	run_ready(run, thread);
	return NULL;
}

/* Makes the loop find the next wanted test at this link. */
static struct err *cpputest_change_link(struct run *run, uint64_t at)
{
	struct cpputest *cpputest = run->state;
	TRY(run_u64(run, RADDR(at), &cpputest->link.value));
	cpputest->link.at = at;
	return memory_write_u64(run->tracee, RADDR(at),
				cpputest_wanted_shell(run));
}

static struct err *cpputest_put_link_back(struct run *run)
{
	struct cpputest *cpputest = run->state;
	uint64_t at = cpputest->link.at;
	cpputest->link.at = 0;
	return at ? memory_write_u64(run->tracee, RADDR(at),
				     cpputest->link.value)
		  : NULL;
}

static struct err *cpputest_on_test_started(struct run *run,
					    struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct cpputest *cpputest = run->state;
	uint64_t shell = thread_arg(thread, 1);
	if (!run->order || thread_arg(thread, 0) != cpputest->result ||
	    !shell || shell != cpputest_wanted_shell(run))
		return NULL;
	TRY(run_end(run, OUTCOME_NONE));
	TRY(run_begin(run));
	cpputest->fixture = (struct fixture){};
	return cpputest_put_link_back(run);
}

static struct err *cpputest_on_test_ended(struct run *run,
					  struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct cpputest *cpputest = run->state;
	uint64_t shell = thread_arg(thread, 1);
	if (!run->in_test || thread_arg(thread, 0) != cpputest->result ||
	    shell != run_handle(run, run->current))
		return NULL;
	return cpputest_change_link(run, shell + cpputest->at.next);
}

static struct err *cpputest_on_tests_ended(struct run *run,
					   struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct cpputest *cpputest = run->state;
	if (!run->order || thread_arg(thread, 0) != cpputest->result)
		return NULL;
	TRY(run_end(run, OUTCOME_NONE));
	TRY(cpputest_put_link_back(run));
	/* The program's own repetitions (-r) have nothing left to do. */
	return calls_mute(run, cpputest->run_all);
}

static struct err *cpputest_on_ignored(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct cpputest *cpputest = run->state;
	if (thread_arg(thread, 0) != cpputest->result)
		return NULL;
	return run_skip(run, NULL, 0, "ignored (IGNORE_TEST)");
}

static struct err *cpputest_on_failure(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct cpputest *cpputest = run->state;
	const struct cpputest_layout *at = &cpputest->at;
	uint64_t failure = thread_arg(thread, 1), line = 0;
	if (!run->in_test || thread_arg(thread, 0) != cpputest->result)
		return NULL;
	_cleanup_(freep) char *file = NULL, *text = NULL;
	err_ignore(
		cpputest_simple_string(run, failure + at->failure_file, &file));
	err_ignore(run_u64(run, RADDR(failure + at->failure_line), &line));
	err_ignore(
		cpputest_simple_string(run, failure + at->failure_text, &text));
	return run_fail(run, file, (unsigned)line, text);
}

/* Utest::run() calls its virtual functions. */
static struct err *cpputest_on_utest(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	struct cpputest *cpputest = run->state;
	/* A test may run other tests, by the framework's own fixture. */
	if (!run->in_test || cpputest->fixture.object)
		return NULL;
	TRY(fixture_of_object(run, thread_arg(thread, 0),
			      cpputest->at.setup_slot, &cpputest->fixture));
	return fixture_watch(run, &cpputest->fixture, NULL);
}

static struct err *cpputest_watch_points(struct run *run)
{
	struct cpputest *cpputest = run->state;
	if (!fixture_wanted(run))
		return NULL;
	cpputest->at.setup_slot =
		fixture_slot(run, "_ZTV5Utest", "_ZN5Utest5setupEv", 3);
	return run_break_symbol(run, UTEST_RUN, cpputest_on_utest, 0, NULL);
}

static struct err *cpputest_attach(struct run *run)
{
	struct cpputest *cpputest = run->state;
	cpputest_find_layout(run, &cpputest->at);
	program_symbol(run->program, RUN_ALL, &cpputest->run_all);
	TRY(run_break(run, cpputest->run_all, cpputest_on_run_all, 0));
	TRY(run_break_symbol(run, COUNT_IGNORED, cpputest_on_ignored, 0, NULL));
	return run_break_symbol(run, ADD_FAILURE, cpputest_on_failure, 0, NULL);
}

struct cpputest_filters {
	uint64_t group, name;
	struct raddr should_run;
};

/* *@ret_next: the test after it. */
static struct err *cpputest_add_test(struct run *run, struct thread *thread,
				     uint64_t shell,
				     const struct cpputest_filters *filters,
				     uint64_t *ret_next)
{
	const struct cpputest *cpputest = run->state;
	const struct cpputest_layout *at = &cpputest->at;
	uint8_t copy[SHELL_SIZE];
	TRY(memory_read(run->tracee, RADDR(shell), copy, sizeof(copy)));
	uint64_t group_at, name_at, file_at, line;
	memcpy(&group_at, copy + at->group, 8);
	memcpy(&name_at, copy + at->name, 8);
	memcpy(&file_at, copy + at->file, 8);
	memcpy(&line, copy + at->line, 8);
	memcpy(ret_next, copy + at->next, 8);

	uint64_t wanted = 1;
	if ((filters->group || filters->name) && filters->should_run.v) {
		const uint64_t args[] = { shell, filters->group,
					  filters->name };
		TRY(remote_call(thread, filters->should_run, args, 3,
				CALL_LIMIT_NS, &wanted));
	}
	if (!(wanted & 0xff)) {
		log_debug(LOG_FRAMEWORK,
			  "CppUTest: test at 0x%llx left out: -g, -n, …",
			  (unsigned long long)shell);
		return NULL;
	}
	_cleanup_(freep) char *group = NULL, *name = NULL, *file = NULL;
	_cleanup_(freep) char *full = NULL;
	TRY(run_text(run, RADDR(group_at), &group));
	TRY(run_text(run, RADDR(name_at), &name));
	TRY(run_text(run, RADDR(file_at), &file));
	TRY(str_format(&full, "%s.%s", group, name));
	return run_add_test(run, full, file, (unsigned)line, false, shell, 0);
}

/*
 * TEST_ORDERED(): tests with a level, which the framework keeps in a list of
 * their own. Tests without a level come first, then those of lower levels.
 */
static struct err *cpputest_declare_levels(struct run *run)
{
	static const char *const shell_type = "OrderedTestShell";
	uint64_t next_at = program_member(run->program, shell_type,
					  "_nextOrderedTest", 56);
	uint64_t level_at =
		program_member(run->program, shell_type, "_level", 64);
	struct raddr head;
	uint64_t shell;
	if (!program_symbol(run->program, ORDERED_HEAD, &head))
		return NULL;
	TRY(run_u64(run, head, &shell));
	for (size_t i = 0; shell && i < TESTS_MAX; i++) {
		size_t test = run_test_by_handle(run, shell);
		uint32_t level;
		TRY(run_u32(run, RADDR(shell + level_at), &level));
		TRY(run_u64(run, RADDR(shell + next_at), &shell));
		if (test != RUN_NONE) /* the user's own -g, -n, … */
			run_declare_priority(run, test,
					     INT64_C(-1) + INT32_MIN -
						     (int32_t)level);
	}
	return NULL;
}

static struct err *cpputest_list(struct run *run, struct thread *thread)
{
	const struct cpputest *cpputest = run->state;
	const struct cpputest_layout *at = &cpputest->at;
	uint64_t registry = cpputest->registry, shell;
	struct cpputest_filters filters = {};
	TRY(run_u64(run, RADDR(registry + at->tests), &shell));
	TRY(run_u64(run, RADDR(registry + at->name_filter), &filters.name));
	TRY(run_u64(run, RADDR(registry + at->group_filter), &filters.group));
	program_symbol(run->program, SHOULD_RUN, &filters.should_run);
	for (size_t n = 0; shell; n++) {
		uint64_t next;
		if (n == TESTS_MAX ||
		    run_test_by_handle(run, shell) != RUN_NONE)
			return adapter_unknown_version(
				run, "the list of tests does not end");
		struct err *err =
			cpputest_add_test(run, thread, shell, &filters, &next);
		if (err)
			return err_prefix(err, "CppUTest's test number %zu",
					  n + 1);
		shell = next;
	}
	return cpputest_declare_levels(run);
}

static struct err *cpputest_start(struct run *run, struct thread *thread)
{
	const struct cpputest *cpputest = run->state;
	(void)thread;
	TRY(run_break_symbol(run, TEST_STARTED, cpputest_on_test_started, 0,
			     NULL));
	TRY(run_break_symbol(run, TESTS_ENDED, cpputest_on_tests_ended, 0,
			     NULL));
	bool natural = run_settled(run) && adapter_runs_naturally(run);
	log_debug(LOG_FRAMEWORK, "CppUTest: links between tests %s",
		  natural ? "stay" : "are changed");
	if (!natural)
		TRY(run_break_symbol(run, TEST_ENDED, cpputest_on_test_ended, 0,
				     NULL));
	TRY(cpputest_watch_points(run));
	return cpputest_change_link(run,
				    cpputest->registry + cpputest->at.tests);
}

/* clang-format off */
static const char *const cpputest_functions[] = {
	"AccountingTestMemoryAllocator::", "BinaryEqualFailure::",
	"BitsEqualFailure::", "CheckEqualFailure::", "CheckFailure::",
	"CodeMemoryReportFormatter::", "CommandLineArguments::",
	"CommandLineTestRunner::", "ComparisonFailure::",
	"CompositeTestOutput::", "ConsoleTestOutput::", "ContainsFailure::",
	"CrashOnAllocationAllocator::", "DoublesEqualFailure::",
	"EqualsFailure::", "ExecFunction::", "ExecFunctionTest::",
	"ExecFunctionTestShell::", "ExecFunctionWithoutParameters::",
	"FailFailure::", "FailableMemoryAllocator::",
	"FeatureUnsupportedFailure::", "GlobalMemoryAccountant::",
	"GlobalMemoryAllocatorStash::", "GlobalSimpleStringAllocatorStash::",
	"GlobalSimpleStringCache::", "GlobalSimpleStringMemoryAccountant::",
	"IEEE754ExceptionsPlugin::", "IgnoredUtestShell::",
	"JUnitTestOutput::", "LongLongsEqualFailure::", "LongsEqualFailure::",
	"MemoryAccountant::", "MemoryLeakAllocator::", "MemoryLeakDetector::",
	"MemoryLeakDetectorList::", "MemoryLeakDetectorNode::",
	"MemoryLeakDetectorTable::", "MemoryLeakOutputStringBuffer::",
	"MemoryLeakWarningPlugin::", "MemoryLeakWarningReporter::",
	"MemoryReportAllocator::", "MemoryReporterPlugin::",
	"MockActualCall::", "MockActualCallTrace::",
	"MockCFunctionComparatorNode::", "MockCFunctionCopierNode::",
	"MockCallOrderFailure::", "MockCheckedActualCall::",
	"MockCheckedExpectedCall::", "MockExpectedCall::",
	"MockExpectedCallsDidntHappenFailure::", "MockExpectedCallsList::",
	"MockExpectedObjectDidntHappenFailure::",
	"MockExpectedParameterDidntHappenFailure::", "MockFailure::",
	"MockFailureReporter::", "MockFailureReporterForInCOnlyCode::",
	"MockFailureReporterTestTerminator::",
	"MockFailureReporterTestTerminatorForInCOnlyCode::",
	"MockFunctionCopier::", "MockIgnoredActualCall::",
	"MockIgnoredExpectedCall::", "MockNamedValue::",
	"MockNamedValueComparatorsAndCopiersRepository::",
	"MockNamedValueList::", "MockNamedValueListNode::",
	"MockNoWayToCompareCustomTypeFailure::",
	"MockNoWayToCopyCustomTypeFailure::", "MockSupport::",
	"MockSupportPlugin::", "MockSupportPluginReporter::",
	"MockUnexpectedCallHappenedFailure::",
	"MockUnexpectedInputParameterFailure::",
	"MockUnexpectedObjectFailure::",
	"MockUnexpectedOutputParameterFailure::",
	"NormalMemoryReportFormatter::", "NormalTestTerminator::",
	"NullTestPlugin::", "NullUnknownAllocator::", "OrderedTestInstaller::",
	"OrderedTestShell::", "OutsideTestRunnerUTest::", "ScopedMutexLock::",
	"SetPointerPlugin::", "SignedBytesEqualFailure::", "SimpleMutex::",
	"SimpleString::", "SimpleStringBuffer::",
	"SimpleStringCacheAllocator::", "SimpleStringCollection::",
	"SimpleStringInternalCache::", "StringBufferTestOutput::",
	"StringEqualFailure::", "StringEqualNoCaseFailure::",
	"TeamCityTestOutput::", "TestFailure::", "TestFilter::",
	"TestInstaller::", "TestMemoryAllocator::", "TestOutput::",
	"TestPlugin::", "TestRegistry::", "TestResult::", "TestTerminator::",
	"TestTerminatorWithoutExceptions::", "TestTestingFixture::",
	"UnsignedLongLongsEqualFailure::", "UnsignedLongsEqualFailure::",
	"Utest::", "UtestShell::", "UtestShellPointerArray::", "cpputest_",
	"CHECK_C_LOCATION", "CHECK_EQUAL_C_", "FAIL_C_", "FAIL_TEXT_C_",
	"helperDoRunOneTest", "helperDoTest", "PlatformSpecific",
	"PThreadMutex", "TimeInMillisImplementation$",
	"TimeStringImplementation$", "mock_c$", "mock_scope_c$",
	"_Z4mockRK12SimpleString", "_Z10StringFrom", "_Z13HexStringFrom",
	"_Z16StringFrom", "_Z17VStringFromFormat", "_Z26BracketsFormatted",
	"_Z30BracketsFormatted", "_ZeqRK12SimpleString",
	"_ZneRK12SimpleString", "_Z13doubles_equalddd$",
	"_Z13CppUTestStorePPv",
	NULL,
};
/* clang-format on */

const struct framework framework_cpputest = {
	.name = "cpputest",
	.state_size = sizeof(struct cpputest),
	.body_method = "testBody",
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_HAS(RUN_ALL),
		FRAMEWORK_HAS(TEST_STARTED),
		FRAMEWORK_HAS(TEST_ENDED),
		FRAMEWORK_HAS(TESTS_ENDED),
		FRAMEWORK_USES("_ZN10UtestShellC2Ev", "_ZN10UtestShellC1Ev",
			       "_ZN17IgnoredUtestShellC2Ev", RUN_ALL)),
	.own = {
		.title = "CppUTest",
		.functions = cpputest_functions,
		.symbols = FRAMEWORK_LIST(RUN_ALL, MOCK,
			"PlatformSpecificSetJmpImplementation"),
		.beside = FRAMEWORK_LIST("*.cpp"),
		.variables = FRAMEWORK_LIST("CppUTest", "TestRegistry::",
			"UtestShell::", "MemoryLeakWarningPlugin::",
			"SetPointerPlugin::"),
		.types = FRAMEWORK_LIST("UtestShell", "TestResult"),
		.libraries = FRAMEWORK_LIST("libCppUTest"),
	},
	.attach = cpputest_attach,
	.list = cpputest_list,
	.start = cpputest_start,
	.branches = true,
};

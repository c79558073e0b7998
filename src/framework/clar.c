/*
 * clar, by calls: clar_run_suite() runs the tests of one suite, which it is given
 * as a struct. It gets one of ours, with one test, for each wanted test. In it, the
 * first function of the test (its set-up, or the test itself) and its clean-up are
 * replaced by functions of ours: the test begins at the one and ends with the
 * other. What the framework does around that, such as a folder for each test,
 * belongs to no test.
 *
 * The tests are found by a run in which every call returns immediately: then the
 * program's own options, which may leave out suites and tests, have had their say.
 *
 * The framework keeps a report of each test. It is the last one, which a variable
 * without a type name points to, so it is found by what it says: the names of the
 * test and its suite.
 *
 * Seen with the versions of 2020, 2024 and 2026; see docs/frameworks.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "framework/adapter.h"
#include "framework/stand_in.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define VARIABLE_WORDS 64 /* of _clar that are looked at */
#define REPORT_WORDS 3	  /* test, number, suite */
#define SUITE_TESTS_MAX 1000000

/* enum cl_test_status */
enum { CLAR_OK, CLAR_FAILURE, CLAR_SKIP, CLAR_NOTRUN };

struct clar_function { /* struct clar_func */
	uint64_t name, function;
};

struct clar_suite {
	uint64_t name;
	struct clar_function initialize, cleanup;
	uint64_t tests, tests_n;
	uint64_t enabled; /* an int, and padding */
};

/* What clar_run_suite() gets: a suite and its only test. */
struct clar_own {
	struct clar_suite suite;
	struct clar_function test;
};

enum { STUB_BEGIN, STUB_BODY, STUB_CLEANUP, STUBS };

struct clar_layout {
	uint64_t status, errors;		   /* struct clar_report */
	uint64_t file, line, message, description; /* struct clar_error */
};

struct clar {
	struct clar_layout at;
	struct calls call;
	struct raddr function; /* clar_run_suite() */
	struct raddr variable; /* _clar */
	struct raddr stubs;
	uint64_t own;	      /* a struct clar_own */
	size_t report_word;   /* which of it points to the last report */
	size_t position;      /* in the order, of the test that was asked for */
	uint64_t name, suite; /* texts: names of the running test */
	struct stand_in test; /* what functions of ours stand for in it */
	struct calls cleanup; /* its clean-up */
};

/* What clar_run_suite() does with its filter: "suite::begin" or "suite::name$". */
static bool clar_is_selected(const char *filter, size_t suite_n,
			     const char *test)
{
	if (!filter || strlen(filter) <= suite_n)
		return true;
	filter += suite_n;
	while (*filter == ':')
		filter++;
	size_t n = strlen(filter);
	if (n && filter[n - 1] == '$')
		return strlen(test) == n - 1 &&
		       strncmp(test, filter, n - 1) == 0;
	return strncmp(test, filter, n) == 0;
}

static struct err *clar_add_test(struct run *run, const char *suite_name,
				 const char *filter, uint64_t suite,
				 uint64_t at)
{
	struct clar_function test;
	_cleanup_(freep) char *name = NULL, *full = NULL;
	const char *file = NULL;
	unsigned line = 0;
	TRY(memory_read(run->tracee, RADDR(at), &test, sizeof(test)));
	TRY(run_text(run, RADDR(test.name), &name));
	if (!clar_is_selected(filter, strlen(suite_name), name))
		return NULL;
	TRY(str_format(&full, "%s::%s", suite_name, name));
	program_function_place(run->program, RADDR(test.function), &file,
			       &line);
	return run_add_test(run, full, file, line, false, at, suite);
}

/* The thread is at the entry of clar_run_suite(suite, filter). */
static struct err *clar_discover(struct run *run, struct thread *thread)
{
	uint64_t at = thread_arg(thread, 0), filter_at = thread_arg(thread, 1);
	struct clar_suite suite;
	_cleanup_(freep) char *name = NULL, *filter = NULL;
	TRY(memory_read(run->tracee, RADDR(at), &suite, sizeof(suite)));
	TRY(run_text(run, RADDR(suite.name), &name));
	if (filter_at)
		TRY(run_text(run, RADDR(filter_at), &filter));
	if (suite.tests_n > SUITE_TESTS_MAX)
		return adapter_unknown_version(run,
					       "a suite with too many tests");
	for (uint64_t i = 0; (uint32_t)suite.enabled && i < suite.tests_n; i++)
		TRY(clar_add_test(run, name, filter, at,
				  suite.tests +
					  i * sizeof(struct clar_function)));
	return calls_skip_void(run, thread);
}

/*
 * Looks among the first words of _clar for the one that points to the report of
 * the running test. The first report ever is pointed to, too, before the last one.
 */
static size_t clar_find_report_word(struct run *run)
{
	const struct clar *clar = run->state;
	uint64_t words[VARIABLE_WORDS] = {};
	size_t found = 0;
	memory_read_some(run->tracee, clar->variable, words, sizeof(words));
	for (size_t i = 1; i < VARIABLE_WORDS; i++) {
		uint64_t report[REPORT_WORDS];
		if (words[i] &&
		    memory_read_some(run->tracee, RADDR(words[i]), report,
				     sizeof(report)) == sizeof(report) &&
		    report[0] == clar->name && report[2] == clar->suite)
			found = i;
	}
	return found;
}

static struct err *clar_find_report(struct run *run, uint64_t *ret)
{
	struct clar *clar = run->state;
	if (!clar->report_word)
		clar->report_word = clar_find_report_word(run);
	if (!clar->report_word)
		return adapter_unknown_version(run, "no report of a test");
	return run_u64(run, raddr_add(clar->variable, clar->report_word * 8),
		       ret);
}

static struct err *clar_read_text(struct run *run, uint64_t at, char **ret)
{
	uint64_t text;
	TRY(run_u64(run, RADDR(at), &text));
	return text ? run_text(run, RADDR(text), ret) : NULL;
}

/* The first failure of a report. */
static struct err *clar_note_failure(struct run *run, uint64_t report)
{
	const struct clar *clar = run->state;
	const struct clar_layout *at = &clar->at;
	_cleanup_(freep) char *file = NULL, *message = NULL, *more = NULL;
	_cleanup_(freep) char *both = NULL;
	uint64_t error = 0;
	uint32_t line = 0;
	err_ignore(run_u64(run, RADDR(report + at->errors), &error));
	if (error) {
		err_ignore(clar_read_text(run, error + at->file, &file));
		err_ignore(run_u32(run, RADDR(error + at->line), &line));
		err_ignore(clar_read_text(run, error + at->message, &message));
		err_ignore(clar_read_text(run, error + at->description, &more));
	}
	if (message && more)
		TRY(str_format(&both, "%s: %s", message, more));
	return run_fail(run, file, line, both ? both : message);
}

static struct err *clar_judge_test(struct run *run)
{
	const struct clar *clar = run->state;
	uint64_t report;
	uint32_t status;
	TRY(clar_find_report(run, &report));
	TRY(run_u32(run, RADDR(report + clar->at.status), &status));
	if (status == CLAR_FAILURE)
		return clar_note_failure(run, report);
	return status == CLAR_SKIP ? run_skip(run, NULL, 0, NULL) : NULL;
}

static struct err *clar_end_test(struct run *run)
{
	TRY(clar_judge_test(run));
	return run_end(run, OUTCOME_NONE);
}

/* In place of the test's first function. */
static struct err *clar_on_begin(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	struct clar *clar = run->state;
	if (!calls_nested(&clar->call, thread) || run->in_test)
		return NULL;
	calls_instead(thread, RADDR(clar->test.begin));
	TRY(run_begin(run));
	return stand_in_begun(run, &clar->test);
}

/* In place of the test itself, where the point before it is wanted. */
static struct err *clar_on_body(struct run *run, struct thread *thread,
				uint64_t arg)
{
	(void)arg;
	const struct clar *clar = run->state;
	return stand_in_point(run, thread, &clar->test, SUITE_AFTER_SETUP);
}

static struct err *clar_on_cleaned(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct clar *clar = run->state;
	if (!calls_returned(&clar->cleanup, thread))
		return NULL;
	clar->cleanup.inside = false;
	return clar_end_test(run);
}

/* In place of the test's clean-up, which it may not have. */
static struct err *clar_on_cleanup(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct clar *clar = run->state;
	if (!calls_nested(&clar->call, thread) || !run->in_test)
		return NULL;
	TRY(run_point(run, SUITE_BEFORE_TEARDOWN));
	if (!clar->test.teardown)
		return clar_end_test(run);
	TRY(calls_enter(run, thread, &clar->cleanup, clar_on_cleaned, 0));
	calls_instead(thread, RADDR(clar->test.teardown));
	return NULL;
}

static uint64_t clar_stub_address(const struct clar *clar, int index)
{
	return clar->stubs.v + (uint64_t)index * CALLS_STUB_SIZE;
}

/* The thread is at the entry of clar_run_suite(): it gets a suite of one test. */
static struct err *clar_lead_to_test(struct run *run, struct thread *thread,
				     size_t test)
{
	struct clar *clar = run->state;
	const struct stand_in_stubs stubs = {
		.begin = clar_stub_address(clar, STUB_BEGIN),
		.body = clar_stub_address(clar, STUB_BODY),
	};
	struct clar_own own;
	uint64_t nothing = 0;
	TRY(memory_read(run->tracee, RADDR(run_group(run, test)), &own.suite,
			sizeof(own.suite)));
	TRY(memory_read(run->tracee, RADDR(run_handle(run, test)), &own.test,
			sizeof(own.test)));
	clar->name = own.test.name;
	clar->suite = own.suite.name;
	clar->test =
		stand_in_replace(run, &stubs, &own.suite.initialize.function,
				 &own.test.function, &nothing);
	clar->test.teardown = own.suite.cleanup.function;
	own.suite.cleanup.function = clar_stub_address(clar, STUB_CLEANUP);
	own.suite.tests = clar->own + offsetof(struct clar_own, test);
	own.suite.tests_n = 1;
	TRY(memory_write(run->tracee, RADDR(clar->own), &own, sizeof(own)));
	regs_set_arg(&thread->regs, 0, clar->own);
	regs_set_arg(&thread->regs, 1, 0);
	thread_dirty(thread);
	clar->position = run->next;
	return NULL;
}

static struct err *clar_on_return(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)arg;
	struct clar *clar = run->state;
	if (!calls_returned(&clar->call, thread))
		return NULL;
	if (run->next == clar->position) { /* it was not begun */
		TRY(run_begin(run));
		TRY(run_skip(run, NULL, 0,
			     "left out by the program's own options"));
		TRY(run_end(run, OUTCOME_NONE));
	}
	size_t test = run_wanted(run);
	if (test != RUN_NONE) {
		TRY(calls_again(run, thread, &clar->call));
		return clar_lead_to_test(run, thread, test);
	}
	clar->call.inside = false;
	calls_leave(thread, &clar->call, false);
	/* The suites that the program has left to run are done. */
	TRY(run_unbreak(run, clar->call.return_to));
	return calls_mute(run, clar->function);
}

static struct err *clar_on_suite(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	const struct clar *clar = run->state;
	if (calls_nested(&clar->call, thread))
		return NULL;
	if (run->discovering && run->ready_thread)
		return clar_discover(run, thread);
	if (!run->order)
		run_ready(run, thread);
	return NULL;
}

static struct err *clar_attach(struct run *run)
{
	struct clar *clar = run->state;
	static const char *const report = "clar_report", *const error =
								 "clar_error";
	const struct adapter_member rows[] = {
		{ &clar->at.status, report, "status", 24, ANYWHERE },
		{ &clar->at.errors, report, "errors", 48, ANYWHERE },
		{ &clar->at.file, error, "file", 0, ANYWHERE },
		{ &clar->at.line, error, "line_number", 16, ANYWHERE },
		{ &clar->at.message, error, "error_msg", 24, ANYWHERE },
		{ &clar->at.description, error, "description", 32, ANYWHERE },
	};
	adapter_find_members(run, rows, ARRAY_SIZE(rows));
	if (!program_symbol(run->program, "_clar", &clar->variable))
		return adapter_function_missing(run, "_clar",
						"do not strip the program");
	if (!program_symbol(run->program, "clar_run_suite", &clar->function))
		return adapter_function_missing(
			run, "clar_run_suite",
			"build it without link-time optimisation");
	return run_break(run, clar->function, clar_on_suite, 0);
}

static struct err *clar_start(struct run *run, struct thread *thread)
{
	static run_hook *const hooks[STUBS] = {
		[STUB_BEGIN] = clar_on_begin,
		[STUB_BODY] = clar_on_body,
		[STUB_CLEANUP] = clar_on_cleanup,
	};
	struct clar *clar = run->state;
	struct raddr own;
	size_t test = run_wanted(run);
	if (test == RUN_NONE)
		return NULL;
	TRY(remote_map(thread, sizeof(struct clar_own), &own));
	clar->own = own.v;
	TRY(calls_stubs(thread, STUBS, &clar->stubs));
	for (int i = 0; i < STUBS; i++)
		TRY(run_break(run, RADDR(clar_stub_address(clar, i)), hooks[i],
			      0));
	TRY(calls_enter(run, thread, &clar->call, clar_on_return, 0));
	return clar_lead_to_test(run, thread, test);
}

const struct framework framework_clar = {
	.name = "clar",
	.state_size = sizeof(struct clar),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_USES("clar_run_suite"),
		FRAMEWORK_HAS("_clar_suites")),
	.own = {
		.title = "clar",
		.functions = FRAMEWORK_LIST("clar_", "cl_fixture",
			"cl_fs_cleanup$", "cl_sandbox$", "cl_set_cleanup$",
			"cl_trace_register$", "abort_test$", "fs_rm$",
			"fs_copy$"),
		.symbols = FRAMEWORK_LIST("clar_test_init", "clar_test_run",
			"clar_run_suite", "clar_sandbox", "clar__fail"),
		.variables = FRAMEWORK_LIST("_clar"),
	},
	.attach = clar_attach,
	.discover = clar_discover,
	.start = clar_start,
	.branches = true,
};

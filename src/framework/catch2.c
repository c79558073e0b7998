/*
 * Catch2, version 2 (one header) and version 3 (a library), by calls:
 * RunContext::runTest() runs one test case with all its sections and generators,
 * and is entered again for each wanted test. It returns what the test added to the
 * totals, which is how it ended.
 *
 * Both versions work the same way. In version 2 the argument is a TestCase that
 * contains its description, in version 3 a pair of pointers to description and
 * invoker.
 *
 * Seen with 2.13.10, 3.0.1 and 3.7.1; see docs/frameworks.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/log.h"
#include "base/str.h"
#include "framework/adapter.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define RUN_TEST_2 "_ZN5Catch10RunContext7runTestERKNS_8TestCaseE"
#define RUN_TEST_3 "_ZN5Catch10RunContext7runTestERKNS_14TestCaseHandleE"
#define ALL_TESTS "_ZNK5Catch12TestRegistry17getAllTestsSortedERKNS_7IConfigE"
#define ASSERTION_ENDED "_ZN5Catch10RunContext14assertionEnded"
#define RECONSTRUCT "_ZNK5Catch19AssertionResultData21reconstructExpression"
#define HANDLE_MESSAGE "_ZN5Catch10RunContext13handleMessage"
#define LAST_RESULT "_ZNK5Catch10RunContext13getLastResultEv"
#define POPULATE                                                               \
	"_ZN5Catch10RunContext16populateReactionERNS_17AssertionReactionE"
#define DEBUG_BREAK "_ZNK5Catch6Config16shouldDebugBreakEv"
#define ABORT_AFTER "_ZNK5Catch6Config10abortAfterEv"
#define DEBUGGER_ACTIVE "_ZN5Catch16isDebuggerActiveEv"
/* Came with 3.3, as did the count of skipped tests. */
#define SKIP_EXCEPTION "_ZTIN5Catch17TestSkipExceptionE"

#define CALL_LIMIT_NS (5 * UINT64_C(1000000000))
#define TESTS_MAX 10000000
/* After this many stops for assertions that hold, stop only for failures. */
#define HELD_MAX 16
#define TOTALS_MAX 64
/* How far after the start of a RunContext its owner's set is searched for. */
#define CONTEXT_MAX 4096

/* Catch::TestCaseInfo::SpecialProperties, Catch::TestCaseProperties */
enum { HIDDEN = 1 << 1, SHOULD_FAIL = 1 << 2, MAY_FAIL = 1 << 3 };

/* Catch::ResultWas */
enum {
	RESULT_SKIP = 4,
	RESULT_FAILURE = 0x10, /* bit */
	RESULT_NOT_TRUE = 0x11,
	RESULT_THREW = 0x111,
	RESULT_DID_NOT_THROW = 0x112,
	RESULT_FATAL = 0x210, /* a signal */
};

/* Catch::ResultDisposition */
enum { DISPOSITION_SUPPRESS_FAIL = 8 };

struct catch2_layout {
	uint64_t test_size; /* TestCase, TestCaseHandle */
	bool test_points;   /* the description is reached through a pointer */
	uint64_t name, file, line, properties; /* TestCaseInfo */
	uint64_t totals_size;
	uint64_t failed_assertions; /* Totals */
	uint64_t failed, skipped;   /* Totals::testCases; 0: no such thing */
	uint64_t macro, expression; /* AssertionResult::m_info */
	uint64_t at_file, at_line, disposition;
	uint64_t message, type; /* AssertionResult::m_resultData */
};

struct catch2 {
	struct catch2_layout at;
	struct raddr run_test, reconstruct;
	struct calls test, all, limit, expansion;
	uint64_t tests;	   /* the vector of all tests */
	uint64_t n_failed; /* assertions, for the exit status */
	unsigned held;	   /* assertions reported although they hold */
	bool limited;	   /* the user limits the number of failures */
};

/* False: it makes no sense. */
static bool catch2_find_layout(const struct run *run, bool version_3,
			       struct catch2_layout *at)
{
	static const char *const info = "Catch::TestCaseInfo";
	static const char *const totals = "Catch::Totals";
	static const char *const result = "Catch::AssertionResult";
	struct raddr ignored;
	bool skips = program_symbol(run->program, SKIP_EXCEPTION, &ignored);
	bool old = !version_3;
	const struct adapter_member rows[] = {
		{ &at->test_size, "Catch::TestCase", NULL, 184, ANYWHERE },
		{ &at->name, info, "name", 0, ANYWHERE },
		{ &at->file, info, "lineInfo.file", old ? 144 : 104, ANYWHERE },
		{ &at->line, info, "lineInfo.line", old ? 152 : 112, ANYWHERE },
		{ &at->properties, info, "properties", old ? 160 : 120,
		  ANYWHERE },
		{ &at->totals_size, totals, NULL,
		  old	  ? 56
		  : skips ? 64
			  : 48,
		  ANYWHERE },
		{ &at->failed_assertions, totals, "assertions.failed",
		  old ? 16 : 8, ANYWHERE },
		{ &at->failed, totals, "testCases.failed",
		  old || skips ? 40 : 32, ANYWHERE },
		{ &at->skipped, totals, "testCases.skipped", skips ? 56 : 0,
		  ANYWHERE },
		{ &at->macro, result, "m_info.macroName", 0, ANYWHERE },
		{ &at->at_file, result, "m_info.lineInfo.file", 16, ANYWHERE },
		{ &at->at_line, result, "m_info.lineInfo.line", 24, ANYWHERE },
		{ &at->expression, result, "m_info.capturedExpression", 32,
		  ANYWHERE },
		{ &at->disposition, result, "m_info.resultDisposition", 48,
		  ANYWHERE },
		{ &at->message, result, "m_resultData.message", 56, ANYWHERE },
		{ &at->type, result, "m_resultData.resultType", 136, ANYWHERE },
	};
	adapter_find_members(run, rows, ARRAY_SIZE(rows));
	at->test_points = version_3;
	if (version_3)
		at->test_size = 16; /* TestCaseHandle */
	return at->totals_size <= TOTALS_MAX &&
	       at->failed + 8 <= at->totals_size &&
	       at->skipped + 8 <= at->totals_size &&
	       at->failed_assertions + 8 <= at->totals_size;
}

/* The thread is at the entry of runTest(result, this, test). */
static struct err *catch2_begin_test(struct run *run, struct thread *thread,
				     size_t test)
{
	struct catch2 *catch2 = run->state;
	catch2->expansion.inside = false;
	regs_set_arg(&thread->regs, 2, run_handle(run, test));
	thread_dirty(thread);
	return run_begin(run);
}

static struct err *catch2_read_place(struct run *run, uint64_t info,
				     char **ret_file, unsigned *ret_line)
{
	const struct catch2 *catch2 = run->state;
	uint64_t file, line;
	TRY(run_u64(run, RADDR(info + catch2->at.file), &file));
	TRY(run_u64(run, RADDR(info + catch2->at.line), &line));
	TRY(run_text(run, RADDR(file), ret_file));
	*ret_line = (unsigned)line;
	return NULL;
}

static struct err *catch2_find_info(struct run *run, uint64_t test,
				    uint64_t *ret)
{
	const struct catch2 *catch2 = run->state;
	if (catch2->at.test_points)
		return run_u64(run, RADDR(test), ret);
	*ret = test;
	return NULL;
}

/* Failed by the totals, but no assertion did. */
static struct err *catch2_fail_without_assertion(struct run *run)
{
	uint64_t info;
	_cleanup_(freep) char *file = NULL;
	unsigned line;
	bool should_fail = run_group(run, run->current) & SHOULD_FAIL;
	TRY(catch2_find_info(run, run_handle(run, run->current), &info));
	TRY(catch2_read_place(run, info, &file, &line));
	return run_fail(run, file, line,
			should_fail ? "was expected to fail but passed"
				    : "no assertions in the test case");
}

static struct err *catch2_end_test(struct run *run, struct raddr result)
{
	struct catch2 *catch2 = run->state;
	const struct catch2_layout *at = &catch2->at;
	uint64_t totals[TOTALS_MAX / 8] = {};
	TRY(memory_read(run->tracee, result, totals, at->totals_size));
	catch2->n_failed += totals[at->failed_assertions / 8];
	if (!run->in_test)
		return NULL;
	if (totals[at->failed / 8]) {
		if (run->outcome != OUTCOME_FAIL)
			TRY(catch2_fail_without_assertion(run));
		return run_end(run, OUTCOME_FAIL);
	}
	return run_end(run, at->skipped && totals[at->skipped / 8]
				    ? OUTCOME_SKIP
				    : OUTCOME_PASS);
}

static struct err *catch2_on_test_return(struct run *run, struct thread *thread,
					 uint64_t arg)
{
	(void)arg;
	struct catch2 *catch2 = run->state;
	if (!calls_returned(&catch2->test, thread))
		return NULL;
	struct raddr result = RADDR(regs_result(&thread->regs));
	TRY(catch2_end_test(run, result));
	size_t test = run_wanted(run);
	if (test != RUN_NONE) {
		TRY(calls_again(run, thread, &catch2->test));
		return catch2_begin_test(run, thread, test);
	}
	/* The one call that the framework sees counts for all of them. */
	TRY(memory_write_u64(
		run->tracee,
		raddr_add(result, (int64_t)catch2->at.failed_assertions),
		catch2->n_failed));
	catch2->test.inside = false;
	calls_leave(thread, &catch2->test, true);
	TRY(run_unbreak(run, catch2->test.return_to));
	return calls_mute_struct(run, catch2->run_test,
				 (uint8_t)catch2->at.totals_size);
}

static struct err *catch2_on_test(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)arg;
	run_ready(run, thread);
	return NULL;
}

static struct err *catch2_on_all_return(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct catch2 *catch2 = run->state;
	if (calls_returned(&catch2->all, thread)) {
		catch2->all.inside = false;
		catch2->tests = regs_result(&thread->regs);
	}
	return NULL;
}

/* Asked for a few times before the tests; the last answer is the one run. */
static struct err *catch2_on_all(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	struct catch2 *catch2 = run->state;
	return calls_enter(run, thread, &catch2->all, catch2_on_all_return, 0);
}

static struct err *catch2_on_limit_return(struct run *run,
					  struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct catch2 *catch2 = run->state;
	if (!calls_returned(&catch2->limit, thread))
		return NULL;
	catch2->limit.inside = false;
	TRY(run_unbreak(run, catch2->limit.return_to));
	catch2->limited = (int32_t)regs_result(&thread->regs) != -1;
	if (catch2->limited)
		log_debug(LOG_FRAMEWORK,
			  "Catch2: the limit of failures (-a, -x) is lifted");
	return catch2->limited
		       ? NULL
		       : run_unbreak(run, regs_pc(&catch2->limit.entry));
}

/*
 * Config::abortAfter(): with a limit (-a, -x), tests that run after it is
 * reached would be cut short. It is called before each test. Where there is no
 * limit, which is usual, there are no more stops here. Where the call was
 * inlined, catch2_lift_limit() does it.
 */
static struct err *catch2_on_limit(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	struct catch2 *catch2 = run->state;
	if (catch2->limited)
		return calls_skip(run, thread, (uint64_t)-1);
	return calls_enter(run, thread, &catch2->limit, catch2_on_limit_return,
			   0);
}

/* "4 == 5", made when the reporter asks for it. */
static struct err *
catch2_on_expansion_return(struct run *run, struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct catch2 *catch2 = run->state;
	if (!calls_returned(&catch2->expansion, thread))
		return NULL;
	catch2->expansion.inside = false;
	_cleanup_(freep) char *expansion = NULL, *text = NULL;
	err_ignore(
		run_string(run, RADDR(regs_result(&thread->regs)), &expansion));
	if (expansion && *expansion && run->message &&
	    !strstr(run->message, expansion) &&
	    asprintf(&text, "%s with expansion: %s", run->message, expansion) >=
		    0) {
		free(run->message);
		run->message = take_ptr(text);
	}
	return run_unbreak(run, catch2->expansion.return_to);
}

static struct err *catch2_on_expansion(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct catch2 *catch2 = run->state;
	TRY(run_unbreak(run, catch2->reconstruct));
	return calls_enter(run, thread, &catch2->expansion,
			   catch2_on_expansion_return, 0);
}

/* The message of a failed assertion. */
static struct err *catch2_describe_failure(struct run *run, uint64_t result,
					   uint32_t type, char **ret)
{
	const struct catch2 *catch2 = run->state;
	_cleanup_(freep) char *macro = NULL, *expression = NULL;
	_cleanup_(freep) char *message = NULL;
	/* Catch::StringRef begins as std::string does: pointer, length. */
	TRY(run_string(run, RADDR(result + catch2->at.macro), &macro));
	TRY(run_string(run, RADDR(result + catch2->at.expression),
		       &expression));
	TRY(run_string(run, RADDR(result + catch2->at.message), &message));

	_cleanup_(str_freep) struct str text = STR_INIT;
	/* Outside an assertion there is no macro or no expression. */
	if (*macro && *expression)
		TRY(str_appendf(&text, "%s( %s )", macro, expression));
	if (type == RESULT_THREW)
		TRY(str_appendf(&text, "%sunexpected exception",
				text.n ? ": " : ""));
	else if (type == RESULT_DID_NOT_THROW)
		TRY(str_appendf(&text, ": no exception was thrown"));
	if (*message)
		TRY(str_appendf(&text, "%s%s", text.n ? ": " : "", message));
	if (!text.n)
		TRY(str_append(&text, *macro ? macro : "failed"));
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

/* Notes what a Catch::AssertionResult says against the running test. */
static struct err *catch2_note_result(struct run *run, uint64_t result,
				      uint32_t *ret_type)
{
	const struct catch2 *catch2 = run->state;
	const struct catch2_layout *at = &catch2->at;
	uint64_t file_at, line;
	uint32_t type, disposition;
	TRY(run_u32(run, RADDR(result + at->type), &type));
	TRY(run_u32(run, RADDR(result + at->disposition), &disposition));
	*ret_type = type;
	bool skip = type == RESULT_SKIP, failure = type & RESULT_FAILURE;
	bool may_fail = run_group(run, run->current) & (MAY_FAIL | SHOULD_FAIL);
	if (!skip && (!failure || type == RESULT_FATAL || may_fail ||
		      disposition & DISPOSITION_SUPPRESS_FAIL))
		return NULL;

	_cleanup_(freep) char *file = NULL, *message = NULL;
	TRY(run_u64(run, RADDR(result + at->at_file), &file_at));
	TRY(run_u64(run, RADDR(result + at->at_line), &line));
	err_ignore(run_text(run, RADDR(file_at), &file));
	err_ignore(catch2_describe_failure(run, result, type, &message));
	if (skip)
		return run_skip(run, file, (unsigned)line, message);
	return run_fail(run, file, (unsigned)line, message);
}

/*
 * Populating the reaction to a failed assertion, or a part of that where it
 * was inlined: the result is the context's last.
 */
static struct err *catch2_on_reaction(struct run *run, struct thread *thread,
				      uint64_t arg)
{
	(void)arg;
	struct catch2 *catch2 = run->state;
	const uint64_t context = regs_arg(&catch2->test.entry, 1);
	struct raddr get;
	uint64_t result;
	uint32_t type;
	if (!run->in_test || run->outcome == OUTCOME_FAIL ||
	    !program_symbol(run->program, LAST_RESULT, &get))
		return NULL;
	TRY(remote_call(thread, get, &context, 1, CALL_LIMIT_NS, &result));
	return result ? catch2_note_result(run, result, &type) : NULL;
}

/* handleMessage(this, info, type, …): nothing else reports skips then. */
static struct err *catch2_on_message(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	const struct catch2 *catch2 = run->state;
	const struct catch2_layout *at = &catch2->at;
	uint64_t info = thread_arg(thread, 1), file_at, line;
	_cleanup_(freep) char *file = NULL;
	if ((uint32_t)thread_arg(thread, 2) != RESULT_SKIP)
		return NULL;
	/* A result begins with its info. */
	TRY(run_u64(run, RADDR(info + at->at_file), &file_at));
	TRY(run_u64(run, RADDR(info + at->at_line), &line));
	err_ignore(run_text(run, RADDR(file_at), &file));
	return run_skip(run, file, (unsigned)line, NULL);
}

/*
 * Reporters and listeners may ask for every assertion, which must not make the
 * tests slow. The expansion of expressions is lost then.
 */
static struct err *catch2_only_failures(struct run *run,
					struct raddr assertion_ended)
{
	struct raddr message;
	log_debug(LOG_FRAMEWORK,
		  "Catch2 reports every assertion: stopping only "
		  "at failures, without their expansion");
	TRY(run_unbreak(run, assertion_ended));
	TRY(run_break_symbol(run, POPULATE, catch2_on_reaction, 0, NULL));
	TRY(run_break_symbol(run, DEBUG_BREAK, catch2_on_reaction, 0, NULL));
	if (program_function_starting(run->program, HANDLE_MESSAGE, &message,
				      NULL))
		TRY(run_break(run, message, catch2_on_message, 0));
	return NULL;
}

/* assertionEnded(this, result): assertions that hold rarely get here. */
static struct err *catch2_on_assertion(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct catch2 *catch2 = run->state;
	uint32_t type;
	if (!run->in_test || run->outcome == OUTCOME_FAIL)
		return NULL;
	TRY(catch2_note_result(run, thread_arg(thread, 1), &type));
	if (run->outcome == OUTCOME_FAIL && type == RESULT_NOT_TRUE &&
	    catch2->reconstruct.v)
		return run_break(run, catch2->reconstruct, catch2_on_expansion,
				 0);
	if (type & RESULT_FAILURE || ++catch2->held < HELD_MAX)
		return NULL;
	return catch2_only_failures(run, regs_pc(&thread->regs));
}

static struct err *catch2_attach(struct run *run)
{
	struct catch2 *catch2 = run->state;
	struct raddr assertion, debugger;
	bool version_3 =
		!program_symbol(run->program, RUN_TEST_2, &catch2->run_test);
	if (version_3 &&
	    !program_symbol(run->program, RUN_TEST_3, &catch2->run_test))
		return adapter_function_missing(
			run, RUN_TEST_2 " or " RUN_TEST_3,
			"build it without link-time optimisation, and do not "
			"strip it");
	log_debug(LOG_FRAMEWORK, "Catch2 %d", version_3 ? 3 : 2);
	if (!catch2_find_layout(run, version_3, &catch2->at))
		return adapter_unknown_version(
			run, "debug information makes no sense");
	if (!program_function_starting(run->program, RECONSTRUCT,
				       &catch2->reconstruct, NULL))
		catch2->reconstruct = RADDR(0);
	if (program_function_starting(run->program, ASSERTION_ENDED, &assertion,
				      NULL))
		TRY(run_break(run, assertion, catch2_on_assertion, 0));
	TRY(run_break_symbol(run, ALL_TESTS, catch2_on_all, 0, NULL));
	TRY(run_break_symbol(run, ABORT_AFTER, catch2_on_limit, 0, NULL));
	/* With -b it would break into the debugger it sees: us. */
	if (program_symbol(run->program, DEBUGGER_ACTIVE, &debugger))
		TRY(calls_mute(run, debugger));
	return run_break(run, catch2->run_test, catch2_on_test, 0);
}

/*
 * The tests that the framework itself is about to run, after the user's own
 * choice: a std::set of pointers right after the RunContext.
 */
struct catch2_selection {
	uint64_t *tests; /* ascending, as the set is */
	size_t n;
	bool chosen; /* by the program's arguments */
};

/* Is this a std::set whose first element is @first? */
static bool catch2_is_set(struct run *run, const uint64_t words[6],
			  uint64_t header, uint64_t first, uint64_t max)
{
	/* compare, color, root, leftmost, rightmost, count */
	uint64_t value, parent;
	return words[2] && words[3] && words[5] && words[5] <= max &&
	       memory_read_some(run->tracee, RADDR(words[3] + 32), &value, 8) ==
		       8 &&
	       value == first &&
	       memory_read_some(run->tracee, RADDR(words[2] + 8), &parent, 8) ==
		       8 &&
	       parent == header;
}

static struct err *catch2_read_selection(struct run *run, uint64_t set,
					 uint64_t max,
					 struct catch2_selection *selection)
{
	_cleanup_(freep) uint64_t *tests = NULL;
	size_t n = 0;
	TRY(run_set(run, RADDR(set), max, &tests, &n));
	for (size_t i = 0; i < n; i++)
		TRY(run_u64(run, RADDR(tests[i]), &tests[i]));
	qsort(tests, n, sizeof(*tests), compare_as_u64);
	selection->tests = take_ptr(tests);
	selection->n = n;
	return NULL;
}

static struct err *catch2_find_selection(struct run *run, struct thread *thread,
					 uint64_t max,
					 struct catch2_selection *selection)
{
	uint64_t context = thread_arg(thread, 1), first = thread_arg(thread, 2);
	uint64_t words[CONTEXT_MAX / 8];
	size_t n = memory_read_some(run->tracee, RADDR(context), words,
				    sizeof(words)) /
		   8;
	for (size_t i = 0; i + 8 <= n; i++) {
		uint64_t set = context + i * 8;
		if (!catch2_is_set(run, words + i, set + 8, first, max))
			continue;
		/* After it a vector of what the arguments chose. */
		selection->chosen = words[i + 6] != words[i + 7];
		return catch2_read_selection(run, set, max, selection);
	}
	log_debug(LOG_FRAMEWORK,
		  "Catch2: the set of chosen tests was not found, "
		  "assuming all that are not hidden");
	return NULL;
}

/* Names as in its own reports and command line: without outer blanks. */
static char *catch2_trim_name(char *name)
{
	name += strspn(name, " \t\r\n");
	size_t n = strlen(name);
	while (n && strchr(" \t\r\n", name[n - 1]))
		name[--n] = '\0';
	return name;
}

static struct err *catch2_add_test(struct run *run, uint64_t test,
				   bool selected,
				   const struct catch2_selection *selection)
{
	const struct catch2 *catch2 = run->state;
	uint64_t info;
	uint8_t properties;
	TRY(catch2_find_info(run, test, &info));
	TRY(memory_read(run->tracee, RADDR(info + catch2->at.properties),
			&properties, 1));
	bool hidden = properties & HIDDEN;
	if (!selection->n)
		selected = !hidden;
	if (!selected && (!hidden || selection->chosen))
		return NULL;
	_cleanup_(freep) char *name = NULL, *file = NULL;
	unsigned line;
	TRY(run_string(run, RADDR(info + catch2->at.name), &name));
	TRY(catch2_read_place(run, info, &file, &line));
	return run_add_test(run, catch2_trim_name(name), file, line, !selected,
			    test, properties);
}

static struct err *
catch2_list_selected(struct run *run, const uint64_t bounds[2],
		     const struct catch2_selection *selection)
{
	const struct catch2 *catch2 = run->state;
	size_t next = 0;
	for (uint64_t test = bounds[0]; test < bounds[1];
	     test += catch2->at.test_size) {
		bool selected =
			next < selection->n && selection->tests[next] == test;
		next += selected;
		TRY(catch2_add_test(run, test, selected, selection));
	}
	return NULL;
}

static struct err *catch2_list(struct run *run, struct thread *thread)
{
	struct catch2 *catch2 = run->state;
	uint64_t bounds[2], size = catch2->at.test_size;
	if (!catch2->tests)
		return adapter_unknown_version(run,
					       "nobody asked for the tests");
	TRY(memory_read(run->tracee, RADDR(catch2->tests), bounds,
			sizeof(bounds)));
	if (bounds[1] < bounds[0] || !size ||
	    (bounds[1] - bounds[0]) % size != 0 ||
	    (bounds[1] - bounds[0]) / size > TESTS_MAX)
		return adapter_unknown_version(run,
					       "its list of tests is no list");
	struct catch2_selection selection = {};
	struct err *err = catch2_find_selection(
		run, thread, (bounds[1] - bounds[0]) / size, &selection);
	if (!err)
		err = catch2_list_selected(run, bounds, &selection);
	free(selection.tests);
	return err;
}

/* The same by data, where debug information gives the place. */
static struct err *catch2_lift_limit(struct run *run,
				     const struct thread *thread)
{
	uint64_t config = program_member(run->program, "Catch::RunContext",
					 "m_config", 0);
	uint64_t limit = program_member(run->program, "Catch::Config",
					"m_data.abortAfter", 0);
	const int32_t none = -1;
	if (!config || !limit)
		return NULL;
	TRY(run_u64(run, RADDR(thread_arg(thread, 1) + config), &config));
	return memory_write(run->tracee, RADDR(config + limit), &none,
			    sizeof(none));
}

static struct err *catch2_start(struct run *run, struct thread *thread)
{
	struct catch2 *catch2 = run->state;
	TRY(catch2_lift_limit(run, thread));
	TRY(calls_enter(run, thread, &catch2->test, catch2_on_test_return, 0));
	return catch2_begin_test(run, thread, run_wanted(run));
}

const struct framework framework_catch2 = {
	.name = "catch2",
	.state_size = sizeof(struct catch2),
	/* The last is virtual: link-time optimisation does not remove it. */
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_HAS(RUN_TEST_2, RUN_TEST_3, ALL_TESTS)),
	.own = {
		.title = "Catch2",
		.functions = FRAMEWORK_LIST("Catch::"),
		.symbols = FRAMEWORK_LIST(RUN_TEST_2, RUN_TEST_3, ALL_TESTS),
		.variables = FRAMEWORK_LIST("Catch::"),
		.types = FRAMEWORK_LIST("Catch::*"),
		.libraries = FRAMEWORK_LIST("libCatch2"),
	},
	.attach = catch2_attach,
	.list = catch2_list,
	.start = catch2_start,
	.branches = true,
	.no_points = "Catch2 has no set-up and tear-down of its own: "
		     "fixtures are constructors and destructors, and "
		     "sections run anywhere",
};

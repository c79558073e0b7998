/*
 * Qt Test, by calls. QTest::qRun() runs one test object: initTestCase(), then in a
 * loop its functions with their rows of data, then cleanupTestCase(). The loop is
 * in functions that have no symbols in the shared library, but it calls functions
 * that are exported:
 *
 *   qRun()
 *     setCurrentTestFunction("initTestCase")
 *     … initTestCase() …
 *     finishedCurrentTestFunction()
 *     skipCurrentTest()                   the loop begins if it returns false
 *       for each function:
 *       QBenchmarkTestMethodData()
 *       QMetaMethod::name()               of the loop's entry
 *       globalTable->dataCount()
 *       … function_data() …
 *       table.dataCount()
 *         for each row:
 *         checkBlackLists()
 *         setCurrentTestData(row)
 *         … init(), function(), cleanup() …
 *         finishedCurrentTestDataCleanup()
 *         setCurrentTestData(NULL)
 *       ~QBenchmarkTestMethodData()
 *     setCurrentTestFunction("cleanupTestCase")
 *     … cleanupTestCase() …
 *
 * Where the loop begins, registers and stack are kept. Whenever a function ended,
 * they are put back, so that the loop begins again, with the wanted function in its
 * first entry and only the wanted row in the tables; in the end skipCurrentTest()
 * returns true there, and the loop is left. This is what the framework does when
 * its command line names functions and rows. In the suite's own order, nothing is
 * changed.
 *
 * A program may have several test objects, one after the other.
 *
 * Seen with 5.15 and 6.4; see docs/frameworks.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "framework/adapter.h"
#include "framework/qtest_rows.h"
#include "native/calls.h"
#include "native/framework.h"
#include "native/session.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define QRUN "_ZN5QTest4qRunEv"
#define QINIT "_ZN5QTest5qInitEP7QObjectiPPc"
/* With arguments, with texts as of Qt 5 and as of Qt 6. */
#define QTEST_EXEC                                                             \
	"_ZN5QTest5qExecEP7QObjectiPPc",                                       \
		"_ZN5QTest5qExecEP7QObjectRK11QStringList",                    \
		"_ZN5QTest5qExecEP7QObjectRK5QListI7QStringE"
#define RESULT "_ZN11QTestResult"
#define SET_FUNCTION RESULT "22setCurrentTestFunctionEPKc"
#define FUNCTION_FINISHED RESULT "27finishedCurrentTestFunctionEv"
#define SKIP_CURRENT RESULT "15skipCurrentTestEv"
#define CURRENT_FAILED RESULT "17currentTestFailedEv"
#define SET_DATA RESULT "18setCurrentTestDataEP9QTestData"
#define DATA_FINISHED RESULT "23finishedCurrentTestDataEv"
#define CLEANUP_FINISHED RESULT "30finishedCurrentTestDataCleanupEv"
#define OBJECT_NAME RESULT "21currentTestObjectNameEv"
#define GLOBAL_TAG RESULT "20currentGlobalDataTagEv"
#define DATA_COUNT "_ZNK10QTestTable9dataCountEv"
#define FUNCTION_BEGIN "_ZN24QBenchmarkTestMethodDataC1Ev"
#define FUNCTION_END "_ZN24QBenchmarkTestMethodDataD1Ev"
#define METHOD_NAME "_ZNK11QMetaMethod4nameEv"
#define BLACK_LISTS "_ZN12QTestPrivate15checkBlackListsE"
#define TEST_TAGS "_ZN5QTest8testTagsE"
#define LIST_NULL "_ZN9QListData11shared_nullE"
/* Before 6.5, and since then. */
#define INVOKE                                                                 \
	"_ZNK11QMetaMethod6invokeEP7QObjectN2Qt14ConnectionTypeE"              \
	"22QGenericReturnArgument"
#define INVOKE_VALUE "_ZN11QMetaMethod10invokeImplES_"

#define CALL_LIMIT_NS (5 * UINT64_C(1000000000))
/* From the loop to the caller of qRun(), which holds a table and a text. */
#define STACK_MAX 16384
/* The framework has no longer names either. */
#define FUNCTION_MAX 512
#define ROW_MISSING "its row of data does not exist in this order"

/* Bits of a test's handle: object, function, global row, row. */
#define ROW_BITS 24
#define GLOBAL_BITS 12
#define FUNCTION_BITS 16
#define BITS_OF(handle, from, n)                                               \
	((handle) >> (from) & ((UINT64_C(1) << (n)) - 1))
#define ROW_OF(handle) BITS_OF(handle, 0, ROW_BITS)
#define GLOBAL_ROW_OF(handle) BITS_OF(handle, ROW_BITS, GLOBAL_BITS)

/* A QMetaMethod. */
struct qtest_method {
	uint64_t object, data;
};

enum qtest_phase {
	PHASE_OUTSIDE, /* of a test object, or of one that is not wanted */
	PHASE_BEFORE,  /* its first functions are not called */
	PHASE_SET_UP,  /* initTestCase() comes next, or runs */
	PHASE_READY,   /* it is over */
	PHASE_LOOP,
};

enum qtest_row {
	ROW_NONE,
	ROW_COMING, /* checkBlackLists() was called */
	ROW_RUNS,
	ROW_FINISHED,
	ROW_BROKEN, /* an exception is on its way */
};

struct qtest {
	uint64_t object; /* the number of the test object, from 1 on */
	struct calls call;
	enum qtest_phase phase;
	enum qtest_row row;
	uint64_t sp;	   /* of calls by the function that has the loop */
	uint64_t row_sp;   /* of calls by the function that has the rows */
	uint64_t position; /* of the loop; when it is driven, 0 */
	uint64_t methods;  /* the loop's entries; 0: not known */
	struct qtest_method first; /* the first of them as it was */
	bool driven;		   /* the loop begins again for each test */
	bool stray;	/* the row is not one of the list, or not wanted */
	bool expecting; /* a function has begun, and none of its rows */
	size_t test;	/* driven: the one that the loop comes to */
	int tables;	/* that still have to be narrowed */
	struct qtest_rows global, local;
	/* While discovering. */
	uint64_t global_row, local_row, rows;
	uint64_t global_tag;
	char function[FUNCTION_MAX];
	/* Where the loop begins. */
	struct regs point;
	size_t stack_n;
	uint8_t stack[STACK_MAX];
};

static uint64_t qtest_handle(const struct qtest *qtest)
{
	return ((qtest->object << FUNCTION_BITS | qtest->position)
			<< GLOBAL_BITS |
		qtest->global_row)
		       << ROW_BITS |
	       qtest->local_row;
}

static uint64_t qtest_object_of(const struct run *run, size_t test)
{
	return run_handle(run, test) >>
	       (ROW_BITS + GLOBAL_BITS + FUNCTION_BITS);
}

static uint64_t qtest_position_of(const struct run *run, size_t test)
{
	return BITS_OF(run_handle(run, test), ROW_BITS + GLOBAL_BITS,
		       FUNCTION_BITS);
}

/* Is the test that comes next one of the running object? */
static bool qtest_wants_object(const struct run *run)
{
	const struct qtest *qtest = run->state;
	size_t test = run_wanted(run);
	return test != RUN_NONE && qtest_object_of(run, test) == qtest->object;
}

static bool qtest_in_loop_frame(const struct qtest *qtest,
				const struct thread *thread)
{
	return qtest->phase != PHASE_OUTSIDE &&
	       calls_same_thread(&qtest->call, thread) &&
	       regs_sp(&thread->regs).v == qtest->sp;
}

static struct err *qtest_unbreak_symbol(struct run *run, const char *symbol)
{
	struct raddr at;
	return program_symbol(run->program, symbol, &at) ? run_unbreak(run, at)
							 : NULL;
}

/* What a function of the framework without arguments returns. */
static struct err *qtest_call(struct run *run, struct thread *thread,
			      const char *symbol, uint64_t *ret)
{
	struct raddr function;
	if (!program_symbol(run->program, symbol, &function))
		return adapter_function_missing(run, symbol,
						"use the shared library");
	return remote_call(thread, function, NULL, 0, CALL_LIMIT_NS, ret);
}

static struct err *qtest_text(struct run *run, uint64_t address, char **ret)
{
	if (address)
		return run_text(run, RADDR(address), ret);
	*ret = strdup("");
	return *ret ? NULL : err_nomem();
}

/* Begins the next test of the order; the row is still to come. */
static struct err *qtest_begin(struct run *run)
{
	struct qtest *qtest = run->state;
	qtest->row = ROW_NONE;
	qtest->stray = qtest->expecting = false;
	return run_begin(run);
}

static struct err *qtest_show_all_rows(struct run *run)
{
	struct qtest *qtest = run->state;
	TRY(qtest_rows_show(run, &qtest->global));
	return qtest_rows_show(run, &qtest->local);
}

/* The loop. */

/* Puts the wanted function into the first entry. */
static struct err *qtest_put_function(struct run *run)
{
	struct qtest *qtest = run->state;
	uint64_t position = qtest_position_of(run, qtest->test);
	struct qtest_method method = qtest->first;
	if (position)
		TRY(memory_read(
			run->tracee,
			RADDR(qtest->methods + position * sizeof(method)),
			&method, sizeof(method)));
	return memory_write(run->tracee, RADDR(qtest->methods), &method,
			    sizeof(method));
}

static run_hook qtest_on_data_count;

/* The loop is about to begin, for the next test of the order. */
static struct err *qtest_prepare(struct run *run)
{
	struct qtest *qtest = run->state;
	qtest->test = run_wanted(run);
	qtest->row = ROW_NONE;
	qtest->expecting = true;
	if (qtest->methods)
		TRY(qtest_put_function(run));
	qtest->tables = 2;
	return run_break_symbol(run, DATA_COUNT, qtest_on_data_count, 0, NULL);
}

/* Puts the thread back to where the loop begins. */
static struct err *qtest_rewind(struct run *run, struct thread *thread)
{
	const struct qtest *qtest = run->state;
	thread->regs = qtest->point;
	thread_dirty(thread);
	return memory_write(run->tracee, regs_sp(&qtest->point), qtest->stack,
			    qtest->stack_n);
}

/* A driven test has ended: another one, or the end of the loop. */
static struct err *qtest_continue(struct run *run, struct thread *thread)
{
	bool again = qtest_wants_object(run);
	TRY(qtest_show_all_rows(run));
	TRY(qtest_rewind(run, thread));
	if (!again)
		return calls_skip(run, thread, true);
	return qtest_prepare(run);
}

/* QTestTable::dataCount(): of the global table, then of the function's. */
static struct err *qtest_on_data_count(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	bool global = qtest->tables == 2, found;
	uint64_t sp = regs_sp(&thread->regs).v;
	if (!qtest->tables || !calls_same_thread(&qtest->call, thread) ||
	    (!global && sp != qtest->row_sp))
		return NULL;
	qtest->row_sp = sp;
	uint64_t handle = run_handle(run, qtest->test);
	uint64_t table = thread_arg(thread, 0);
	TRY(global ? qtest_rows_narrow_global(run, qtest->test, table,
					      GLOBAL_ROW_OF(handle),
					      &qtest->global, &found)
		   : qtest_rows_narrow(run, qtest->test, table, ROW_OF(handle),
				       &qtest->global, &qtest->local, &found));
	if (--qtest->tables == 0)
		TRY(qtest_unbreak_symbol(run, DATA_COUNT));
	if (found)
		return NULL;
	qtest->tables = 0;
	if (!run->in_test)
		TRY(qtest_begin(run));
	TRY(run_fail(run, NULL, 0, ROW_MISSING));
	TRY(run_end(run, OUTCOME_NONE));
	return qtest_continue(run, thread);
}

/* QMetaMethod::name(), of the loop's first entry. The result is in memory. */
static struct err *qtest_on_name(struct run *run, struct thread *thread,
				 uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	if (qtest->phase != PHASE_LOOP || qtest->methods ||
	    !calls_same_thread(&qtest->call, thread))
		return NULL;
	qtest->methods = thread_arg(thread, 1);
	TRY(memory_read(run->tracee, RADDR(qtest->methods), &qtest->first,
			sizeof(qtest->first)));
	TRY(qtest_unbreak_symbol(run, METHOD_NAME));
	return qtest->driven ? qtest_put_function(run) : NULL;
}

/* Tags of the command line belong to entries of the loop: no more. */
static struct err *qtest_forget_tags(struct run *run)
{
	struct raddr tags, null;
	if (!program_symbol(run->program, TEST_TAGS, &tags))
		return NULL;
	/* A list of Qt 5 is a pointer; since then it has its size. */
	if (program_symbol(run->program, LIST_NULL, &null))
		return memory_write_u64(run->tracee, tags, null.v);
	return memory_write_u64(run->tracee, raddr_add(tags, 16), 0);
}

static struct err *qtest_keep_point(struct run *run, struct thread *thread)
{
	struct qtest *qtest = run->state;
	uint64_t sp = regs_sp(&thread->regs).v;
	uint64_t end = regs_sp(&qtest->call.entry).v + 8;
	if (sp >= end || end - sp > sizeof(qtest->stack))
		return adapter_unknown_version(run, "the stack of its loop");
	qtest->point = thread->regs;
	qtest->stack_n = end - sp;
	return memory_read(run->tracee, RADDR(sp), qtest->stack,
			   qtest->stack_n);
}

/* QTestResult::skipCurrentTest() after initTestCase(): the loop begins. */
static struct err *qtest_enter_loop(struct run *run, struct thread *thread)
{
	struct qtest *qtest = run->state;
	TRY(qtest_unbreak_symbol(run, SKIP_CURRENT));
	/* Where initTestCase() failed or skipped, it does not. */
	if (run->in_test)
		return NULL;
	qtest->phase = PHASE_LOOP;
	TRY(run_break_symbol(run, METHOD_NAME, qtest_on_name, 0, NULL));
	if (run->discovering) {
		TRY(qtest_unbreak_symbol(run, CURRENT_FAILED));
		return calls_skip(run, thread, false);
	}
	if (!qtest->driven)
		return NULL;
	TRY(qtest_forget_tags(run));
	TRY(qtest_keep_point(run, thread));
	return qtest_prepare(run);
}

static struct err *qtest_on_skip_current(struct run *run, struct thread *thread,
					 uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	if (!qtest_in_loop_frame(qtest, thread))
		return NULL;
	if (qtest->phase == PHASE_READY)
		return qtest_enter_loop(run, thread);
	if (qtest->phase == PHASE_BEFORE)
		qtest->phase = PHASE_SET_UP;
	return run->discovering ? calls_skip(run, thread, false) : NULL;
}

/* While discovering: initTestCase() has not failed. */
static struct err *qtest_on_current_failed(struct run *run,
					   struct thread *thread, uint64_t arg)
{
	(void)arg;
	return qtest_in_loop_frame(run->state, thread)
		       ? calls_skip(run, thread, false)
		       : NULL;
}

static struct err *
qtest_on_function_finished(struct run *run, struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	if (qtest->phase != PHASE_SET_UP || !qtest_in_loop_frame(qtest, thread))
		return NULL;
	qtest->phase = PHASE_READY;
	return qtest_unbreak_symbol(run, FUNCTION_FINISHED);
}

/* QTestResult::setCurrentTestFunction(name) */
static struct err *qtest_on_set_function(struct run *run, struct thread *thread,
					 uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	_cleanup_(freep) char *name = NULL;
	if (!calls_same_thread(&qtest->call, thread))
		return NULL;
	TRY(qtest_text(run, thread_arg(thread, 0), &name));
	if (qtest->phase == PHASE_LOOP)
		snprintf(qtest->function, sizeof(qtest->function), "%s", name);
	if (qtest->phase != PHASE_BEFORE || strcmp(name, "initTestCase"))
		return NULL;
	qtest->sp = regs_sp(&thread->regs).v;
	if (!run->discovering)
		TRY(qtest_unbreak_symbol(run, SET_FUNCTION));
	TRY(run_break_symbol(run, FUNCTION_FINISHED, qtest_on_function_finished,
			     0, NULL));
	if (run->discovering)
		TRY(run_break_symbol(run, CURRENT_FAILED,
				     qtest_on_current_failed, 0, NULL));
	return run_break_symbol(run, SKIP_CURRENT, qtest_on_skip_current, 0,
				NULL);
}

/* Discovery: functions run without their set-up, body and tear-down. */

/* "Class::function()" is "_ZN5Class8functionEv". */
static bool qtest_find_place(const struct run *run, const char *object,
			     const char *function, const char **ret_file,
			     unsigned *ret_line)
{
	_cleanup_(str_freep) struct str symbol = STR_INIT;
	struct raddr at;
	struct err *err = str_appendf(&symbol, "_ZN");
	while (!err && *object) {
		size_t n = strcspn(object, ":");
		err = str_appendf(&symbol, "%zu%.*s", n, (int)n, object);
		object += n;
		object += strspn(object, ":");
	}
	if (!err)
		err = str_appendf(&symbol, "%zu%sEv", strlen(function),
				  function);
	if (err) {
		err_ignore(err);
		return false;
	}
	return program_symbol(run->program, symbol.s, &at) &&
	       program_function_place(run->program, at, ret_file, ret_line);
}

static struct err *qtest_add_test(struct run *run, struct thread *thread,
				  const char *function, const char *global,
				  const char *local)
{
	const struct qtest *qtest = run->state;
	_cleanup_(freep) char *object = NULL, *tags = NULL, *name = NULL;
	const char *file = NULL;
	unsigned line = 0;
	uint64_t at;
	TRY(qtest_call(run, thread, OBJECT_NAME, &at));
	TRY(qtest_text(run, at, &object));
	TRY(qtest_rows_join_tags(global, local, &tags));
	TRY(str_format(&name, "%s::%s(%s)", object, function, tags));
	qtest_find_place(run, object, function, &file, &line);
	TRY(run_add_test(run, name, file, line, false, qtest_handle(qtest), 0));
	/* Objects follow each other, so that each one's tests stay together. */
	run_declare_priority(run, run_tests(run) - 1, -(int64_t)qtest->object);
	return NULL;
}

/* checkBlackLists(function, tag, …): a row begins. */
static struct err *qtest_discover_row(struct run *run, struct thread *thread)
{
	struct qtest *qtest = run->state;
	_cleanup_(freep) char *function = NULL, *local = NULL, *global = NULL;
	uint64_t global_at;
	TRY(qtest_text(run, thread_arg(thread, 0), &function));
	TRY(qtest_text(run, thread_arg(thread, 1), &local));
	TRY(qtest_call(run, thread, GLOBAL_TAG, &global_at));
	TRY(qtest_text(run, global_at, &global));
	if (qtest->rows && global_at != qtest->global_tag) {
		qtest->global_row++;
		qtest->local_row = 0;
	}
	qtest->global_tag = global_at;
	TRY(qtest_add_test(run, thread, function, global, local));
	qtest->rows++;
	qtest->local_row++;
	qtest->row = ROW_COMING;
	return NULL;
}

/* The function ends; where its rows were skipped, it is the test. */
static struct err *qtest_discover_end(struct run *run, struct thread *thread)
{
	struct qtest *qtest = run->state;
	if (!qtest->rows)
		TRY(qtest_add_test(run, thread, qtest->function, "", ""));
	qtest->position++;
	qtest->rows = qtest->global_row = qtest->local_row = 0;
	qtest->row = ROW_NONE;
	return NULL;
}

/* Rows and functions as they come. */

/* The name of the row that begins: it is of the running test's object. */
static struct err *qtest_row_name(struct run *run, struct thread *thread,
				  char **ret)
{
	const char *name = run_name(run, run->current);
	_cleanup_(freep) char *function = NULL, *local = NULL, *global = NULL;
	_cleanup_(freep) char *tags = NULL;
	size_t n = strcspn(name, "(");
	uint64_t global_at;
	while (n && name[n - 1] != ':')
		n--;
	TRY(qtest_text(run, thread_arg(thread, 0), &function));
	TRY(qtest_text(run, thread_arg(thread, 1), &local));
	TRY(qtest_call(run, thread, GLOBAL_TAG, &global_at));
	TRY(qtest_text(run, global_at, &global));
	TRY(qtest_rows_join_tags(global, local, &tags));
	TRY(str_format(ret, "%.*s%s(%s)", (int)n, name, function, tags));
	return NULL;
}

/*
 * In the suite's own order a row begins. If it is not that of the running test
 * but of a later one, those before it have no row in this run.
 */
static struct err *qtest_catch_up(struct run *run, const char *name)
{
	struct qtest *qtest = run->state;
	size_t ahead = 0, test;
	/* Of several rows with one name only the first has it. */
	if (str_starts(run_name(run, run->current), name))
		return NULL;
	qtest->stray = true;
	while ((test = run_wanted_at(run, ahead)) != RUN_NONE &&
	       strcmp(run_name(run, test), name))
		ahead++;
	if (test == RUN_NONE || qtest_object_of(run, test) != qtest->object)
		return NULL;
	for (size_t i = 0; i <= ahead; i++) {
		TRY(run_fail(run, NULL, 0, ROW_MISSING));
		TRY(run_end(run, OUTCOME_NONE));
		TRY(qtest_begin(run));
	}
	return NULL;
}

/* checkBlackLists(function, tag, …), where rows are not driven. */
static struct err *qtest_on_row(struct run *run, struct thread *thread,
				uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	_cleanup_(freep) char *name = NULL;
	if (qtest->phase != PHASE_LOOP || qtest->row == ROW_RUNS ||
	    !calls_same_thread(&qtest->call, thread))
		return NULL;
	if (run->discovering)
		return qtest_discover_row(run, thread);
	if (!run->in_test) {
		if (!qtest_wants_object(run))
			return NULL;
		TRY(qtest_begin(run));
	}
	TRY(qtest_row_name(run, thread, &name));
	TRY(qtest_catch_up(run, name));
	qtest->row = ROW_COMING;
	return NULL;
}

/* QTestResult::setCurrentTestData(): before a row and after it. */
static struct err *qtest_on_set_data(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	uint64_t sp = regs_sp(&thread->regs).v;
	if (qtest->phase != PHASE_LOOP ||
	    !calls_same_thread(&qtest->call, thread))
		return NULL;
	if (qtest->driven && qtest->expecting)
		TRY(qtest_begin(run));
	bool first = qtest->row == ROW_COMING ||
		     (qtest->driven && qtest->row == ROW_NONE);
	if (!run->in_test && !run->discovering)
		return NULL;
	if (first) {
		qtest->row = ROW_RUNS;
		qtest->row_sp = sp;
		return NULL;
	}
	if ((qtest->row != ROW_RUNS && qtest->row != ROW_FINISHED) ||
	    sp != qtest->row_sp)
		return NULL;
	if (run->discovering) {
		qtest->row = ROW_NONE;
		return NULL;
	}
	/* A row that does not finish and says nothing was left by a throw. */
	if (qtest->row == ROW_RUNS && !run->outcome) {
		qtest->row = ROW_BROKEN;
		return NULL;
	}
	qtest->row = ROW_NONE;
	TRY(qtest_show_all_rows(run)); /* before the tables are destroyed */
	return qtest->stray ? NULL : run_end(run, OUTCOME_NONE);
}

static struct err *
qtest_on_cleanup_finished(struct run *run, struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	if (run->in_test && qtest->row == ROW_RUNS &&
	    calls_same_thread(&qtest->call, thread))
		qtest->row = ROW_FINISHED;
	return NULL;
}

/* QBenchmarkTestMethodData(): a function begins, where it is not driven. */
static struct err *qtest_on_function_begin(struct run *run,
					   struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	if (qtest->phase == PHASE_LOOP && !run->discovering &&
	    calls_same_thread(&qtest->call, thread))
		qtest->expecting = qtest_wants_object(run);
	return NULL;
}

/* ~QBenchmarkTestMethodData(): it ends. */
static struct err *qtest_on_function_end(struct run *run, struct thread *thread,
					 uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	if (qtest->phase != PHASE_LOOP || qtest->row == ROW_BROKEN ||
	    !calls_same_thread(&qtest->call, thread))
		return NULL;
	if (run->discovering)
		return qtest_discover_end(run, thread);
	/* It has rows, all of them were skipped, or something was thrown. */
	if (run->in_test ? !run->outcome : qtest->expecting)
		return NULL;
	TRY(run_end(run, OUTCOME_NONE));
	qtest->row = ROW_NONE;
	if (qtest->driven)
		return qtest_continue(run, thread);
	qtest->position++;
	return NULL;
}

/* What is found against a test. */

enum qtest_verdict { VERDICT_FAIL, VERDICT_SKIP };

/* QTestLog::addFail(message, file, line) and the like. */
static struct err *qtest_on_verdict(struct run *run, struct thread *thread,
				    uint64_t verdict)
{
	const struct qtest *qtest = run->state;
	_cleanup_(freep) char *text = NULL, *file = NULL;
	/* initTestCase() speaks for the first test, _data() for its first row. */
	if (!run->in_test && run->order &&
	    (qtest->phase == PHASE_BEFORE || qtest->phase == PHASE_SET_UP ||
	     qtest->expecting))
		TRY(qtest_begin(run));
	if (!run->in_test)
		return NULL;
	/* Its own handler of signals ends the process by another signal. */
	if (run->faulted) {
		run->explained = true;
		return NULL;
	}
	err_ignore(qtest_text(run, thread_arg(thread, 0), &text));
	if (thread_arg(thread, 1))
		err_ignore(run_text(run, RADDR(thread_arg(thread, 1)), &file));
	unsigned line = (unsigned)thread_arg(thread, 2);
	/* An exception that nobody caught: the framework's own line. */
	if (file && str_ends(file, "qtestcase.cpp"))
		free(take_ptr(file));
	return verdict == VERDICT_SKIP ? run_skip(run, file, line, text)
				       : run_fail(run, file, line, text);
}

/* Test objects. */

/* The tests of the running object that come next cannot run. */
static struct err *qtest_miss_tests(struct run *run)
{
	struct qtest *qtest = run->state;
	bool skipped = run->outcome == OUTCOME_SKIP;
	if (!run->outcome)
		TRY(run_fail(run, NULL, 0, "initTestCase() failed"));
	_cleanup_(freep) char *file = run->file ? strdup(run->file) : NULL;
	_cleanup_(freep) char *text = strdup(run->message ? run->message : "");
	unsigned line = run->line;
	TRY(run_end(run, OUTCOME_NONE));
	while (qtest_wants_object(run)) {
		TRY(qtest_begin(run));
		TRY(skipped ? run_skip(run, file, line, text)
			    : run_fail(run, file, line, text));
		TRY(run_end(run, OUTCOME_NONE));
	}
	qtest->phase = PHASE_OUTSIDE;
	return NULL;
}

/* After qRun(). */
static struct err *qtest_on_returned(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	if (!calls_returned(&qtest->call, thread))
		return NULL;
	qtest->call.inside = false;
	qtest->phase = PHASE_OUTSIDE;
	TRY(qtest_unbreak_symbol(run, SKIP_CURRENT));
	return run->in_test ? qtest_miss_tests(run) : NULL;
}

/* At the entry of qRun(). */
static struct err *qtest_enter_object(struct run *run, struct thread *thread)
{
	struct qtest *qtest = run->state;
	qtest->object++;
	if (!run->discovering && !qtest_wants_object(run))
		return calls_skip(run, thread, 0);
	qtest->phase = PHASE_BEFORE;
	qtest->row = ROW_NONE;
	qtest->sp = qtest->row_sp = qtest->methods = 0;
	qtest->position = qtest->rows = 0;
	qtest->global_row = qtest->local_row = 0;
	qtest->global.at = qtest->local.at = 0;
	qtest->expecting = false;
	TRY(calls_enter(run, thread, &qtest->call, qtest_on_returned, 0));
	return run_break_symbol(run, SET_FUNCTION, qtest_on_set_function, 0,
				NULL);
}

static struct err *qtest_on_run(struct run *run, struct thread *thread,
				uint64_t arg)
{
	(void)arg;
	struct qtest *qtest = run->state;
	if (calls_nested(&qtest->call, thread))
		return NULL; /* a test that runs a test object */
	if (!run->order && !(run->discovering && run->ready_thread)) {
		run_ready(run, thread);
		return NULL;
	}
	return qtest_enter_object(run, thread);
}

/*
 * qExec(object, …), which calls qInit(object, …): what all functions of the
 * object see.
 */
static struct err *qtest_on_object(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	const struct qtest *qtest = run->state;
	struct held object = {
		.object = thread_arg(thread, 0),
		.name = "this",
	};
	if (calls_nested(&qtest->call, thread))
		return NULL;
	if (run->given.all.n && run->given.all.data[0].object == object.object)
		return NULL; /* the one calls the other */
	TRY(run_u64(run, regs_sp(&thread->regs), &object.caller));
	object.caller--; /* the call is before its return address */
	run_hold_none(run);
	return run_hold(run, &object);
}

static struct err *qtest_attach(struct run *run)
{
	static const struct {
		const char *symbol;
		enum qtest_verdict verdict;
	} verdicts[] = {
		{ "_ZN8QTestLog7addFailEPKcS1_i", VERDICT_FAIL },
		{ "_ZN8QTestLog8addXPassEPKcS1_i", VERDICT_FAIL },
		/* Blacklisted: they do not count as failures. */
		{ "_ZN8QTestLog8addBFailEPKcS1_i", VERDICT_SKIP },
		{ "_ZN8QTestLog9addBXPassEPKcS1_i", VERDICT_SKIP },
		{ "_ZN8QTestLog7addSkipEPKcS1_i", VERDICT_SKIP },
	};
	static const char *const objects[] = { QTEST_EXEC, QINIT };
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
		TRY(run_break_symbol(run, verdicts[i].symbol, qtest_on_verdict,
				     verdicts[i].verdict, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		TRY(run_break_symbol(run, objects[i], qtest_on_object, 0,
				     NULL));
	return run_break_symbol(run, QRUN, qtest_on_run, 0, NULL);
}

/* QMetaMethod::invoke(), by reference or by value. */
static struct err *qtest_on_invoke(struct run *run, struct thread *thread,
				   uint64_t by_value)
{
	const struct qtest *qtest = run->state;
	uint64_t at =
		qtest->methods + qtest->position * sizeof(struct qtest_method);
	struct qtest_method method = {};
	if (qtest->phase == PHASE_OUTSIDE ||
	    !calls_same_thread(&qtest->call, thread))
		return NULL;
	if (run->discovering) {
		bool leave_out = qtest->row != ROW_NONE ||
				 (qtest->phase == PHASE_SET_UP &&
				  run->session->discovery);
		return leave_out ? calls_skip(run, thread, true) : NULL;
	}
	if (!run->in_test || qtest->row != ROW_RUNS || !qtest->methods)
		return NULL;
	if (by_value)
		TRY(memory_read(run->tracee, RADDR(at), &method,
				sizeof(method)));
	bool body = by_value ? thread_arg(thread, 0) == method.object &&
				       thread_arg(thread, 1) == method.data
			     : thread_arg(thread, 0) == at;
	return body ? run_point(run, SUITE_AFTER_SETUP) : NULL;
}

static struct err *qtest_watch_invocations(struct run *run)
{
	static const char *const symbols[] = { INVOKE, INVOKE_VALUE };
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		struct raddr at;
		if (program_function_starting(run->program, symbols[i], &at,
					      NULL))
			TRY(run_break(run, at, qtest_on_invoke, i));
	}
	return NULL;
}

/* QTestResult::finishedCurrentTestData(), between body and cleanup(). */
static struct err *qtest_on_data_finished(struct run *run,
					  struct thread *thread, uint64_t arg)
{
	(void)arg;
	const struct qtest *qtest = run->state;
	if (!run->in_test || qtest->row != ROW_RUNS ||
	    !calls_same_thread(&qtest->call, thread))
		return NULL;
	return run_point(run, SUITE_BEFORE_TEARDOWN);
}

/* Breakpoints that both ways to run tests need, and discovery. */
static struct err *qtest_watch_loop(struct run *run)
{
	const struct qtest *qtest = run->state;
	struct raddr row;
	TRY(run_break_symbol(run, SET_DATA, qtest_on_set_data, 0, NULL));
	TRY(run_break_symbol(run, FUNCTION_END, qtest_on_function_end, 0,
			     NULL));
	if (qtest->driven)
		return NULL;
	TRY(run_break_symbol(run, FUNCTION_BEGIN, qtest_on_function_begin, 0,
			     NULL));
	if (!program_function_starting(run->program, BLACK_LISTS, &row, NULL))
		return adapter_unknown_version(run, "no checkBlackLists()");
	return run_break(run, row, qtest_on_row, 0);
}

static struct err *qtest_discover(struct run *run, struct thread *thread)
{
	TRY(qtest_watch_loop(run));
	TRY(qtest_watch_invocations(run));
	return qtest_enter_object(run, thread);
}

static struct err *qtest_start(struct run *run, struct thread *thread)
{
	struct qtest *qtest = run->state;
	bool natural = run_settled(run) && !run_wanted(run) &&
		       adapter_runs_naturally(run);
	qtest->driven = !natural;
	log_debug(LOG_FRAMEWORK, "Qt Test: its loop %s",
		  qtest->driven ? "begins again for each test" : "flows");
	TRY(qtest_watch_loop(run));
	TRY(run_break_symbol(run, CLEANUP_FINISHED, qtest_on_cleanup_finished,
			     0, NULL));
	if (run_point_wanted(run, SUITE_AFTER_SETUP))
		TRY(qtest_watch_invocations(run));
	if (run_point_wanted(run, SUITE_BEFORE_TEARDOWN))
		TRY(run_break_symbol(run, DATA_FINISHED, qtest_on_data_finished,
				     0, NULL));
	return qtest_enter_object(run, thread);
}

const struct framework framework_qtest = {
	.name = "qtest",
	.state_size = sizeof(struct qtest),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_HAS(QRUN),
		FRAMEWORK_HAS(SET_DATA),
		FRAMEWORK_HAS(SKIP_CURRENT),
		FRAMEWORK_HAS(FUNCTION_END),
		FRAMEWORK_USES(QTEST_EXEC, QRUN)),
	.own = {
		.title = "Qt Test",
		.functions = FRAMEWORK_LIST("QTest::", "QTestPrivate::",
			"QTestResult::", "QTestLog::", "QTestTable::",
			"QTestData::", "QBenchmarkTestMethodData::",
			"QBenchmarkGlobalData::", "QAbstractTestLogger::",
			"QPlainTestLogger::"),
		.symbols = FRAMEWORK_LIST(QRUN, SKIP_CURRENT),
		.variables = FRAMEWORK_LIST("QTest::", "QTestPrivate::",
			"QTestResult::", "QTestLog::", "QTestTablePrivate::",
			"QBenchmarkTestMethodData::",
			"QBenchmarkGlobalData::", "*::metatype_id",
			"QtPrivate::"),
		.libraries = FRAMEWORK_LIST("libQt5Test", "libQt6Test"),
	},
	.attach = qtest_attach,
	.discover = qtest_discover,
	.start = qtest_start,
	.branches = true,
	.discoveries = 2,
	.catches_faults = true,
	.failure_aborts = true,
};

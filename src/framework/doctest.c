/*
 * doctest, by data: Context::run() collects pointers to all tests in an array,
 * sorts it, informs the reporters that the run starts, and works through the array.
 * At that moment the array is overwritten with the wanted order. The rest of it is
 * filled with one test that is not wanted and is marked as skipped. An order longer
 * than the array runs by entering Context::run() again, which the framework allows.
 * In a tree of orders the rest of the array is written when it is known. There is
 * one stop per test: after the call that informs a reporter of its end.
 *
 * Everything is inlined into Context::run(), and reporters are in an anonymous
 * namespace, so the adapter relies on little: it finds the reporter's functions in
 * its table of virtual functions, and the array through the stack.
 *
 * Seen with 2.4.9 and 2.5.2; see docs/frameworks.md.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/log.h"
#include "base/str.h"
#include "framework/adapter.h"
#include "framework/doctest_filter.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define CONTEXT_RUN "_ZN7doctest7Context3runEv"
#define REGISTERED "_ZN7doctest6detail18getRegisteredTestsEv"
#define REGISTERED_OLD "_ZN7doctest12_GLOBAL__N_118getRegisteredTestsEv"
#define REGISTERED_DATA_OLD                                                    \
	"_ZZN7doctest12_GLOBAL__N_118getRegisteredTestsEvE4data"
#define DEBUGGER_ACTIVE "_ZN7doctest6detail16isDebuggerActiveEv"
#define ASSERTION_TEXT                                                         \
	"_ZN7doctest12_GLOBAL__N_129fulltext_log_assert_to_stream"
#define ASSERT_STRING "_ZN7doctest12assertStringENS_10assertType4EnumE"

#define CALL_LIMIT_NS (5 * UINT64_C(1000000000))
#define TESTS_MAX 10000000
#define REPORTERS_MAX 64
#define FRAME_MAX ((uint64_t)64 << 10)
/* At most this many stops for assertions that hold. */
#define HELD_MAX 16
#define FILTERS_MAX 10000
/* doctest::String; the part of a TestCase that is read. */
#define STRING_SIZE 24
#define TEST_SIZE 96
/* How far into the ContextState its vectors are searched for. */
#define STATE_MAX 8192

/* Virtual functions of doctest::IReporter, in order of declaration. */
enum {
	SLOT_RUN_START = 1,
	SLOT_CASE_END = 5,
	SLOT_CASE_EXCEPTION = 6,
	SLOT_LOG_MESSAGE = 10,
	SLOTS = 12,
};

/* doctest::assertType::Enum */
enum { ASSERT_WARN = 1, ASSERT_REQUIRE = 4, ASSERT_THROWS = 16 };

/* doctest::TestCaseFailureReason::Enum */
enum {
	REASON_EXCEPTION = 2,
	REASON_TIMEOUT = 16,
	REASON_SHOULD_HAVE_FAILED = 32,
	REASON_NOT_EXACTLY = 128,
	REASONS_TO_PASS = 64 | 256 | 512, /* failed as it should or may */
};

/* Of a test, kept as its group. */
enum { TEST_SKIP = 1, TEST_FAILURES_WANTED = 2 };

struct doctest_layout {
	/* detail::ContextState */
	uint64_t first, last, abort_after, case_sensitive, no_skip;
	uint64_t filters, reporters;
	/* detail::TestCase */
	uint64_t file, line, name, suite, skip, may_fail, should_fail, expected;
	/* CurrentTestCaseStats */
	uint64_t flags;
	/* AssertData */
	uint64_t at_type, at_file, at_line, at_expression, at_failed, at_threw;
	uint64_t at_exception, at_decomposition;
	/* MessageData */
	uint64_t text, text_file, text_line, text_severity;
};

struct doctest {
	struct doctest_layout at;
	struct calls context; /* Context::run() */
	struct calls begin;   /* the reporter's test_run_start() */
	struct calls end;     /* its test_case_end() */
	struct raddr registered, case_end;
	uint64_t state;	    /* ContextState */
	uint64_t reporters; /* how many */
	uint64_t chosen;    /* which of them is followed */
	uint64_t reporter;  /* its address in this round */
	uint64_t filler;    /* a test marked to be skipped; 0: none */
	unsigned held;	/* assertions that were printed although they hold */
	uint64_t slots; /* the array of tests, as long as it is new */
	size_t n_slots; /* 0: not known */
	size_t left;	/* of the wanted tests in the array */
	size_t room;	/* after them */
	bool undecided; /* what comes there */
	bool crashing;	/* the framework reports a signal */
	bool failed;	/* some test, for the exit status */
};

/* False: it makes no sense. */
static bool doctest_find_layout(const struct run *run,
				struct doctest_layout *at)
{
	static const char *const options = "doctest::ContextOptions";
	static const char *const state = "doctest::detail::ContextState";
	static const char *const test = "doctest::TestCaseData";
	static const char *const stats = "doctest::CurrentTestCaseStats";
	static const char *const data = "doctest::AssertData";
	static const char *const text = "doctest::MessageData";
	const struct adapter_member rows[] = {
		{ &at->first, options, "first", 92, ANYWHERE },
		{ &at->last, options, "last", 96, ANYWHERE },
		{ &at->abort_after, options, "abort_after", 100, ANYWHERE },
		{ &at->case_sensitive, options, "case_sensitive", 109,
		  ANYWHERE },
		{ &at->no_skip, options, "no_skip", 122, ANYWHERE },
		{ &at->filters, state, "filters", 4280, ANYWHERE },
		{ &at->reporters, state, "reporters_currently_used", 4304,
		  ANYWHERE },
		{ &at->file, test, "m_file", 0, TEST_SIZE - STRING_SIZE + 1 },
		{ &at->line, test, "m_line", 24, TEST_SIZE - 3 },
		{ &at->name, test, "m_name", 32, TEST_SIZE - 7 },
		{ &at->suite, test, "m_test_suite", 40, TEST_SIZE - 7 },
		{ &at->skip, test, "m_skip", 56, TEST_SIZE },
		{ &at->may_fail, test, "m_may_fail", 59, TEST_SIZE },
		{ &at->should_fail, test, "m_should_fail", 60, TEST_SIZE },
		{ &at->expected, test, "m_expected_failures", 64,
		  TEST_SIZE - 3 },
		{ &at->flags, stats, "failure_flags", 16, ANYWHERE },
		{ &at->at_type, data, "m_at", 8, ANYWHERE },
		{ &at->at_file, data, "m_file", 16, ANYWHERE },
		{ &at->at_line, data, "m_line", 24, ANYWHERE },
		{ &at->at_expression, data, "m_expr", 32, ANYWHERE },
		{ &at->at_failed, data, "m_failed", 40, ANYWHERE },
		{ &at->at_threw, data, "m_threw", 41, ANYWHERE },
		{ &at->at_exception, data, "m_exception", 48, ANYWHERE },
		{ &at->at_decomposition, data, "m_decomp", 72, ANYWHERE },
		{ &at->text, text, "m_string", 0, ANYWHERE },
		{ &at->text_file, text, "m_file", 24, ANYWHERE },
		{ &at->text_line, text, "m_line", 32, ANYWHERE },
		{ &at->text_severity, text, "m_severity", 36, ANYWHERE },
	};
	return adapter_find_members(run, rows, ARRAY_SIZE(rows));
}

/* Before 2.4.1 the file was a pointer, not a String. */
static bool doctest_is_old(const struct doctest_layout *at)
{
	return at->line < at->file + STRING_SIZE;
}

static struct err *doctest_unknown_version(const struct run *run,
					   const char *what)
{
	return err_hint(adapter_unknown_version(run, what),
			"build the tests with debug information (-g)");
}

static struct err *doctest_read_byte(struct run *run, uint64_t address,
				     uint8_t *ret)
{
	return memory_read(run->tracee, RADDR(address), ret, 1);
}

/* A doctest::String of which @copy is one: 23 characters, or a pointer. */
static struct err *doctest_string_in(struct run *run, const uint8_t *copy,
				     char **ret)
{
	if (copy[STRING_SIZE - 1] & 0x80) {
		struct raddr pointer;
		memcpy(&pointer, copy, sizeof(pointer));
		return run_text(run, pointer, ret);
	}
	*ret = strndup((const char *)copy, STRING_SIZE - 1);
	return *ret ? NULL : err_nomem();
}

/* A const char * of which @copy is one; NULL is like "". */
static struct err *doctest_pointed_in(struct run *run, const uint8_t *copy,
				      char **ret)
{
	struct raddr pointer;
	memcpy(&pointer, copy, sizeof(pointer));
	if (pointer.v)
		return run_text(run, pointer, ret);
	*ret = strdup("");
	return *ret ? NULL : err_nomem();
}

static struct err *doctest_read_string(struct run *run, uint64_t address,
				       char **ret)
{
	uint8_t copy[STRING_SIZE];
	TRY(memory_read(run->tracee, RADDR(address), copy, sizeof(copy)));
	return doctest_string_in(run, copy, ret);
}

static struct err *doctest_read_pointed(struct run *run, uint64_t address,
					char **ret)
{
	uint8_t copy[8];
	TRY(memory_read(run->tracee, RADDR(address), copy, sizeof(copy)));
	return doctest_pointed_in(run, copy, ret);
}

/* ---- The array of tests ------------------------------------------------ */

static bool doctest_array_contains(const uint64_t *sorted, size_t n,
				   uint64_t value)
{
	return n && bsearch(&value, sorted, n, sizeof(value), compare_as_u64);
}

/* Does @address point to an array of all tests in some order? */
static bool doctest_is_array(struct run *run, uint64_t address,
			     const uint64_t *tests, size_t n, uint64_t *scratch)
{
	uint64_t first;
	if (address < 4096 || address % 8 != 0 ||
	    memory_read_some(run->tracee, RADDR(address), &first, 8) != 8 ||
	    !doctest_array_contains(tests, n, first) ||
	    memory_read_some(run->tracee, RADDR(address), scratch, n * 8) !=
		    n * 8)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!doctest_array_contains(tests, n, scratch[i]))
			return false;
	}
	return true;
}

/*
 * The std::set that getRegisteredTests() returns. Where that function is local
 * the compiler may know its result and not return it.
 */
static struct err *doctest_find_registered(struct run *run,
					   struct thread *thread,
					   struct raddr *ret)
{
	const struct doctest *doctest = run->state;
	if (program_symbol(run->program, REGISTERED_DATA_OLD, ret))
		return NULL;
	return remote_call(thread, doctest->registered, NULL, 0, CALL_LIMIT_NS,
			   &ret->v);
}

/*
 * The vector is a local variable of Context::run(): a pointer to its elements
 * is in that function's frame or in a register it kept.
 */
static struct err *doctest_find_slots(struct run *run, struct thread *thread,
				      uint64_t **ret_tests)
{
	struct doctest *doctest = run->state;
	_cleanup_(freep) uint64_t *tests = NULL, *frame = NULL;
	struct raddr set;
	size_t n = 0;
	TRY(doctest_find_registered(run, thread, &set));
	TRY(run_set(run, set, TESTS_MAX, &tests, &n));
	qsort(tests, n, sizeof(*tests), compare_as_u64);
	if (!n)
		return err_create(ERR_SUITE, "the suite has no tests");

	uint64_t bottom = regs_sp(&thread->regs).v;
	uint64_t top = regs_sp(&doctest->context.entry).v;
	if (top <= bottom || top - bottom > FRAME_MAX)
		return doctest_unknown_version(run,
					       "no frame of Context::run()");
	size_t words = ARCH_PRESERVED + (top - bottom) / 8;
	frame = malloc(words * 8);
	_cleanup_(freep) uint64_t *scratch = malloc(n * 8);
	if (!frame || !scratch)
		return err_nomem();
	regs_preserved(&thread->regs, frame);
	TRY(memory_read(run->tracee, RADDR(bottom), frame + ARCH_PRESERVED,
			(words - ARCH_PRESERVED) * 8));
	for (size_t i = 0; i < words; i++) {
		if ((i && frame[i] == frame[i - 1]) ||
		    !doctest_is_array(run, frame[i], tests, n, scratch))
			continue;
		doctest->slots = frame[i];
		doctest->n_slots = n;
		if (ret_tests)
			*ret_tests = take_ptr(scratch);
		return NULL;
	}
	return doctest_unknown_version(
		run, "the array of tests is not in its frame");
}

static struct err *doctest_set_skip(struct run *run, uint64_t test,
				    uint8_t skip)
{
	const struct doctest *doctest = run->state;
	return memory_write(run->tracee, RADDR(test + doctest->at.skip), &skip,
			    1);
}

/* A test that is not among the @n wanted: one of any n + 1 tests. */
static struct err *doctest_find_filler(struct run *run, const uint64_t *wanted,
				       size_t n, uint64_t *ret)
{
	const struct doctest *doctest = run->state;
	_cleanup_(freep) uint64_t *sorted = malloc((n + 1) * 8);
	_cleanup_(freep) uint64_t *tests = malloc((n + 1) * 8);
	if (!sorted || !tests)
		return err_nomem();
	TRY(memory_read(run->tracee, RADDR(doctest->slots), tests,
			(n + 1) * 8));
	memcpy(sorted, wanted, n * 8);
	qsort(sorted, n, 8, compare_as_u64);
	for (size_t i = 0; i <= n; i++) {
		if (!doctest_array_contains(sorted, n, tests[i])) {
			*ret = tests[i];
			return NULL;
		}
	}
	return doctest_unknown_version(run, "the array of tests changed");
}

/* The next @n wanted tests, which run even if the suite skips them. */
static struct err *doctest_take_wanted(struct run *run, uint64_t *content,
				       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t test = run_wanted_at(run, i);
		content[i] = run_handle(run, test);
		if (run_group(run, test) & TEST_SKIP)
			TRY(doctest_set_skip(run, content[i], 0));
	}
	return NULL;
}

static struct err *doctest_fill_slots(struct run *run)
{
	struct doctest *doctest = run->state;
	size_t all = doctest->n_slots, n = 0;
	_cleanup_(freep) uint64_t *content = malloc(all * 8);
	if (!content)
		return err_nomem();
	if (doctest->filler)
		TRY(doctest_set_skip(run, doctest->filler, 0));
	doctest->filler = 0;
	n = MIN(all, run_known(run));
	TRY(doctest_take_wanted(run, content, n));
	if (n < all) {
		TRY(doctest_find_filler(run, content, n, &doctest->filler));
		TRY(doctest_set_skip(run, doctest->filler, 1));
	}
	for (size_t i = n; i < all; i++)
		content[i] = doctest->filler;
	doctest->left = n;
	doctest->room = all - n;
	doctest->undecided = doctest->room && !run_settled(run);
	doctest->slots += n * 8;
	doctest->n_slots = 0;
	return memory_write(run->tracee, RADDR(doctest->slots - n * 8), content,
			    all * 8);
}

/*
 * In a tree of orders, the last that was known has ended. What comes after
 * those that follow now will not be reached.
 */
static struct err *doctest_fill_room(struct run *run)
{
	struct doctest *doctest = run->state;
	if (run_wanted(run) == RUN_NONE)
		return NULL;
	size_t n = MIN(doctest->room, run_known(run));
	_cleanup_(freep) uint64_t *content = malloc(n * 8 + 1);
	if (!content)
		return err_nomem();
	if (doctest->filler)
		TRY(doctest_set_skip(run, doctest->filler, 0));
	doctest->filler = 0;
	TRY(doctest_take_wanted(run, content, n));
	TRY(memory_write(run->tracee, RADDR(doctest->slots), content, n * 8));
	doctest->left = n;
	doctest->room -= n;
	doctest->undecided = doctest->room && !run_settled(run);
	doctest->slots += n * 8;
	return NULL;
}

/* ---- Which tests there are --------------------------------------------- */

static struct err *doctest_read_filter(struct run *run,
				       struct doctest_filter *filter)
{
	const struct doctest *doctest = run->state;
	const struct doctest_layout *at = &doctest->at;
	uint64_t outer, bounds[DOCTEST_FILTERS][3];
	uint8_t byte;
	TRY(doctest_read_byte(run, doctest->state + at->case_sensitive, &byte));
	filter->case_sensitive = byte;
	TRY(doctest_read_byte(run, doctest->state + at->no_skip, &byte));
	filter->no_skip = byte;
	TRY(run_u32(run, RADDR(doctest->state + at->first), &filter->first));
	TRY(run_u32(run, RADDR(doctest->state + at->last), &filter->last));
	TRY(run_u64(run, RADDR(doctest->state + at->filters), &outer));
	TRY(memory_read(run->tracee, RADDR(outer), bounds, sizeof(bounds)));
	for (size_t i = 0; i < DOCTEST_FILTERS; i++) {
		uint64_t n = (bounds[i][1] - bounds[i][0]) / STRING_SIZE;
		if (bounds[i][1] < bounds[i][0] || n > FILTERS_MAX)
			return doctest_unknown_version(
				run, "its filters are no list");
		for (uint64_t j = 0; j < n; j++) {
			char *glob;
			TRY(doctest_read_string(
				run, bounds[i][0] + j * STRING_SIZE, &glob));
			struct err *err = vec_push(&filter->globs[i], glob);
			if (err) {
				free(glob);
				return err;
			}
		}
	}
	return NULL;
}

/* From now on the framework takes what is in the array. */
static struct err *doctest_clear_filter(struct run *run)
{
	const struct doctest *doctest = run->state;
	const struct doctest_layout *at = &doctest->at;
	const uint8_t no = 0;
	const uint32_t zero = 0, last = UINT32_MAX;
	uint64_t outer;
	TRY(memory_write(run->tracee, RADDR(doctest->state + at->no_skip), &no,
			 1));
	TRY(memory_write(run->tracee, RADDR(doctest->state + at->first), &zero,
			 sizeof(zero)));
	TRY(memory_write(run->tracee, RADDR(doctest->state + at->last), &last,
			 sizeof(last)));
	TRY(memory_write(run->tracee, RADDR(doctest->state + at->abort_after),
			 &zero, sizeof(zero)));
	TRY(run_u64(run, RADDR(doctest->state + at->filters), &outer));
	for (uint64_t i = 0; i < DOCTEST_FILTERS; i++) {
		struct raddr bounds = RADDR(outer + i * 24);
		uint64_t begin;
		TRY(run_u64(run, bounds, &begin));
		TRY(memory_write_u64(run->tracee, raddr_add(bounds, 8), begin));
	}
	return NULL;
}

static struct err *doctest_add_test(struct run *run, uint64_t test,
				    struct doctest_filter *filter)
{
	const struct doctest *doctest = run->state;
	const struct doctest_layout *at = &doctest->at;
	_cleanup_(freep) char *name = NULL, *file = NULL, *suite = NULL;
	uint8_t copy[TEST_SIZE];
	uint32_t line, expected;
	TRY(memory_read(run->tracee, RADDR(test), copy, sizeof(copy)));
	memcpy(&line, copy + at->line, sizeof(line));
	memcpy(&expected, copy + at->expected, sizeof(expected));
	bool skip = copy[at->skip];
	err_ignore((doctest_is_old(at)
			    ? doctest_pointed_in
			    : doctest_string_in)(run, copy + at->file, &file));
	err_ignore(doctest_pointed_in(run, copy + at->name, &name));
	err_ignore(doctest_pointed_in(run, copy + at->suite, &suite));
	if (!file || !name || !suite)
		return doctest_unknown_version(run, "a test cannot be read");

	bool disabled = skip && !filter->no_skip;
	if (!doctest_filter_takes(filter, file, suite, name, disabled))
		return NULL;
	uint64_t group = skip ? TEST_SKIP : 0;
	if (copy[at->may_fail] || copy[at->should_fail] || expected)
		group |= TEST_FAILURES_WANTED;
	return run_add_test(run, name, file, line, disabled, test, group);
}

static struct err *doctest_list(struct run *run, struct thread *thread)
{
	const struct doctest *doctest = run->state;
	_cleanup_(freep) uint64_t *tests = NULL;
	struct doctest_filter filter = {};
	TRY(doctest_find_slots(run, thread, &tests));
	struct err *err = doctest_read_filter(run, &filter);
	for (size_t i = 0; !err && i < doctest->n_slots; i++)
		err = doctest_add_test(run, tests[i], &filter);
	doctest_filter_free(&filter);
	return err;
}

/* ---- Running ----------------------------------------------------------- */

static struct err *doctest_begin_next(struct run *run)
{
	struct doctest *doctest = run->state;
	if (!doctest->left && doctest->undecided)
		TRY(doctest_fill_room(run));
	if (!doctest->left)
		return NULL;
	doctest->left--;
	return run_begin(run);
}

static struct err *doctest_on_begin_return(struct run *run,
					   struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct doctest *doctest = run->state;
	if (!calls_returned(&doctest->begin, thread))
		return NULL;
	doctest->begin.inside = false;
	return doctest_begin_next(run);
}

/*
 * The thread is at the reporter's test_run_start(). What that prints does not
 * belong to a test.
 */
static struct err *doctest_begin_pass(struct run *run, struct thread *thread)
{
	struct doctest *doctest = run->state;
	if (!doctest->n_slots)
		TRY(doctest_find_slots(run, thread, NULL));
	TRY(doctest_fill_slots(run));
	return calls_enter(run, thread, &doctest->begin,
			   doctest_on_begin_return, 0);
}

/* Each round makes new ones, maybe several of one class. */
static struct err *doctest_read_reporter(struct run *run)
{
	struct doctest *doctest = run->state;
	uint64_t begin;
	TRY(run_u64(run, RADDR(doctest->state + doctest->at.reporters),
		    &begin));
	return run_u64(run, RADDR(begin + doctest->chosen * 8),
		       &doctest->reporter);
}

static struct err *doctest_on_run_start(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct doctest *doctest = run->state;
	if (!doctest->context.inside)
		return NULL;
	TRY(doctest_read_reporter(run));
	if (thread_arg(thread, 0) != doctest->reporter)
		return NULL;
	if (run->order)
		return doctest_begin_pass(run, thread);
	run_ready(run, thread);
	return NULL;
}

static const char *doctest_reason_text(uint32_t flags)
{
	if (flags & REASON_SHOULD_HAVE_FAILED)
		return "was expected to fail but passed";
	if (flags & REASON_NOT_EXACTLY)
		return "did not fail as many times as expected";
	if (flags & REASON_TIMEOUT)
		return "took longer than its timeout decorator allows";
	if (flags & REASON_EXCEPTION)
		return "unhandled exception";
	return "failed";
}

static struct err *doctest_end_test(struct run *run, uint64_t stats)
{
	struct doctest *doctest = run->state;
	uint32_t flags;
	TRY(run_u32(run, RADDR(stats + doctest->at.flags), &flags));
	if (!flags || flags & REASONS_TO_PASS)
		return run_end(run, OUTCOME_PASS);
	doctest->failed = true;
	TRY(run_fail(run, NULL, 0, doctest_reason_text(flags)));
	return run_end(run, OUTCOME_FAIL);
}

static struct err *doctest_on_end_return(struct run *run, struct thread *thread,
					 uint64_t arg)
{
	(void)arg;
	struct doctest *doctest = run->state;
	if (!calls_returned(&doctest->end, thread) || doctest->crashing ||
	    !run->in_test)
		return NULL;
	/* Other reporters return to the same place. */
	doctest->end.inside = doctest->reporters == 1;
	TRY(doctest_end_test(run, regs_arg(&doctest->end.entry, 1)));
	return doctest_begin_next(run);
}

/*
 * test_case_end(this, stats) of the last reporter. If it is the only one, all
 * its calls come from one place with the same argument: from then on its
 * return is enough.
 */
static struct err *doctest_on_end(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	(void)arg;
	struct doctest *doctest = run->state;
	if (doctest->crashing || !run->in_test ||
	    thread_arg(thread, 0) != doctest->reporter)
		return NULL;
	TRY(calls_enter(run, thread, &doctest->end, doctest_on_end_return, 0));
	return doctest->reporters == 1 ? run_unbreak(run, doctest->case_end)
				       : NULL;
}

/* test_case_exception(this, { String error_string; bool is_crash; }) */
static struct err *doctest_on_exception(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	struct doctest *doctest = run->state;
	uint64_t exception = thread_arg(thread, 1);
	uint8_t is_crash;
	_cleanup_(freep) char *what = NULL, *text = NULL;
	TRY(doctest_read_byte(run, exception + 24, &is_crash));
	if (is_crash) {
		/* Its handler ends the test and the run, then dies. */
		doctest->crashing = true;
		return NULL;
	}
	if (!run->in_test ||
	    run_group(run, run->current) & TEST_FAILURES_WANTED)
		return NULL;
	err_ignore(doctest_read_string(run, exception, &what));
	TRY(str_format(&text, "unhandled exception: %s", what ? what : "?"));
	return run_fail(run, NULL, 0, text);
}

/* ---- Failed assertions ------------------------------------------------- */

static struct err *doctest_describe_failure(struct run *run,
					    struct thread *thread,
					    uint64_t data, uint32_t type,
					    char **ret)
{
	const struct doctest *doctest = run->state;
	const struct doctest_layout *at = &doctest->at;
	_cleanup_(freep) char *macro = NULL, *expression = NULL;
	_cleanup_(freep) char *values = NULL, *exception = NULL;
	uint8_t threw;
	struct raddr names;
	const uint64_t arg = type;
	uint64_t name = 0;
	if (program_symbol(run->program, ASSERT_STRING, &names))
		TRY(remote_call(thread, names, &arg, 1, CALL_LIMIT_NS, &name));
	if (name)
		TRY(run_text(run, RADDR(name), &macro));
	TRY(doctest_read_pointed(run, data + at->at_expression, &expression));
	TRY(doctest_read_string(run, data + at->at_decomposition, &values));
	TRY(doctest_read_byte(run, data + at->at_threw, &threw));
	if (threw)
		TRY(doctest_read_string(run, data + at->at_exception,
					&exception));
	_cleanup_(str_freep) struct str str = STR_INIT;
	TRY(str_appendf(&str, "%s( %s )",
			macro			? macro
			: type & ASSERT_REQUIRE ? "REQUIRE"
						: "CHECK",
			expression));
	if (threw)
		TRY(str_appendf(&str, " threw %s", exception));
	else if (type & ASSERT_THROWS)
		TRY(str_append(&str, " did not throw"));
	else if (*values)
		TRY(str_appendf(&str, " with values: %s", values));
	*ret = str_take(&str);
	return *ret ? NULL : err_nomem();
}

/* Is there a doctest::AssertData of a failed assertion of this test? */
static bool doctest_is_failed_assertion(struct run *run, uint64_t data,
					uint64_t test)
{
	const struct doctest *doctest = run->state;
	uint64_t owner;
	uint8_t failed;
	uint32_t line;
	return data >= 4096 && data % 8 == 0 &&
	       memory_read_some(run->tracee, RADDR(data), &owner, 8) == 8 &&
	       owner == test &&
	       memory_read_some(run->tracee,
				RADDR(data + doctest->at.at_failed), &failed,
				1) == 1 &&
	       failed == 1 &&
	       memory_read_some(run->tracee, RADDR(data + doctest->at.at_line),
				&line, 4) == 4 &&
	       line > 0;
}

/*
 * The caller, ResultBuilder::log(), has the assertion's data in a register
 * it kept, or near the top of the stack.
 */
static uint64_t doctest_find_assertion(struct run *run, struct thread *thread)
{
	uint64_t test = run_handle(run, run->current);
	uint64_t words[ARCH_PRESERVED + 128];
	regs_preserved(&thread->regs, words);
	size_t n = memory_read_some(run->tracee, regs_sp(&thread->regs),
				    words + ARCH_PRESERVED,
				    sizeof(words) - ARCH_PRESERVED * 8) /
		   8;
	for (size_t i = 0; i < ARCH_PRESERVED + n; i++) {
		if (doctest_is_failed_assertion(run, words[i], test))
			return words[i];
	}
	return 0;
}

static bool doctest_wants_failure(const struct run *run)
{
	return run->in_test && run->outcome != OUTCOME_FAIL &&
	       !(run_group(run, run->current) & TEST_FAILURES_WANTED);
}

static struct err *doctest_note_assertion(struct run *run,
					  struct thread *thread, uint64_t data)
{
	const struct doctest *doctest = run->state;
	const struct doctest_layout *at = &doctest->at;
	uint32_t type, line;
	_cleanup_(freep) char *file = NULL, *text = NULL;
	TRY(run_u32(run, RADDR(data + at->at_type), &type));
	TRY(run_u32(run, RADDR(data + at->at_line), &line));
	if (type & ASSERT_WARN)
		return NULL;
	err_ignore(doctest_read_pointed(run, data + at->at_file, &file));
	err_ignore(doctest_describe_failure(run, thread, data, type, &text));
	return run_fail(run, file, line, text);
}

/* log_message(this, data): MESSAGE and FAIL. */
static struct err *doctest_on_message(struct run *run, struct thread *thread,
				      uint64_t arg)
{
	(void)arg;
	const struct doctest *doctest = run->state;
	const struct doctest_layout *at = &doctest->at;
	uint64_t message = thread_arg(thread, 1);
	uint32_t severity, line;
	_cleanup_(freep) char *file = NULL, *text = NULL;
	TRY(run_u32(run, RADDR(message + at->text_severity), &severity));
	if (!doctest_wants_failure(run) || severity & ASSERT_WARN)
		return NULL;
	TRY(run_u32(run, RADDR(message + at->text_line), &line));
	err_ignore(doctest_read_pointed(run, message + at->text_file, &file));
	err_ignore(doctest_read_string(run, message + at->text, &text));
	return run_fail(run, file, line, text);
}

/*
 * doctest asks whether it is being debugged after each failed assertion and
 * each message, and would break into the debugger, us: the answer is no.
 */
static struct err *doctest_on_debugger(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	uint64_t data = doctest_wants_failure(run)
				? doctest_find_assertion(run, thread)
				: 0;
	if (data)
		TRY(doctest_note_assertion(run, thread, data));
	return calls_skip(run, thread, 0);
}

/*
 * Before 2.4.1 it did not ask. There, we stop where the console prints an
 * assertion: fulltext_log_assert_to_stream(stream, data).
 */
static struct err *
doctest_on_assertion_text(struct run *run, struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct doctest *doctest = run->state;
	uint64_t data = thread_arg(thread, 1);
	if (!doctest_wants_failure(run))
		return NULL;
	if (doctest_is_failed_assertion(run, data,
					run_handle(run, run->current)))
		return doctest_note_assertion(run, thread, data);
	/* With -s it prints all of them. */
	return ++doctest->held < HELD_MAX
		       ? NULL
		       : run_unbreak(run, regs_pc(&thread->regs));
}

/* ---- Context::run() ---------------------------------------------------- */

static struct err *
doctest_on_context_return(struct run *run, struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct doctest *doctest = run->state;
	if (!calls_returned(&doctest->context, thread))
		return NULL;
	doctest->context.inside = false;
	if (!run->order)
		return NULL;
	if (run->in_test) {
		TRY(run_fail(run, NULL, 0, "doctest left the test out"));
		TRY(run_end(run, OUTCOME_FAIL));
	}
	if (run_wanted(run) != RUN_NONE)
		return calls_again(run, thread, &doctest->context);
	if (doctest->failed) {
		/* Several rounds count as one for the exit status. */
		regs_set_result(&thread->regs, 1);
		thread_dirty(thread);
	}
	return NULL;
}

/* A reporter none of whose functions are folded into one. */
static bool doctest_is_distinct(const uint64_t table[SLOTS])
{
	static const int used[] = { SLOT_RUN_START, SLOT_CASE_END,
				    SLOT_CASE_EXCEPTION, SLOT_LOG_MESSAGE };
	for (size_t i = 0; i < ARRAY_SIZE(used); i++) {
		for (int j = 0; j < SLOTS; j++) {
			if (j != used[i] && table[j] == table[used[i]])
				return false;
		}
	}
	return true;
}

/* The last of the reporters that can be used. */
static struct err *doctest_find_reporter(struct run *run, uint64_t table[SLOTS])
{
	struct doctest *doctest = run->state;
	uint64_t bounds[2], reporters[REPORTERS_MAX], vtable;
	TRY(memory_read(run->tracee,
			RADDR(doctest->state + doctest->at.reporters), bounds,
			sizeof(bounds)));
	uint64_t n = (bounds[1] - bounds[0]) / 8;
	if (bounds[1] < bounds[0] || n > REPORTERS_MAX)
		return doctest_unknown_version(run,
					       "its reporters are no list");
	if (!n)
		return err_hint(err_create(ERR_SUITE,
					   "doctest runs without a reporter"),
				"is there one of the name given with -r?");
	TRY(memory_read(run->tracee, RADDR(bounds[0]), reporters, n * 8));
	doctest->reporters = n;
	for (uint64_t i = n; i-- > 0;) {
		TRY(run_u64(run, RADDR(reporters[i]), &vtable));
		TRY(memory_read(run->tracee, RADDR(vtable), table, SLOTS * 8));
		for (int j = 0; j < SLOTS; j++) {
			if (!program_module(run->program, RADDR(table[j])))
				return doctest_unknown_version(
					run, "a reporter has no functions");
		}
		doctest->chosen = i;
		if (doctest_is_distinct(table))
			return NULL;
		log_debug(LOG_FRAMEWORK, "doctest: a reporter of no use");
	}
	return err_create(ERR_SUITE, "none of doctest's reporters can be "
				     "observed");
}

/*
 * In ContextState, the filters (nine vectors in a vector) come right before
 * the vector of reporters. Where that is differs from version to version, and
 * there may be no debug information.
 */
static struct err *doctest_find_vectors(struct run *run)
{
	struct doctest *doctest = run->state;
	uint64_t words[STATE_MAX / 8];
	size_t n = memory_read_some(run->tracee, RADDR(doctest->state), words,
				    sizeof(words)) /
		   8;
	size_t known = doctest->at.filters / 8;
	for (size_t i = 0; i + 6 <= n; i++) {
		/* First where it should be. */
		size_t at = i || known + 6 > n ? i : known;
		if (words[at] && words[at + 1] - words[at] == 9 * 24 &&
		    words[at + 4] - words[at + 3] <= REPORTERS_MAX * 8) {
			doctest->at.filters = at * 8;
			doctest->at.reporters = at * 8 + 24;
			return NULL;
		}
	}
	return doctest_unknown_version(run, "filters and reporters not found");
}

/* Asked for in Context::run() right after the reporters were made. */
static struct err *doctest_on_registered(struct run *run, struct thread *thread,
					 uint64_t arg)
{
	(void)arg;
	(void)thread;
	struct doctest *doctest = run->state;
	uint64_t table[SLOTS];
	if (!doctest->context.inside)
		return NULL;
	TRY(doctest_find_vectors(run));
	TRY(doctest_find_reporter(run, table));
	doctest->case_end = RADDR(table[SLOT_CASE_END]);
	TRY(run_break(run, RADDR(table[SLOT_RUN_START]), doctest_on_run_start,
		      0));
	TRY(run_break(run, doctest->case_end, doctest_on_end, 0));
	TRY(run_break(run, RADDR(table[SLOT_CASE_EXCEPTION]),
		      doctest_on_exception, 0));
	TRY(run_break(run, RADDR(table[SLOT_LOG_MESSAGE]), doctest_on_message,
		      0));
	return run_unbreak(run, doctest->registered);
}

static struct err *doctest_on_context(struct run *run, struct thread *thread,
				      uint64_t arg)
{
	(void)arg;
	struct doctest *doctest = run->state;
	if (doctest->context.inside)
		return NULL;
	/* Context is one pointer to its state. */
	TRY(run_u64(run, RADDR(thread_arg(thread, 0)), &doctest->state));
	TRY(calls_enter(run, thread, &doctest->context,
			doctest_on_context_return, 0));
	/* Before, it is called for each test that registers itself. */
	return run_break(run, doctest->registered, doctest_on_registered, 0);
}

static struct err *doctest_attach(struct run *run)
{
	struct doctest *doctest = run->state;
	struct raddr text;
	bool found;
	if (!doctest_find_layout(run, &doctest->at))
		return doctest_unknown_version(
			run, "debug information makes no sense");
	TRY(run_break_symbol(run, CONTEXT_RUN, doctest_on_context, 0, &found));
	found = found && (program_symbol(run->program, REGISTERED,
					 &doctest->registered) ||
			  program_symbol(run->program, REGISTERED_OLD,
					 &doctest->registered));
	if (!found)
		return adapter_function_missing(
			run, CONTEXT_RUN " or " REGISTERED,
			"build it without link-time optimisation, and do not "
			"strip it");
	TRY(run_break_symbol(run, DEBUGGER_ACTIVE, doctest_on_debugger, 0,
			     NULL));
	if (program_symbol(run->program, REGISTERED, &text) ||
	    !program_function_starting(run->program, ASSERTION_TEXT, &text,
				       NULL))
		return NULL;
	return run_break(run, text, doctest_on_assertion_text, 0);
}

static struct err *doctest_start(struct run *run, struct thread *thread)
{
	TRY(doctest_clear_filter(run));
	return doctest_begin_pass(run, thread);
}

const struct framework framework_doctest = {
	.name = "doctest",
	.state_size = sizeof(struct doctest),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_USES(CONTEXT_RUN),
		FRAMEWORK_USES(REGISTERED, REGISTERED_OLD)),
	.own = {
		.title = "doctest",
		.functions = FRAMEWORK_LIST("doctest::"),
		.symbols = FRAMEWORK_LIST(CONTEXT_RUN, REGISTERED, REGISTERED_OLD),
		.variables = FRAMEWORK_LIST("doctest::"),
		.types = FRAMEWORK_LIST("doctest::*"),
		.libraries = FRAMEWORK_LIST("libdoctest"),
	},
	.attach = doctest_attach,
	.list = doctest_list,
	.start = doctest_start,
	.branches = true,
	.no_points = "doctest has no set-up and tear-down of its own: "
		     "fixtures are constructors and destructors, and "
		     "subcases run anywhere",
};

/*
 * Criterion, by calls: it starts a process for each test, executes the program again
 * there, and cannot be asked not to. So where criterion_run_all_tests() is called,
 * the tests are called instead, one after the other, as that other process would.
 *
 * A test of the program is a function that calls criterion_internal_test_setup(),
 * criterion_internal_test_main(body) and criterion_internal_test_teardown(). The body
 * of these three only reports to the runner and calls what the program has: the
 * set-ups of suite and test, the test, the tear-downs. They are replaced by those
 * calls. What leaves a test (criterion_abort_test(), cr_skip_test()) returns from the
 * one that is running.
 *
 * What the rest of the library sends to the runner is taken as received: nn_send()
 * and nn_recv() of nanomsg do nothing.
 *
 * Tests that expect a signal or an exit status end their process as in Criterion, and
 * so does, when it is over, a test that redirected a standard stream: the library can
 * do that only once.
 *
 * Seen with 2.4.1; see docs/frameworks.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "framework/adapter.h"
#include "native/calls.h"
#include "native/framework.h"
#include "tracee/memory.h"
#include "tracee/remote.h"

#define TESTS_MAX 1000000
#define NODES_MAX 64

/* A handle is the address of the test and the number of its parameter. */
#define PARAMETER_SHIFT 48
#define PARAMETERS_MAX 0xffff
#define ADDRESS_MASK ((UINT64_C(1) << PARAMETER_SHIFT) - 1)

enum { KIND_PARAMETERIZED = 1 }; /* enum criterion_test_kind */

/* Criterion's own structures in memory. */
struct criterion_set { /* struct criterion_ordered_set */
	uint64_t first, size;
};
struct criterion_suite_element {
	uint64_t next; /* struct criterion_ordered_set_node */
	uint64_t name, data;
	uint64_t tests;
};
struct criterion_test_element {
	uint64_t next;
	uint64_t name, suite_name, function, data;
};
struct criterion_parameters { /* struct criterion_test_params */
	uint64_t size, values, length, cleanup;
};

struct criterion_layout {
	/* struct criterion_test_extra_data */
	uint64_t kind, parameters, identifier, file, line, init, fini;
	uint64_t signal, exit_code, disabled, timeout;
	/* struct criterion_assert_stats */
	uint64_t assert_message, assert_passed, assert_line, assert_file;
	uint64_t node_text, node_message, node_children; /* cri_assert_node */
	uint64_t pattern; /* struct criterion_options */
};

/* What is called in place of criterion_run_all_tests(). */
enum criterion_phase { PHASE_PARAMETERS, PHASE_TEST, PHASE_CLEANUP };
enum criterion_stage { STAGE_NONE, STAGE_SETUP, STAGE_MAIN, STAGE_TEARDOWN };

struct criterion {
	struct criterion_layout at;
	struct calls call; /* of criterion_run_all_tests() */
	struct raddr run_all;
	struct raddr current_test, current_suite;
	/* Memory of ours in the program. */
	uint64_t parameters; /* struct criterion_parameters */
	uint64_t answer;     /* of the runner */
	/* Where the list of tests is. */
	uint64_t suite_at, test_at;
	/* The running test. */
	enum criterion_phase phase;
	struct criterion_test_element test;
	struct criterion_parameters values;
	struct calls function; /* one of the three */
	enum criterion_stage stage;
	uint64_t second; /* what is called in it, too; 0: nothing */
	bool skips;	 /* its body does not run */
	bool redirected; /* one of its standard streams */
	bool has_input;	 /* standard input is */
	struct calls input;
};

static void criterion_find_layout(const struct run *run,
				  struct criterion_layout *at)
{
	static const char *const data = "criterion_test_extra_data";
	static const char *const stats = "criterion_assert_stats";
	static const char *const node = "cri_assert_node";
	const struct adapter_member rows[] = {
		{ &at->kind, data, "kind_", 12, ANYWHERE },
		{ &at->parameters, data, "param_", 16, ANYWHERE },
		{ &at->identifier, data, "identifier_", 24, ANYWHERE },
		{ &at->file, data, "file_", 32, ANYWHERE },
		{ &at->line, data, "line_", 40, ANYWHERE },
		{ &at->init, data, "init", 48, ANYWHERE },
		{ &at->fini, data, "fini", 56, ANYWHERE },
		{ &at->signal, data, "signal", 64, ANYWHERE },
		{ &at->exit_code, data, "exit_code", 68, ANYWHERE },
		{ &at->disabled, data, "disabled", 72, ANYWHERE },
		{ &at->timeout, data, "timeout", 88, ANYWHERE },
		{ &at->assert_message, stats, "message", 0, ANYWHERE },
		{ &at->assert_passed, stats, "passed", 8, ANYWHERE },
		{ &at->assert_line, stats, "line", 12, ANYWHERE },
		{ &at->assert_file, stats, "file", 16, ANYWHERE },
		{ &at->node_text, node, "repr", 0, ANYWHERE },
		{ &at->node_message, node, "message", 8, ANYWHERE },
		{ &at->node_children, node, "children", 120, ANYWHERE },
		{ &at->pattern, "criterion_options", "pattern", 24, ANYWHERE },
	};
	adapter_find_members(run, rows, ARRAY_SIZE(rows));
}

/* Of a suite's data, which may be missing. */
static struct err *criterion_suite_word(struct run *run, uint64_t suite,
					uint64_t at, uint64_t *ret)
{
	uint64_t data;
	*ret = 0;
	TRY(run_u64(
		run,
		RADDR(suite + offsetof(struct criterion_suite_element, data)),
		&data));
	return data ? run_u64(run, RADDR(data + at), ret) : NULL;
}

/* ---- the list ---- */

static struct err *
criterion_is_disabled(struct run *run, uint64_t suite,
		      const struct criterion_test_element *test, bool *ret)
{
	const struct criterion *criterion = run->state;
	uint64_t at = criterion->at.disabled, of_suite, of_test;
	TRY(criterion_suite_word(run, suite, at, &of_suite));
	TRY(run_u64(run, RADDR(test->data + at), &of_test));
	*ret = (of_suite & 0xff) || (of_test & 0xff);
	return NULL;
}

/* Is it what the program's own --filter is for? */
static struct err *
criterion_is_listed(struct run *run, const struct criterion_test_element *test,
		    bool *ret)
{
	const struct criterion *criterion = run->state;
	struct raddr options;
	uint64_t pattern_at = 0, identifier_at;
	_cleanup_(freep) char *pattern = NULL, *identifier = NULL;
	*ret = true;
	if (program_symbol(run->program, "criterion_options", &options))
		TRY(run_u64(run,
			    raddr_add(options, (int64_t)criterion->at.pattern),
			    &pattern_at));
	if (!pattern_at)
		return NULL;
	TRY(run_text(run, RADDR(pattern_at), &pattern));
	if (strchr(pattern, '('))
		return err_hint(err_create(ERR_SUITE,
					   "extended globs of Criterion's "
					   "--filter are not supported"),
				"select tests with --tests");
	TRY(run_u64(run, RADDR(test->data + criterion->at.identifier),
		    &identifier_at));
	TRY(run_text(run, RADDR(identifier_at), &identifier));
	*ret = str_glob(pattern, identifier);
	return NULL;
}

/* The test that the list is at, with @n parameters. */
static struct err *criterion_add_tests(struct run *run, uint64_t n)
{
	const struct criterion *criterion = run->state;
	const struct criterion_test_element *test = &criterion->test;
	_cleanup_(freep) char *suite = NULL, *name = NULL, *file = NULL;
	_cleanup_(freep) char *full = NULL;
	uint64_t file_at;
	uint32_t line;
	bool disabled;
	TRY(run_text(run, RADDR(test->suite_name), &suite));
	TRY(run_text(run, RADDR(test->name), &name));
	TRY(run_u64(run, RADDR(test->data + criterion->at.file), &file_at));
	TRY(run_u32(run, RADDR(test->data + criterion->at.line), &line));
	TRY(run_text(run, RADDR(file_at), &file));
	TRY(criterion_is_disabled(run, criterion->suite_at, test, &disabled));
	TRY(str_format(&full, "%s::%s", suite, name));
	if (n > PARAMETERS_MAX || run_tests(run) > TESTS_MAX ||
	    criterion->test_at & ~ADDRESS_MASK)
		return adapter_unknown_version(run, "too many tests");
	for (uint64_t i = 0; i < n; i++) {
		TRY(run_add_test(run, full, run_source(run, file), line,
				 disabled,
				 criterion->test_at | i << PARAMETER_SHIFT,
				 criterion->suite_at));
		run_isolate_test(run);
	}
	return NULL;
}

/* The list goes on to the next test; false: there is none. */
static struct err *criterion_next_listed(struct run *run, bool *ret)
{
	struct criterion *criterion = run->state;
	uint64_t next = criterion->test_at ? criterion->test.next : 0;
	for (size_t i = 0; !next; i++) {
		struct criterion_suite_element suite;
		struct criterion_set tests = {};
		*ret = criterion->suite_at;
		if (!criterion->suite_at)
			return NULL;
		TRY(memory_read(run->tracee, RADDR(criterion->suite_at), &suite,
				sizeof(suite)));
		if (criterion->test_at || i) {
			/* All of this suite were there. */
			criterion->suite_at = suite.next;
			criterion->test_at = 0;
			if (!suite.next)
				continue;
			TRY(memory_read(run->tracee, RADDR(suite.next), &suite,
					sizeof(suite)));
		}
		if (suite.tests)
			TRY(memory_read(run->tracee, RADDR(suite.tests), &tests,
					sizeof(tests)));
		next = tests.first;
		if (i > TESTS_MAX)
			return adapter_unknown_version(
				run, "the list of suites does not end");
	}
	criterion->test_at = next;
	*ret = true;
	return memory_read(run->tracee, RADDR(next), &criterion->test,
			   sizeof(criterion->test));
}

/*
 * The thread is at the entry of criterion_run_all_tests(). How many parameters a
 * test has is for a function of the program to say.
 */
static struct err *criterion_list_on(struct run *run, struct thread *thread)
{
	struct criterion *criterion = run->state;
	for (;;) {
		bool found, listed, disabled;
		uint32_t kind;
		uint64_t parameters;
		TRY(criterion_next_listed(run, &found));
		if (!found)
			return calls_skip(run, thread, 1);
		uint64_t data = criterion->test.data;
		TRY(criterion_is_listed(run, &criterion->test, &listed));
		if (!listed)
			continue;
		TRY(criterion_is_disabled(run, criterion->suite_at,
					  &criterion->test, &disabled));
		TRY(run_u32(run, RADDR(data + criterion->at.kind), &kind));
		TRY(run_u64(run, RADDR(data + criterion->at.parameters),
			    &parameters));
		if (kind == KIND_PARAMETERIZED && parameters && !disabled) {
			regs_set_arg(&thread->regs, 0, criterion->parameters);
			calls_instead(thread, RADDR(parameters));
			return NULL;
		}
		TRY(criterion_add_tests(run, 1));
	}
}

static struct err *criterion_on_listed(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct criterion *criterion = run->state;
	struct criterion_parameters found;
	if (!calls_returned(&criterion->call, thread))
		return NULL;
	TRY(memory_read(run->tracee, RADDR(criterion->parameters), &found,
			sizeof(found)));
	TRY(criterion_add_tests(run, found.length));
	calls_go_back(thread, &criterion->call);
	return criterion_list_on(run, thread);
}

static struct err *criterion_map_memory(struct run *run, struct thread *thread)
{
	static const uint8_t answer[] = { 8, 0 }; /* protobuf: 1 is 0, OK */
	struct criterion *criterion = run->state;
	struct raddr memory;
	TRY(remote_map(thread, sizeof(struct criterion_parameters) + 16,
		       &memory));
	criterion->parameters = memory.v;
	criterion->answer = memory.v + sizeof(struct criterion_parameters);
	return memory_write(run->tracee, RADDR(criterion->answer), answer,
			    sizeof(answer));
}

static struct err *criterion_discover(struct run *run, struct thread *thread)
{
	struct criterion *criterion = run->state;
	uint64_t suites;
	struct criterion_set set;
	TRY(criterion_map_memory(run, thread));
	TRY(calls_enter(run, thread, &criterion->call, criterion_on_listed, 0));
	TRY(run_u64(run, RADDR(thread_arg(thread, 0)), &suites));
	TRY(memory_read(run->tracee, RADDR(suites), &set, sizeof(set)));
	criterion->suite_at = set.first;
	criterion->test_at = 0;
	return criterion_list_on(run, thread);
}

/* ---- a test ---- */

/* The thread is at the entry of criterion_run_all_tests(). */
static struct err *criterion_call_test(struct run *run, struct thread *thread)
{
	struct criterion *criterion = run->state;
	criterion->phase = PHASE_TEST;
	calls_instead(thread, RADDR(criterion->test.function));
	return NULL;
}

static struct err *criterion_read_limits(struct run *run, uint64_t suite)
{
	const struct criterion *criterion = run->state;
	uint64_t data = criterion->test.data, word;
	uint32_t signal, exit_code;
	double seconds, of_test;
	TRY(run_u32(run, RADDR(data + criterion->at.signal), &signal));
	TRY(run_u32(run, RADDR(data + criterion->at.exit_code), &exit_code));
	TRY(criterion_suite_word(run, suite, criterion->at.timeout, &word));
	memcpy(&seconds, &word, sizeof(seconds));
	TRY(run_u64(run, RADDR(data + criterion->at.timeout), &word));
	memcpy(&of_test, &word, sizeof(of_test));
	if (of_test > 0)
		seconds = of_test;
	run_allow_signal(run, (int)signal);
	run_allow_exit(run, (int)exit_code & 0xff);
	if (seconds > 0 && seconds < 1e9)
		run_limit(run, (uint64_t)(seconds * 1e9));
	return NULL;
}

/* The thread is at the entry of criterion_run_all_tests(). */
static struct err *criterion_begin_test(struct run *run, struct thread *thread,
					size_t wanted)
{
	struct criterion *criterion = run->state;
	uint64_t at = run_handle(run, wanted) & ADDRESS_MASK;
	uint64_t suite = run_group(run, wanted), parameters;
	TRY(memory_read(run->tracee, RADDR(at), &criterion->test,
			sizeof(criterion->test)));
	/* Without the links of their lists. */
	TRY(memory_write_u64(run->tracee, criterion->current_test, at + 8));
	TRY(memory_write_u64(run->tracee, criterion->current_suite, suite + 8));
	criterion->stage = STAGE_NONE;
	criterion->skips = criterion->redirected = false;
	criterion->has_input = false;
	criterion->values = (struct criterion_parameters){};
	TRY(run_begin(run));
	TRY(criterion_read_limits(run, suite));
	TRY(run_u64(run, RADDR(criterion->test.data + criterion->at.parameters),
		    &parameters));
	if (!parameters)
		return criterion_call_test(run, thread);
	criterion->phase = PHASE_PARAMETERS;
	regs_set_arg(&thread->regs, 0, criterion->parameters);
	calls_instead(thread, RADDR(parameters));
	return NULL;
}

/* It returned: did it expect to end in another way? */
static struct err *criterion_judge_return(struct run *run)
{
	char text[96];
	if (run->outcome)
		return NULL;
	if (run->allowed_signal)
		snprintf(text, sizeof(text), "it returned, expected SIG%s",
			 sigabbrev_np(run->allowed_signal)
				 ? sigabbrev_np(run->allowed_signal)
				 : "?");
	else if (run->allowed_exit)
		snprintf(text, sizeof(text), "it returned, expected exit %d",
			 run->allowed_exit);
	else
		return NULL;
	return run_fail(run, NULL, 0, text);
}

/*
 * If what was called in place of criterion_run_all_tests() has returned: what comes
 * after it.
 */
static struct err *criterion_go_on(struct run *run, struct thread *thread)
{
	struct criterion *criterion = run->state;
	if (!calls_returned(&criterion->call, thread))
		return NULL;
	if (run->in_test && criterion->phase == PHASE_PARAMETERS) {
		TRY(memory_read(run->tracee, RADDR(criterion->parameters),
				&criterion->values, sizeof(criterion->values)));
		calls_go_back(thread, &criterion->call);
		return criterion_call_test(run, thread);
	}
	if (run->in_test && criterion->phase == PHASE_TEST &&
	    criterion->values.cleanup) {
		criterion->phase = PHASE_CLEANUP;
		calls_go_back(thread, &criterion->call);
		regs_set_arg(&thread->regs, 0, criterion->parameters);
		calls_instead(thread, RADDR(criterion->values.cleanup));
		return NULL;
	}
	TRY(criterion_judge_return(run));
	/* As if it had ended its process: nobody will see what it leaves. */
	if (criterion->redirected && run->outcome != OUTCOME_SKIP)
		return run_leaves(run, run->allowed_exit);
	TRY(run_end(run, OUTCOME_NONE));
	if (criterion->redirected) {
		run->stop = true;
		return NULL;
	}
	size_t wanted = run_wanted(run);
	if (wanted != RUN_NONE) {
		TRY(calls_again(run, thread, &criterion->call));
		return criterion_begin_test(run, thread, wanted);
	}
	criterion->call.inside = false;
	calls_leave(thread, &criterion->call, false);
	regs_set_result(&thread->regs, 1);
	TRY(run_unbreak(run, criterion->call.return_to));
	return NULL;
}

/* ---- its parts ---- */

/* The thread is where one of the three functions has returned. */
static struct err *criterion_end_stage(struct run *run, struct thread *thread)
{
	struct criterion *criterion = run->state;
	uint64_t second = criterion->second;
	criterion->second = 0;
	if (second) {
		calls_go_back(thread, &criterion->function);
		calls_instead(thread, RADDR(second));
		return NULL;
	}
	enum criterion_stage stage = criterion->stage;
	criterion->function.inside = false;
	criterion->stage = STAGE_NONE;
	if (stage == STAGE_MAIN)
		TRY(run_point(run, SUITE_BEFORE_TEARDOWN));
	return criterion_go_on(run, thread);
}

/*
 * One of the three functions has returned, or the whole test, or both: compilers
 * jump to the last one.
 */
static struct err *criterion_on_return(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	const struct criterion *criterion = run->state;
	if (!calls_returned(&criterion->function, thread))
		return criterion_go_on(run, thread);
	return criterion_end_stage(run, thread);
}

/* The function is left, as the library's longjmp() would. */
static struct err *criterion_leave_stage(struct run *run, struct thread *thread)
{
	struct criterion *criterion = run->state;
	criterion->second = 0;
	calls_go_back(thread, &criterion->function);
	TRY(calls_skip_void(run, thread));
	return criterion_end_stage(run, thread);
}

static struct err *criterion_enter_stage(struct run *run, struct thread *thread,
					 enum criterion_stage stage,
					 uint64_t first, uint64_t second)
{
	struct criterion *criterion = run->state;
	if (!first) {
		first = second;
		second = 0;
	}
	if (!first) {
		TRY(calls_skip_void(run, thread));
		return criterion_go_on(run, thread);
	}
	criterion->stage = stage;
	criterion->second = second;
	TRY(calls_enter(run, thread, &criterion->function, criterion_on_return,
			0));
	calls_instead(thread, RADDR(first));
	return NULL;
}

static struct err *criterion_on_setup(struct run *run, struct thread *thread,
				      uint64_t arg)
{
	(void)arg;
	const struct criterion *criterion = run->state;
	uint64_t of_suite, of_test, at = criterion->at.init;
	if (!run->in_test)
		return NULL;
	TRY(criterion_suite_word(run, run_group(run, run->current), at,
				 &of_suite));
	TRY(run_u64(run, RADDR(criterion->test.data + at), &of_test));
	return criterion_enter_stage(run, thread, STAGE_SETUP, of_suite,
				     of_test);
}

static struct err *criterion_on_main(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	struct criterion *criterion = run->state;
	const struct criterion_parameters *values = &criterion->values;
	uint64_t body = thread_arg(thread, 0);
	if (!run->in_test)
		return NULL;
	if (criterion->skips)
		return calls_skip_void(run, thread);
	TRY(criterion_enter_stage(run, thread, STAGE_MAIN, body, 0));
	if (values->values) {
		uint64_t number =
			run_handle(run, run->current) >> PARAMETER_SHIFT;
		regs_set_arg(&thread->regs, 0,
			     values->values + number * values->size);
		thread_dirty(thread);
	}
	return run_point(run, SUITE_AFTER_SETUP);
}

static struct err *criterion_on_teardown(struct run *run, struct thread *thread,
					 uint64_t arg)
{
	(void)arg;
	const struct criterion *criterion = run->state;
	uint64_t of_suite, of_test, at = criterion->at.fini;
	if (!run->in_test)
		return NULL;
	TRY(run_point(run, SUITE_BEFORE_TEARDOWN)); /* its body was skipped */
	TRY(run_u64(run, RADDR(criterion->test.data + at), &of_test));
	TRY(criterion_suite_word(run, run_group(run, run->current), at,
				 &of_suite));
	return criterion_enter_stage(run, thread, STAGE_TEARDOWN, of_test,
				     of_suite);
}

static char *criterion_trim(char *text)
{
	while (text && *text && strchr(" \n", *text))
		text++;
	size_t n = text ? strlen(text) : 0;
	while (n && strchr(" \n", text[n - 1]))
		text[--n] = '\0';
	return n ? text : NULL;
}

/* A text whose address is there; NULL: there is none. */
static struct err *criterion_text_at(struct run *run, uint64_t address,
				     char **ret)
{
	uint64_t text;
	TRY(run_u64(run, RADDR(address), &text));
	return text ? run_text(run, RADDR(text), ret) : NULL;
}

/*
 * cri_assert_node_send(file, line, tree): a failed assertion of the new kind. Its
 * message is at the root, what it says by itself at the first leaf.
 */
static struct err *criterion_on_node(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	const struct criterion *criterion = run->state;
	const struct criterion_layout *at = &criterion->at;
	uint64_t node = thread_arg(thread, 2), children = node;
	_cleanup_(freep) char *message = NULL, *file = NULL, *text = NULL;
	if (!run->in_test)
		return NULL;
	err_ignore(run_text(run, RADDR(thread_arg(thread, 0)), &file));
	err_ignore(criterion_text_at(run, node + at->node_message, &message));
	for (int i = 0; i < NODES_MAX && children; i++) {
		node = children;
		TRY(run_u64(run, RADDR(node + at->node_children), &children));
	}
	err_ignore(criterion_text_at(run, node + at->node_text, &text));
	char *said = criterion_trim(message), *itself = criterion_trim(text);
	TRY(run_fail(run, file, (unsigned)thread_arg(thread, 1),
		     said ? said : itself));
	return calls_skip_void(run, thread);
}

/* criterion_send_assert(stats) */
static struct err *criterion_on_assert(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	const struct criterion *criterion = run->state;
	const struct criterion_layout *at = &criterion->at;
	uint64_t stats = thread_arg(thread, 0), passed = 1;
	uint32_t line = 0;
	_cleanup_(freep) char *message = NULL, *file = NULL;
	if (!run->in_test)
		return NULL;
	TRY(run_u64(run, RADDR(stats + at->assert_passed), &passed));
	if (!(passed & 0xff)) {
		err_ignore(criterion_text_at(run, stats + at->assert_message,
					     &message));
		err_ignore(
			criterion_text_at(run, stats + at->assert_file, &file));
		TRY(run_u32(run, RADDR(stats + at->assert_line), &line));
		TRY(run_fail(run, file, line, criterion_trim(message)));
	}
	return calls_skip_void(run, thread);
}

static bool criterion_leaves(const struct run *run, const struct thread *thread)
{
	const struct criterion *criterion = run->state;
	return run->in_test && criterion->stage != STAGE_NONE &&
	       calls_nested(&criterion->function, thread) &&
	       calls_same_thread(&criterion->function, thread);
}

/* criterion_abort_test(): in a set-up, the library aborts. */
static struct err *criterion_on_abort(struct run *run, struct thread *thread,
				      uint64_t arg)
{
	(void)arg;
	const struct criterion *criterion = run->state;
	struct raddr function;
	if (!criterion_leaves(run, thread))
		return NULL;
	if (criterion->stage == STAGE_SETUP &&
	    program_symbol(run->program, "abort", &function)) {
		calls_instead(thread, function);
		return NULL;
	}
	return criterion_leave_stage(run, thread);
}

/* A text of the program with at most one %s in it, which is the next argument. */
static struct err *criterion_format(struct run *run,
				    const struct thread *thread, char **ret)
{
	_cleanup_(freep) char *format = NULL, *more = NULL;
	if (!thread_arg(thread, 0))
		return NULL;
	TRY(run_text(run, RADDR(thread_arg(thread, 0)), &format));
	char *at = strstr(format, "%s");
	if (!at || strchr(format, '%') != at || strchr(at + 1, '%')) {
		*ret = take_ptr(format);
		return NULL;
	}
	*at = '\0';
	err_ignore(run_text(run, RADDR(thread_arg(thread, 1)), &more));
	return str_format(ret, "%s%s%s", format, more ? more : "", at + 2);
}

/* criterion_skip_test(format, …) */
static struct err *criterion_on_skip(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	struct criterion *criterion = run->state;
	_cleanup_(freep) char *reason = NULL;
	if (!criterion_leaves(run, thread))
		return NULL;
	err_ignore(criterion_format(run, thread, &reason));
	TRY(run_skip(run, NULL, 0, reason && *reason ? reason : NULL));
	criterion->skips = true;
	return criterion_leave_stage(run, thread);
}

/* criterion_test_die(format, …): an exception left a part of the test. */
static struct err *criterion_on_die(struct run *run, struct thread *thread,
				    uint64_t arg)
{
	(void)arg;
	struct criterion *criterion = run->state;
	_cleanup_(freep) char *message = NULL;
	if (!run->in_test)
		return NULL;
	err_ignore(criterion_format(run, thread, &message));
	TRY(run_fail(run, NULL, 0, message));
	criterion->skips = true;
	return calls_skip_void(run, thread);
}

enum { STREAM_INPUT, STREAM_OUTPUT };

static struct err *criterion_on_redirect(struct run *run, struct thread *thread,
					 uint64_t stream)
{
	(void)thread;
	struct criterion *criterion = run->state;
	if (run->in_test)
		criterion->redirected = true;
	if (run->in_test && stream == STREAM_INPUT)
		criterion->has_input = true;
	return NULL;
}

static struct err *criterion_on_input_made(struct run *run,
					   struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct criterion *criterion = run->state;
	if (!calls_returned(&criterion->input, thread))
		return NULL;
	calls_go_back(thread, &criterion->input);
	criterion->input.inside = false;
	return NULL;
}

/*
 * cr_get_redirected_stdin(): in Criterion's own processes it is redirected from the
 * beginning. Here it is when a test asks for it, by the library's own function.
 */
static struct err *criterion_on_input(struct run *run, struct thread *thread,
				      uint64_t arg)
{
	(void)arg;
	struct criterion *criterion = run->state;
	struct raddr redirect;
	if (!run->in_test || criterion->has_input ||
	    !program_symbol(run->program, "cr_redirect_stdin", &redirect))
		return NULL;
	criterion->redirected = criterion->has_input = true;
	TRY(calls_enter(run, thread, &criterion->input, criterion_on_input_made,
			0));
	calls_instead(thread, redirect);
	return NULL;
}

/* cr_malloc() and so on take from memory that the processes would share. */
static struct err *criterion_on_memory(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	static const char *const names[] = { "malloc", "calloc", "realloc",
					     "free" };
	struct raddr function;
	if (program_symbol(run->program, names[arg], &function))
		calls_instead(thread, function);
	return NULL;
}

/* ---- what is sent to the runner ---- */

static struct err *criterion_on_log(struct run *run, struct thread *thread,
				    uint64_t arg)
{
	(void)arg;
	return run->in_test ? calls_skip_void(run, thread) : NULL;
}

/* nn_send(socket, buffer, size, flags): all of it was sent. */
static struct err *criterion_on_send(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	return run->in_test ? calls_skip(run, thread, thread_arg(thread, 2))
			    : NULL;
}

/* nn_recv(socket, &buffer, NN_MSG, flags) */
static struct err *criterion_on_receive(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	const struct criterion *criterion = run->state;
	if (!run->in_test)
		return NULL;
	TRY(memory_write_u64(run->tracee, RADDR(thread_arg(thread, 1)),
			     criterion->answer));
	return calls_skip(run, thread, 2);
}

static struct err *
criterion_on_free_message(struct run *run, struct thread *thread, uint64_t arg)
{
	(void)arg;
	const struct criterion *criterion = run->state;
	return thread_arg(thread, 0) == criterion->answer
		       ? calls_skip(run, thread, 0)
		       : NULL;
}

static struct err *criterion_on_run_all(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	if (run->order)
		return NULL;
	run_ready(run, thread);
	return NULL;
}

static struct err *criterion_attach(struct run *run)
{
	/* clang-format off */
	static const struct {
		const char *name;
		run_hook *hook;
		uint64_t arg;
	} hooks[] = {
		{ "criterion_run_all_tests", criterion_on_run_all, 0 },
		{ "criterion_internal_test_setup", criterion_on_setup, 0 },
		{ "criterion_internal_test_main", criterion_on_main, 0 },
		{ "criterion_internal_test_teardown", criterion_on_teardown, 0 },
		{ "criterion_send_assert", criterion_on_assert, 0 },
		{ "cri_assert_node_send", criterion_on_node, 0 },
		{ "criterion_abort_test", criterion_on_abort, 0 },
		{ "criterion_skip_test", criterion_on_skip, 0 },
		{ "criterion_test_die", criterion_on_die, 0 },
		{ "cr_redirect_stdin", criterion_on_redirect, STREAM_INPUT },
		{ "cr_redirect_stdout", criterion_on_redirect, STREAM_OUTPUT },
		{ "cr_redirect_stderr", criterion_on_redirect, STREAM_OUTPUT },
		{ "cr_get_redirected_stdin", criterion_on_input, 0 },
		{ "cr_malloc", criterion_on_memory, 0 },
		{ "cr_calloc", criterion_on_memory, 1 },
		{ "cr_realloc", criterion_on_memory, 2 },
		{ "cr_free", criterion_on_memory, 3 },
		{ "cr_log", criterion_on_log, 0 },
		{ "nn_send", criterion_on_send, 0 },
		{ "nn_recv", criterion_on_receive, 0 },
		{ "nn_freemsg", criterion_on_free_message, 0 },
	};
	/* clang-format on */
	struct criterion *criterion = run->state;
	criterion_find_layout(run, &criterion->at);
	if (!program_symbol(run->program, "criterion_run_all_tests",
			    &criterion->run_all) ||
	    !program_symbol(run->program, "criterion_current_test",
			    &criterion->current_test) ||
	    !program_symbol(run->program, "criterion_current_suite",
			    &criterion->current_suite))
		return adapter_unknown_version(
			run, "a function or variable is missing");
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		TRY(run_break_symbol(run, hooks[i].name, hooks[i].hook,
				     hooks[i].arg, NULL));
	return NULL;
}

static struct err *criterion_start(struct run *run, struct thread *thread)
{
	struct criterion *criterion = run->state;
	size_t wanted = run_wanted(run);
	if (wanted == RUN_NONE)
		return calls_skip(run, thread, 1);
	TRY(criterion_map_memory(run, thread));
	TRY(calls_enter(run, thread, &criterion->call, criterion_on_return, 0));
	return criterion_begin_test(run, thread, wanted);
}

const struct framework framework_criterion = {
	.name = "criterion",
	.state_size = sizeof(struct criterion),
	.signs = FRAMEWORK_SIGNS(
		FRAMEWORK_USES("criterion_internal_test_main"),
		FRAMEWORK_HAS("criterion_run_all_tests")),
	.own = {
		.title = "Criterion",
		.functions = FRAMEWORK_LIST("criterion_", "cr_", "cri_", "bxf_",
			"bxfi_"),
		.symbols = FRAMEWORK_LIST("criterion_run_all_tests",
			"criterion_internal_test_main"),
		.variables = FRAMEWORK_LIST("criterion_", "cr_"),
		.types = FRAMEWORK_LIST("criterion_test",
			"criterion_test_extra_data", "criterion_suite"),
		.libraries = FRAMEWORK_LIST("libcriterion", "libboxfort",
			"libnanomsg"),
	},
	.answered = true,
	.isolation = "as its worker runs them",
	.attach = criterion_attach,
	.discover = criterion_discover,
	.start = criterion_start,
	.branches = true,
	.judges_end = true,
};

/*
 * Hand-written runners: tests are functions whose names match a glob and that the
 * program itself calls. Each call of such a function from outside another one is a
 * test.
 *
 * The tests are found by a run in which every such call returns immediately. What
 * the calls return decides how some runners continue ("if (!test_a()) return 1;"),
 * so there are two runs, with 0 and with 1. The one that gets further, or ends
 * better, also shows which of the two means success. If the program crashes in
 * both, as its code needs what its tests leave, there is a third run, in which
 * the tests run.
 *
 * The program always runs normally, so that the code between the calls runs, too.
 * In an order that keeps its own sequence, calls that are not wanted are skipped;
 * in any other, the wanted test is called in place of another (native/slots.h).
 *
 * A test function's first instruction is also reached from inside the running
 * test: by recursion, as a helper, by a tail call, as the head of a loop. None of
 * these is a call of the runner. After some of them the breakpoint there rests
 * until the test has ended: a stop costs more than most helpers.
 *
 * Where many consecutive calls are not wanted, the functions are made quiet for
 * that time (tracee/quiet.h): a stop for each would take longer than most tests.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/globs.h"
#include "base/log.h"
#include "base/str.h"
#include "framework/function_calls.h"
#include "framework/function_discovery.h"
#include "framework/function_forks.h"
#include "framework/function_names.h"
#include "framework/function_suites.h"
#include "native/arguments.h"
#include "native/between.h"
#include "native/calls.h"
#include "native/executable.h"
#include "native/framework.h"
#include "native/session.h"
#include "native/slots.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "tracee/quiet.h"
#include "tracee/vector.h"

/* Fewer calls than QUIET_MIN + N / QUIET_EACH are skipped one by one. */
#define QUIET_MIN 4
#define QUIET_EACH 256
/* So often a test may come to entries before their breakpoints rest. */
#define INNER_MAX 32
#define RESTING_MAX 16

struct functions {
	struct calls call;
	struct slots slots;
	bool unwinds;	  /* calls may be left in ways that are not noticed */
	uint64_t running; /* handle */
	uint64_t called;  /* the function whose call is used for it */
	/* Where another test runs in place of the one that is called: */
	bool replaces;
	uint64_t lowered; /* arguments_pass() */
	struct between_kept kept;
	uint8_t vector[VECTOR_ALL]; /* as the caller had them */
	struct function_discovery discovery;
	size_t inner; /* how often the running test came to entries */
	struct {
		struct raddr address;
		uint64_t word;
	} resting[RESTING_MAX]; /* entries without breakpoint for now */
	size_t n_resting;
	struct function_forks forks;
};

static bool functions_recognise(const struct program *program)
{
	size_t n = function_names_count(program);
	log_debug(LOG_FRAMEWORK, "%zu functions are named as tests", n);
	return n;
}

/*
 * A call that repeats the one before, with the same argument, where the program's
 * own sequence goes on with another: a test that failed is tried again.
 */
static bool functions_is_retry(const struct run *run, size_t next,
			       const struct thread *thread, uint64_t address)
{
	uint64_t argument = thread_arg(thread, 0);
	struct object_signature signature;
	bool plain = function_signature_of(run, address, &signature) &&
		     !signature.parameters;
	if (!next ||
	    (run_handle(run, next - 1) & FUNCTION_ADDRESS_MASK) != address ||
	    (!plain && run_group(run, next - 1) != argument))
		return false;
	return next == run_tests(run) ||
	       (run_handle(run, next) & FUNCTION_ADDRESS_MASK) != address ||
	       (!plain && run_group(run, next) != argument);
}

/* The test whose call this is, in the program's own sequence. */
static size_t functions_test_of_call(const struct run *run,
				     const struct functions *functions,
				     const struct thread *thread,
				     uint64_t address)
{
	size_t n = run_tests(run);
	/* While calls are hushed, the one before was not seen. */
	if (!quiet_is(run->tracee) &&
	    functions_is_retry(run, functions->slots.next, thread, address))
		return RUN_NONE;
	for (size_t i = functions->slots.next; i < n; i++) {
		if ((run_handle(run, i) & FUNCTION_ADDRESS_MASK) == address)
			return i;
	}
	return RUN_NONE;
}

/*
 * Of a struct that is a message and a number, the number tells. Is it the second
 * word? Its size goes to @ret, if there is one.
 */
static bool functions_pair_number(const struct object_signature *signature,
				  unsigned *ret)
{
	for (unsigned i = 0; signature->returns_pair && i < 2; i++) {
		if (!signature->pair_numbers[i] ||
		    !signature->pair_pointers[1 - i])
			continue;
		*ret = signature->pair_numbers[i];
		return i == 1;
	}
	return false;
}

static struct err *functions_judge_result(struct run *run,
					  const struct thread *thread,
					  uint64_t address)
{
	struct object_signature signature;
	if (!function_signature_of(run, address, &signature))
		return NULL;
	uint64_t result = regs_result(&thread->regs);
	char text[64];
	if (signature.returns_pointer && result) {
		_cleanup_(freep) char *message = NULL;
		err_ignore(run_text(run, RADDR(result), &message));
		return run_fail(run, NULL, 0,
				message ? message : "returned a pointer");
	}
	unsigned size = signature.returns_integer ? signature.result_size : 0;
	if (functions_pair_number(&signature, &size))
		result = regs_second_result(&thread->regs);
	if (!signature.returns_integer && !size)
		return NULL;
	/* What is above the size of the type is undefined. */
	int64_t value = (int32_t)result;
	if (size == 1)
		value = (int64_t)(result & 0xff);
	else if (size == 2)
		value = (int64_t)(result & 0xffff);
	else if (size == 8)
		value = (int64_t)result;
	bool passed = run->session->discovery ? value != 0 : value == 0;
	if (passed)
		return NULL;
	snprintf(text, sizeof(text), "returned %lld", (long long)value);
	return run_fail(run, NULL, 0, text);
}

/* Is the running test's return address still where its call put it? */
static bool functions_is_entered(struct run *run)
{
	const struct functions *functions = run->state;
	uint64_t return_to = 0;
	err_ignore(memory_read_u64(run->tracee, regs_sp(&functions->call.entry),
				   &return_to));
	return return_to == functions->call.return_to.v;
}

/* The running test, or what it called, came to the entry of a test function. */
static struct err *functions_pass_inner(struct run *run, uint64_t address)
{
	struct functions *functions = run->state;
	uint64_t word;
	if (++functions->inner <= INNER_MAX ||
	    functions->n_resting == RESTING_MAX ||
	    !breakpoint_at(run->tracee, RADDR(address), &word))
		return NULL;
	size_t i = functions->n_resting++;
	functions->resting[i].address = RADDR(address);
	functions->resting[i].word = word;
	return run_unbreak(run, RADDR(address));
}

/* The entries that rested while the test ran have their breakpoints again. */
static struct err *functions_wake_entries(struct run *run)
{
	struct functions *functions = run->state;
	functions->call.inside = false;
	functions->inner = 0;
	while (functions->n_resting) {
		size_t i = --functions->n_resting;
		TRY(breakpoint_set(run->tracee, functions->resting[i].address,
				   functions->resting[i].word));
	}
	return NULL;
}

static struct err *functions_leave_test(struct run *run)
{
	struct functions *functions = run->state;
	between_end(run, run->current);
	TRY(between_restore_variables(run, &functions->kept));
	TRY(functions_wake_entries(run));
	/* The test may have written other code over that of the next. */
	size_t slot = functions->slots.next;
	if (slot >= run_tests(run))
		return NULL;
	uint64_t next = run_handle(run, slot) & FUNCTION_ADDRESS_MASK;
	uint64_t word;
	return breakpoint_at(run->tracee, RADDR(next), &word)
		       ? breakpoint_set(run->tracee, RADDR(next), word)
		       : NULL;
}

/* A test that longjmp or an exception left has failed. */
static struct err *functions_end_left(struct run *run)
{
	struct functions *functions = run->state;
	if (run->discovering) {
		TRY(functions_wake_entries(run));
		return calls_ignore_site(run, &functions->call);
	}
	TRY(functions_leave_test(run));
	TRY(calls_ignore_site(run, &functions->call));
	TRY(run_fail(run, NULL, 0,
		     "the function was left without returning (longjmp or an "
		     "exception)"));
	return run_end(run, OUTCOME_NONE);
}

/*
 * From where it jumps to, the runner may well come to the place after the call,
 * as if the test had returned.
 */
static struct err *functions_on_longjmp(struct run *run, struct thread *thread,
					uint64_t arg)
{
	(void)arg;
	const struct functions *functions = run->state;
	return calls_jumps_out(run, &functions->call, thread)
		       ? functions_end_left(run)
		       : NULL;
}

static struct err *functions_begin_test(struct run *run, size_t test)
{
	struct functions *functions = run->state;
	functions->running = run_handle(run, test);
	run->body = RADDR(functions->running & FUNCTION_ADDRESS_MASK);
	TRY(run_begin(run));
	/* With the last of them a runner may end as well as by returning. */
	if (test + 1 == run_tests(run))
		run_allow_exit(run, 0);
	return NULL;
}

/* The thread is at the entry of a test function; @test begins in its place. */
static struct err *functions_begin_instead(struct run *run,
					   struct thread *thread, size_t test)
{
	struct functions *functions = run->state;
	if (!functions->replaces)
		TRY(vector_read(thread, functions->vector));
	functions->replaces = true;
	calls_instead(thread,
		      RADDR(run_handle(run, test) & FUNCTION_ADDRESS_MASK));
	TRY(arguments_pass(run, thread, test, &functions->lowered));
	TRY(between_set_variables(run, test, &functions->kept));
	regs_set_sp(&functions->call.entry, regs_sp(&thread->regs));
	return functions_begin_test(run, test);
}

/*
 * The runner gets what its own call would have given. Where another test ran in
 * its place it learns of no failure while more are wanted: many stop after one.
 */
static struct err *functions_leave_call(struct run *run, struct thread *thread,
					bool failed)
{
	const struct functions *functions = run->state;
	struct object_signature own = {}, other = {};
	uint64_t running = functions->running & FUNCTION_ADDRESS_MASK;
	bool returns_void = function_returns_void(run, functions->called);
	bool more = run_known(run) || run_unknown(run);
	calls_leave(thread, &functions->call, !returns_void);
	if (functions->replaces)
		TRY(vector_write(thread, functions->vector, VECTOR_ALL));
	if (returns_void || !functions->slots.diverts)
		return NULL;
	function_signature_of(run, functions->called, &own);
	function_signature_of(run, running, &other);
	bool alike = own.returns_integer == other.returns_integer &&
		     own.returns_pointer == other.returns_pointer &&
		     own.result_size == other.result_size;
	uint64_t success = (uint64_t)run->session->discovery;
	if (own.returns_pair) {
		struct arch_result result;
		function_result(run, functions->called, &result);
		if (more || (!alike && !failed))
			regs_set_results(&thread->regs, &result);
		return NULL;
	}
	if (more || !alike)
		regs_set_result(&thread->regs,
				more || !failed ? success : !success);
	return NULL;
}

/* The runner's stack is where it was when it called. */
static void functions_raise_stack(struct functions *functions,
				  struct thread *thread)
{
	uint64_t lowered = functions->lowered;
	functions->lowered = 0;
	if (!lowered)
		return;
	struct regs *entry = &functions->call.entry;
	regs_set_sp(entry, RADDR(regs_sp(entry).v + lowered));
	regs_set_sp(&thread->regs, RADDR(regs_sp(&thread->regs).v + lowered));
	thread_dirty(thread);
}

/* Where the test was called from: after the call, or again at the call. */
static struct err *functions_on_return(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct functions *functions = run->state;
	if (calls_left(&functions->call, thread))
		return functions_end_left(run);
	if (!calls_returned(&functions->call, thread))
		return NULL;
	/* After an exception the runner called others from there since. */
	if (functions->unwinds && !functions_is_entered(run))
		return functions_end_left(run);
	functions_raise_stack(functions, thread);
	TRY(functions_leave_test(run));
	TRY(functions_judge_result(run, thread,
				   functions->running & FUNCTION_ADDRESS_MASK));
	TRY(run_end(run, OUTCOME_NONE));
	bool failed = run_failed(run);
	size_t test = slots_stay(run, &functions->slots, failed)
			      ? run_wanted(run)
			      : RUN_NONE;
	if (test == RUN_NONE) {
		TRY(functions_leave_call(run, thread, failed));
		return calls_ignore_site(run, &functions->call);
	}
	TRY(calls_again(run, thread, &functions->call));
	return functions_begin_instead(run, thread, test);
}

struct functions_quiet {
	VEC(struct quiet_function) functions;
};

static struct err *functions_add_quiet(void *data, struct run *run,
				       const struct module *module,
				       const struct object_symbol *symbol)
{
	struct functions_quiet *quiet = data;
	uint64_t address = symbol->value + module->bias;
	struct quiet_function function = {
		.address = RADDR(address),
		.size = symbol->size,
	};
	function_result(run, address, &function.result);
	return vec_push(&quiet->functions, function);
}

static struct err *functions_find_quiet(struct run *run)
{
	struct functions_quiet quiet = {};
	size_t n;
	struct err *err =
		function_names_each(run, functions_add_quiet, &quiet, &n);
	if (!err)
		err = quiet_create(run->tracee, quiet.functions.data,
				   quiet.functions.n, &run->session->quiet);
	vec_free(&quiet.functions);
	return err;
}

/* Until there is a place for @test (RUN_NONE: to the end) no call matters. */
static struct err *functions_hush_calls(struct run *run, size_t test)
{
	const struct functions *functions = run->state;
	const struct slots *slots = &functions->slots;
	struct session *session = run->session;
	size_t n = run_tests(run), from = slots->next;
	size_t slot = test == RUN_NONE ? test : slots_find(run, slots, test);
	size_t to = slot == RUN_NONE ? n : slot;
	if (quiet_is(run->tracee) || (test == RUN_NONE && !run_settled(run)) ||
	    to < from || to - from < QUIET_MIN + n / QUIET_EACH ||
	    session->watch || session->tries || session->places)
		return NULL;
	if (!session->quiet)
		TRY(functions_find_quiet(run));
	struct raddr except = RADDR(0);
	if (slot != RUN_NONE)
		except = RADDR(run_handle(run, slot) & FUNCTION_ADDRESS_MASK);
	/* In a loop they all return to the same place. */
	if (functions->call.return_to.v)
		TRY(run_unbreak(run, functions->call.return_to));
	return quiet_begin(run->tracee, session->quiet, except);
}

/* At the entry of the function at @address: did the running test come here? */
static bool functions_is_inner(struct run *run, const struct thread *thread,
			       uint64_t address)
{
	const struct functions *functions = run->state;
	const struct calls *call = &functions->call;
	uint64_t here = regs_sp(&thread->regs).v;
	uint64_t entry = regs_sp(&call->entry).v;
	if (!call->inside)
		return false;
	if (!calls_same_thread(call, thread))
		return true; /* it does part of the test's work */
	/* Another call since then from where the test was called: it was left. */
	if (here > entry || !functions_is_entered(run))
		return false;
	/* The runner's next call from the same place would have been noticed. */
	if (here < entry || call->site.v || !functions->unwinds)
		return true;
	/* It would not: only the next test is taken for a call of the runner. */
	size_t slot = functions->slots.next;
	return slot >= run_tests(run) ||
	       (run_handle(run, slot) & FUNCTION_ADDRESS_MASK) != address;
}

/* After a test that ran while it was listed. */
static struct err *functions_on_listed(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	struct functions *functions = run->state;
	struct object_signature signature;
	if (calls_left(&functions->call, thread))
		return functions_end_left(run);
	if (!calls_returned(&functions->call, thread))
		return NULL;
	if (function_signature_of(run, arg, &signature) &&
	    signature.returns_integer) {
		uint64_t result = regs_result(&thread->regs);
		if (signature.result_size && signature.result_size < 8)
			result &=
				(UINT64_C(1) << 8 * signature.result_size) - 1;
		run->session->listed_results[result != 0]++;
	}
	TRY(functions_wake_entries(run));
	return calls_ignore_site(run, &functions->call);
}

/* At the entry of a test function, while tests are listed. */
static struct err *functions_list_call(struct run *run, struct thread *thread,
				       uint64_t address)
{
	struct functions *functions = run->state;
	const struct session *session = run->session;
	if (!session->listing_runs)
		return function_discovery_add(run, thread,
					      &functions->discovery, address);
	run->deadline = tracer_clock() + session->suite.options.timeout_ns;
	TRY(function_discovery_note(run, thread, &functions->discovery,
				    address));
	TRY(calls_enter(run, thread, &functions->call, functions_on_listed,
			address));
	return functions->unwinds
		       ? calls_notice_site(run, &functions->call,
					   functions_on_listed, address)
		       : NULL;
}

static struct err *functions_on_call(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	struct functions *functions = run->state;
	if (functions_is_inner(run, thread, arg))
		return functions_pass_inner(run, arg);
	if (functions->call.inside)
		TRY(functions_end_left(run));
	if (run->discovering && run->ready_thread)
		return functions_list_call(run, thread, arg);
	if (!run->order) {
		run_ready(run, thread);
		return NULL;
	}
	size_t test = run_wanted(run);
	size_t here = functions_test_of_call(run, functions, thread, arg);
	if (here != RUN_NONE)
		functions->slots.next = here + 1;
	if (test == RUN_NONE ||
	    !slots_fit(run, &functions->slots, here, test)) {
		TRY(functions_hush_calls(run, test));
		return function_skip_call(run, thread, arg);
	}
	/* It may call others of them. */
	TRY(quiet_end(run->tracee));
	functions->called = arg;
	functions->replaces = false;
	functions->lowered = 0;
	if (here == test && between_decides(run->session))
		TRY(arguments_keep(run, thread, test, RADDR(arg)));
	if (here == test)
		between_begin(run, test);
	TRY(calls_enter(run, thread, &functions->call, functions_on_return, 0));
	if (functions->unwinds)
		TRY(calls_notice_site(run, &functions->call,
				      functions_on_return, 0));
	return here == test ? functions_begin_test(run, test)
			    : functions_begin_instead(run, thread, test);
}

static struct err *functions_on_forked(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct functions *functions = run->state;
	return function_forks_return(run, thread, &functions->forks);
}

static struct err *functions_on_waited(struct run *run, struct thread *thread,
				       uint64_t arg)
{
	(void)arg;
	struct functions *functions = run->state;
	return function_forks_waited(run, thread, &functions->forks,
				     functions_on_waited);
}

static struct err *functions_on_wait(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	struct functions *functions = run->state;
	if (run->discovering && run->ready_thread) {
		functions->forks.running = false;
		return NULL;
	}
	return function_forks_wait(run, thread, &functions->forks,
				   (enum function_wait)arg,
				   functions_on_waited);
}

static struct err *functions_on_fork(struct run *run, struct thread *thread,
				     uint64_t arg)
{
	(void)arg;
	struct functions *functions = run->state;
	struct function_forks *forks = &functions->forks;
	if (functions->call.inside)
		return NULL;
	if (run->discovering && run->ready_thread && forks->found) {
		/* Two marks: nothing was waited for in the meantime. */
		if (forks->running)
			TRY(function_discovery_mark_fork(
				run, &functions->discovery));
		forks->running = true;
		return function_discovery_mark_fork(run, &functions->discovery);
	}
	if (run->discovering && run->ready_thread)
		return NULL;
	if (!run->order && !run->ready_thread)
		TRY(function_forks_probe(run, thread, functions_on_call,
					 &forks->found));
	if (!run->order && forks->found) {
		run->session->tests_forked = true;
		run_ready(run, thread);
	}
	return run->order && forks->found
		       ? function_forks_enter(run, thread, forks,
					      &functions->slots,
					      functions_on_forked)
		       : NULL;
}

/* Only where the project's own code forks. */
static struct err *functions_break_forks(struct run *run)
{
	static const char *const fork_name[] = { "fork" };
	static const struct {
		const char *name;
		enum function_wait way;
	} waits[] = {
		{ "wait", FUNCTION_WAIT },	 { "wait3", FUNCTION_WAIT },
		{ "waitpid", FUNCTION_WAITPID }, { "wait4", FUNCTION_WAITPID },
		{ "waitid", FUNCTION_WAITID },
	};
	if (!program_uses_any(run->program, fork_name, 1))
		return NULL;
	TRY(run_break_symbol(run, "fork", functions_on_fork, 0, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		TRY(run_break_symbol(run, waits[i].name, functions_on_wait,
				     waits[i].way, NULL));
	return NULL;
}

static struct err *functions_break_function(void *data, struct run *run,
					    const struct module *module,
					    const struct object_symbol *symbol)
{
	(void)data;
	uint64_t address = symbol->value + module->bias;
	return run_break(run, RADDR(address), functions_on_call, address);
}

static struct err *functions_attach(struct run *run)
{
	struct functions *functions = run->state;
	size_t n;
	TRY(function_suites_find(run));
	TRY(function_names_each(run, functions_break_function, NULL, &n));
	TRY(functions_break_forks(run));
	/* longjmp() is noticed; these are not. */
	static const char *const unwinders[] = {
		"__cxa_throw",		"__cxa_rethrow",
		"_Unwind_Resume",	"_Unwind_RaiseException",
		"_Unwind_ForcedUnwind", "pthread_exit",
		"swapcontext",		"setcontext",
	};
	functions->unwinds = program_uses_any(run->program, unwinders,
					      ARRAY_SIZE(unwinders));
	static const char *const jumps[] = { "longjmp", "_longjmp",
					     "siglongjmp", "__longjmp_chk" };
	for (size_t i = 0; i < ARRAY_SIZE(jumps); i++)
		TRY(run_break_symbol(run, jumps[i], functions_on_longjmp, 0,
				     NULL));
	if (n)
		return NULL;
	_cleanup_(str_freep) struct str names = STR_INIT;
	TRY(globs_describe(session_test_functions(run->session), &names));
	return err_hint(
		err_create(ERR_SUITE, "no function matches %s", names.s),
		"choose others with --test-functions GLOB");
}

static struct err *functions_before_discovery(struct run *run,
					      struct thread *thread)
{
	struct functions *functions = run->state;
	return function_discovery_begin(run, thread, &functions->discovery);
}

static struct err *functions_after_discovery(struct run *run,
					     struct thread *thread)
{
	struct functions *functions = run->state;
	return function_discovery_end(run, thread, &functions->discovery);
}

static struct err *functions_discover(struct run *run, struct thread *thread)
{
	struct functions *functions = run->state;
	if (run->session->listing_runs)
		return functions_on_call(run, thread, regs_pc(&thread->regs).v);
	functions->forks.running = functions->forks.found;
	return function_discovery_start(run, thread, &functions->discovery,
					functions->forks.found);
}

static struct err *functions_copied(struct run *run, struct thread *thread)
{
	struct functions *functions = run->state;
	return functions->forks.found
		       ? function_forks_unshare(run, thread,
						functions->discovery.notes)
		       : NULL;
}

static struct err *functions_start(struct run *run, struct thread *thread)
{
	executable_tell_inlined(run->session);
	struct functions *functions = run->state;
	slots_start(run, &functions->slots);
	if (functions->forks.found)
		return functions_on_fork(run, thread, 0);
	return functions_on_call(run, thread, regs_pc(&thread->regs).v);
}

static enum framework_result functions_result(const struct run *run,
					      size_t test)
{
	const struct functions *functions = run->state;
	uint64_t address = run_handle(run, test) & FUNCTION_ADDRESS_MASK;
	struct object_signature signature;
	if (functions->forks.found)
		return FRAMEWORK_RESULT_NONE;
	if (!function_signature_of(run, address, &signature))
		return FRAMEWORK_RESULT_UNKNOWN;
	unsigned size = 0;
	functions_pair_number(&signature, &size);
	return signature.returns_integer || signature.returns_pointer || size
		       ? FRAMEWORK_RESULT_TELLS
		       : FRAMEWORK_RESULT_NONE;
}

const struct framework framework_functions = {
	.name = "functions",
	.state_size = sizeof(struct functions),
	.recognise = functions_recognise,
	.own = { .title = "the runner" },
	.attach = functions_attach,
	.loaded = functions_attach,
	.discover = functions_discover,
	.before_discovery = functions_before_discovery,
	.after_discovery = functions_after_discovery,
	.start = functions_start,
	.copied = functions_copied,
	.discoveries = 2,
	.lists_running = true,
	.branches = true,
	.flows = true,
	.exit_status_counts = true,
	.ends_test = functions_on_return,
	.result = functions_result,
	.no_points = "test functions that a program calls by itself have "
		     "no set-up and tear-down",
};

/*
 * Hand-written runners: tests are functions whose names match a glob and that the
 * program itself calls. Each call of such a function from outside another one is a
 * test.
 *
 * The tests are found by a run in which every such call returns immediately. What
 * the calls return decides how some runners continue ("if (!test_a()) return 1;"),
 * so there are two runs, with 0 and with 1. The one that gets further, or ends
 * better, also shows which of the two means success.
 *
 * In an order that keeps the program's own sequence, the program runs normally and
 * calls that are not wanted are skipped, so that the code between the calls runs,
 * too. Any other order runs at the place of the first call; native/between.h
 * determines whether something is missing there.
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
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "native/between.h"
#include "native/calls.h"
#include "native/executable.h"
#include "native/framework.h"
#include "native/session.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "tracee/quiet.h"
#include "tracee/remote.h"

/* A handle is the function's address and the number of the call. */
#define OCCURRENCE_SHIFT 48
#define ADDRESS_MASK ((UINT64_C(1) << OCCURRENCE_SHIFT) - 1)
#define OCCURRENCES_MAX ((UINT64_C(1) << (64 - OCCURRENCE_SHIFT)) - 1)
#define FUNCTIONS_MAX 200000
/* Fewer calls than QUIET_MIN + N / QUIET_EACH are skipped one by one. */
#define QUIET_MIN 4
#define QUIET_EACH 256
/* So often a test may come to entries before their breakpoints rest. */
#define INNER_MAX 32
#define RESTING_MAX 16
#define NOTE_SIZE (2 * sizeof(uint64_t))
#define NOTES_SIZE (FUNCTIONS_MAX * NOTE_SIZE + 2 * NOTE_SIZE)

struct functions {
	struct calls call;
	bool direct;	    /* the order is not the program's own */
	bool unwinds;	    /* calls may be left in ways that are not noticed */
	uint64_t running;   /* handle */
	uint64_t called;    /* the function whose call is used for it */
	size_t position;    /* in the program's own sequence, while flowing */
	struct raddr notes; /* of a discovery; 0: none */
	size_t inner;	    /* how often the running test came to entries */
	struct {
		struct raddr address;
		uint64_t word;
	} resting[RESTING_MAX]; /* entries without breakpoint for now */
	size_t n_resting;
};

static const char *functions_glob_of(const struct run *run)
{
	const char *glob = run->session->suite.options.test_functions;
	return glob ? glob : "test_*";
}

/*
 * Compilers make "test_parse.constprop.0", the whole function for certain
 * arguments. "test_parse.part.0" and "test_parse.cold" are parts of functions,
 * and in "test_parse.isra.0" the result may be missing.
 */
static bool functions_is_whole(const char *suffix)
{
	static const char *const whole[] = { ".constprop.", ".specialized.",
					     ".lto_priv.", ".llvm." };
	while (*suffix) {
		size_t i = 0, n = 0;
		while (i < ARRAY_SIZE(whole) && !str_starts(suffix, whole[i]))
			i++;
		if (i == ARRAY_SIZE(whole))
			return false;
		suffix += strlen(whole[i]);
		while (suffix[n] >= '0' && suffix[n] <= '9')
			n++;
		if (!n)
			return false;
		suffix += n;
	}
	return true;
}

#define FUNCTION_NAME_MAX 1024

/* The name in the source, without what the compiler added. */
static bool functions_plain_name(const char *name, char out[FUNCTION_NAME_MAX])
{
	size_t n = strcspn(name, ".");
	if (n >= FUNCTION_NAME_MAX || !functions_is_whole(name + n))
		return false;
	memcpy(out, name, n);
	out[n] = '\0';
	return true;
}

static bool functions_match_symbol(const char *glob,
				   const struct object_symbol *symbol)
{
	char name[FUNCTION_NAME_MAX];
	return symbol->function && !symbol->ifunc && symbol->value &&
	       functions_plain_name(symbol->name, name) && str_glob(glob, name);
}

struct functions_search {
	struct run *run;
	const struct module *module;
	const char *glob;
	size_t found;
	struct err *err;
};

static bool functions_count_function(void *data,
				     const struct object_symbol *symbol)
{
	struct functions_search *search = data;
	if (functions_match_symbol(search->glob, symbol))
		search->found++;
	return true;
}

static bool functions_recognise(const struct program *program)
{
	struct functions_search search = { .glob = "test_*" };
	for (size_t i = 0; i < program->modules.n; i++) {
		const struct module *module = &program->modules.data[i];
		if (module->object && !module->system && module->end)
			object_each_symbol(module->object,
					   functions_count_function, &search);
	}
	log_debug(LOG_FRAMEWORK, "%zu functions match '%s'", search.found,
		  search.glob);
	return search.found;
}

/* The test whose call this is, in the program's own sequence. */
static size_t functions_test_of_call(const struct run *run,
				     const struct functions *functions,
				     uint64_t address)
{
	size_t n = run_tests(run);
	for (size_t i = functions->position; i < n; i++) {
		if ((run_handle(run, i) & ADDRESS_MASK) == address)
			return i;
	}
	return RUN_NONE;
}

static bool functions_signature_of(const struct run *run, uint64_t address,
				   struct object_signature *ret)
{
	const struct module *module =
		program_module(run->program, RADDR(address));
	return module && module->object &&
	       object_function_signature(module->object, address - module->bias,
					 ret);
}

static bool functions_returns_void(const struct run *run, uint64_t address)
{
	struct object_signature signature;
	return functions_signature_of(run, address, &signature) &&
	       signature.returns_void;
}

/*
 * Of a function that never returns, as it ends with exit(), the compiler may know
 * that: then the caller's code ends with the call.
 */
static bool functions_call_is_final(struct run *run,
				    const struct thread *thread)
{
	struct object_symbol caller;
	uint64_t return_to;
	struct err *err = memory_read_u64(run->tracee, regs_sp(&thread->regs),
					  &return_to);
	if (err) {
		err_ignore(err);
		return false;
	}
	const struct module *module =
		program_module(run->program, RADDR(return_to - 1));
	return module && module->object &&
	       object_symbol_at(module->object, return_to - 1 - module->bias,
				&caller) &&
	       caller.size &&
	       return_to - module->bias >= caller.value + caller.size;
}

/* At -O2 a runner may use the result register of a void function. */
static struct err *functions_skip_call(struct run *run, struct thread *thread,
				       uint64_t address)
{
	if (functions_call_is_final(run, thread))
		return run_leaves(run, 0);
	if (functions_returns_void(run, address))
		return calls_skip_void(run, thread);
	return calls_skip(run, thread, (uint64_t)run->session->discovery);
}

static struct err *functions_judge_result(struct run *run,
					  const struct thread *thread,
					  uint64_t address)
{
	struct object_signature signature;
	if (!functions_signature_of(run, address, &signature))
		return NULL;
	uint64_t result = regs_result(&thread->regs);
	char text[64];
	if (signature.returns_pointer && result) {
		_cleanup_(freep) char *message = NULL;
		err_ignore(run_text(run, RADDR(result), &message));
		return run_fail(run, NULL, 0,
				message ? message : "returned a pointer");
	}
	if (!signature.returns_integer)
		return NULL;
	/* What is above the size of the type is undefined. */
	int64_t value = (int32_t)result;
	if (signature.result_size == 1)
		value = (int64_t)(result & 0xff);
	else if (signature.result_size == 2)
		value = (int64_t)(result & 0xffff);
	else if (signature.result_size == 8)
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

static struct err *functions_leave_test(struct run *run)
{
	struct functions *functions = run->state;
	functions->call.inside = false;
	functions->inner = 0;
	while (functions->n_resting) {
		size_t i = --functions->n_resting;
		TRY(breakpoint_set(run->tracee, functions->resting[i].address,
				   functions->resting[i].word));
	}
	/* The test may have written other code over that of the next. */
	if (functions->position >= run_tests(run))
		return NULL;
	uint64_t next = run_handle(run, functions->position) & ADDRESS_MASK;
	uint64_t word;
	return breakpoint_at(run->tracee, RADDR(next), &word)
		       ? breakpoint_set(run->tracee, RADDR(next), word)
		       : NULL;
}

/* A test that longjmp or an exception left has failed. */
static struct err *functions_end_left(struct run *run)
{
	struct functions *functions = run->state;
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

static struct err *functions_begin_test(struct run *run, struct thread *thread,
					size_t test);

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
	TRY(functions_leave_test(run));
	TRY(functions_judge_result(run, thread,
				   functions->running & ADDRESS_MASK));
	TRY(run_end(run, OUTCOME_NONE));
	size_t test = functions->direct ? run_wanted(run) : RUN_NONE;
	if (test == RUN_NONE) {
		/* The runner gets what its own call would have given. */
		calls_leave(thread, &functions->call,
			    !functions_returns_void(run, functions->called));
		return calls_ignore_site(run, &functions->call);
	}
	TRY(calls_again(run, thread, &functions->call));
	return functions_begin_test(run, thread, test);
}

/* The thread is at the entry of some test function. */
static struct err *functions_begin_test(struct run *run, struct thread *thread,
					size_t test)
{
	struct functions *functions = run->state;
	functions->running = run_handle(run, test);
	if (functions->direct) {
		regs_set_pc(&thread->regs,
			    RADDR(functions->running & ADDRESS_MASK));
		regs_set_arg(&thread->regs, 0, run_group(run, test));
		thread_dirty(thread);
	}
	functions->position = test + 1;
	TRY(run_begin(run));
	/* With the last of them a runner may end as well as by returning. */
	if (functions->position == run_tests(run))
		run_allow_exit(run, 0);
	return NULL;
}

/* One more call of the runner: one more test. */
static struct err *functions_add_call(struct run *run, uint64_t address,
				      uint64_t argument)
{
	const struct module *module =
		program_module(run->program, RADDR(address));
	struct object_symbol symbol;
	const char *file = NULL;
	unsigned line = 0;
	if (!module || !module->object ||
	    !object_symbol_at(module->object, address - module->bias, &symbol))
		return err_create(ERR_INTERNAL, "a test function is gone");
	uint64_t occurrence = 0;
	map_u64_get(&run->session->seen, address, &occurrence);
	if (run_tests(run) >= FUNCTIONS_MAX || occurrence >= OCCURRENCES_MAX)
		return NULL;
	TRY(map_u64_put(&run->session->seen, address, occurrence + 1));
	program_function_place(run->program, RADDR(address), &file, &line);
	char name[FUNCTION_NAME_MAX];
	bool plain = functions_plain_name(symbol.name, name);
	return run_add_test(run, plain ? name : symbol.name, file, line, false,
			    address | occurrence << OCCURRENCE_SHIFT, argument);
}

/*
 * Calls are noted by code of ours in the copy, without a stop, in memory that
 * the origin shares (arch_note()). Functions too short for a call instruction
 * have their breakpoint; they are noted there by us, so that the sequence is
 * kept.
 */
struct functions_notes {
	uint64_t next, end;
};

static struct err *functions_note_call(struct run *run, uint64_t address,
				       uint64_t argument)
{
	const struct functions *functions = run->state;
	struct functions_notes notes;
	TRY(memory_read(run->tracee, functions->notes, &notes, sizeof(notes)));
	if (notes.next >= notes.end)
		return NULL;
	const uint64_t entry[2] = { address + ARCH_CALL_SIZE, argument };
	TRY(memory_write(run->tracee, RADDR(notes.next), entry, sizeof(entry)));
	return memory_write_u64(run->tracee, functions->notes,
				notes.next + sizeof(entry));
}

static struct err *functions_add_discovered(struct run *run,
					    struct thread *thread,
					    uint64_t address)
{
	const struct functions *functions = run->state;
	uint64_t argument = thread_arg(thread, 0);
	if (between_test(run, thread))
		return functions_skip_call(run, thread, address);
	if (functions->notes.v)
		TRY(functions_note_call(run, address, argument));
	else
		TRY(functions_add_call(run, address, argument));
	return functions_skip_call(run, thread, address);
}

struct functions_quiet_search {
	struct functions_search search;
	VEC(struct quiet_function) functions;
};

static bool functions_add_quiet(void *data, const struct object_symbol *symbol)
{
	struct functions_quiet_search *quiet = data;
	struct functions_search *search = &quiet->search;
	if (!functions_match_symbol(search->glob, symbol))
		return true;
	uint64_t address = symbol->value + search->module->bias;
	const struct quiet_function function = {
		.address = RADDR(address),
		.size = symbol->size,
		.has_result = !functions_returns_void(search->run, address),
		.result = (uint32_t)search->run->session->discovery,
	};
	search->err = vec_push(&quiet->functions, function);
	return !search->err && ++search->found < FUNCTIONS_MAX;
}

static struct err *functions_find_quiet(struct run *run)
{
	struct functions_quiet_search quiet = {
		.search = { .run = run, .glob = functions_glob_of(run) },
	};
	struct functions_search *search = &quiet.search;
	for (size_t i = 0; i < run->program->modules.n && !search->err; i++) {
		const struct module *module = &run->program->modules.data[i];
		if (!module->object || module->system || !module->end)
			continue;
		search->module = module;
		object_each_symbol(module->object, functions_add_quiet, &quiet);
	}
	struct err *err = search->err;
	if (!err)
		err = quiet_create(run->tracee, quiet.functions.data,
				   quiet.functions.n, &run->session->quiet);
	vec_free(&quiet.functions);
	return err;
}

/* Until @test is called (RUN_NONE: to the end) no call is of interest. */
static struct err *functions_hush_calls(struct run *run, size_t test)
{
	const struct functions *functions = run->state;
	struct session *session = run->session;
	size_t n = run_tests(run), from = functions->position;
	if (test == RUN_NONE && functions->direct)
		from = 0; /* the runner's position is unknown */
	size_t to = test == RUN_NONE ? n : test;
	if (quiet_is(run->tracee) || (test == RUN_NONE && !run_settled(run)) ||
	    to < from || to - from < QUIET_MIN + n / QUIET_EACH ||
	    session->watch || session->tries || session->places)
		return NULL;
	if (!session->quiet)
		TRY(functions_find_quiet(run));
	struct raddr except = RADDR(0);
	if (test != RUN_NONE)
		except = RADDR(run_handle(run, test) & ADDRESS_MASK);
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
	return functions->position >= run_tests(run) ||
	       (run_handle(run, functions->position) & ADDRESS_MASK) != address;
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
		return functions_add_discovered(run, thread, arg);
	if (!run->order) {
		run_ready(run, thread);
		return NULL;
	}
	size_t test = run_wanted(run);
	bool now = test != RUN_NONE;
	if (now && !functions->direct) {
		size_t here = functions_test_of_call(run, functions, arg);
		now = here == test;
		if (here != RUN_NONE)
			functions->position = here + 1;
	}
	if (!now) {
		TRY(functions_hush_calls(run, test));
		return functions_skip_call(run, thread, arg);
	}
	/* It may call others of them. */
	TRY(quiet_end(run->tracee));
	functions->called = arg;
	TRY(calls_enter(run, thread, &functions->call, functions_on_return, 0));
	if (functions->unwinds)
		TRY(calls_notice_site(run, &functions->call,
				      functions_on_return, 0));
	return functions_begin_test(run, thread, test);
}

static bool functions_break_function(void *data,
				     const struct object_symbol *symbol)
{
	struct functions_search *search = data;
	if (!functions_match_symbol(search->glob, symbol))
		return true;
	uint64_t address = symbol->value + search->module->bias;
	search->err = run_break(search->run, RADDR(address), functions_on_call,
				address);
	return !search->err && ++search->found < FUNCTIONS_MAX;
}

static struct err *functions_attach(struct run *run)
{
	struct functions *functions = run->state;
	struct functions_search search = { .run = run,
					   .glob = functions_glob_of(run) };
	for (size_t i = 0; i < run->program->modules.n && !search.err; i++) {
		const struct module *module = &run->program->modules.data[i];
		if (!module->object || module->system || !module->end)
			continue;
		search.module = module;
		object_each_symbol(module->object, functions_break_function,
				   &search);
	}
	if (search.err)
		return search.err;
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
	return search.found ? NULL
			    : err_hint(err_create(ERR_SUITE,
						  "no function matches '%s'",
						  search.glob),
				       "choose others with --test-functions "
				       "GLOB");
}

static struct err *functions_before_discovery(struct run *run,
					      struct thread *thread)
{
	struct functions *functions = run->state;
	struct raddr at;
	TRY(remote_map_shared(thread, NOTES_SIZE, &at));
	const struct functions_notes notes = { at.v + sizeof(notes),
					       at.v + NOTES_SIZE - NOTE_SIZE };
	TRY(memory_write(run->tracee, at, &notes, sizeof(notes)));
	functions->notes = at;
	return NULL;
}

static struct err *functions_after_discovery(struct run *run,
					     struct thread *thread)
{
	struct functions *functions = run->state;
	struct raddr base = functions->notes;
	struct functions_notes notes;
	TRY(memory_read(run->tracee, base, &notes, sizeof(notes)));
	uint64_t at = base.v + sizeof(notes);
	if (notes.next < at || notes.next > base.v + NOTES_SIZE)
		return err_create(ERR_SUITE, "the program overwrote the list "
					     "of its tests");
	size_t n = (notes.next - at) / NOTE_SIZE;
	_cleanup_(freep) uint64_t *entries = malloc(n * NOTE_SIZE + 1);
	if (!entries)
		return err_nomem();
	if (n)
		TRY(memory_read(run->tracee, RADDR(at), entries,
				n * NOTE_SIZE));
	functions->notes = RADDR(0);
	TRY(remote_unmap(thread, base, NOTES_SIZE));
	for (size_t i = 0; i < n; i++)
		TRY(functions_add_call(run, entries[2 * i] - ARCH_CALL_SIZE,
				       entries[2 * i + 1]));
	return NULL;
}

struct functions_overlays {
	struct functions_search search;
	struct raddr note_void, note_result;
};

static bool functions_overlay_function(void *data,
				       const struct object_symbol *symbol)
{
	struct functions_overlays *overlays = data;
	struct functions_search *search = &overlays->search;
	uint8_t code[ARCH_CALL_SIZE];
	if (!functions_match_symbol(search->glob, symbol) ||
	    symbol->size < sizeof(code))
		return true;
	struct raddr at = RADDR(symbol->value + search->module->bias);
	/* Where it is called matters: functions_call_is_final(). */
	if (!breakpoint_code_returns(search->run->tracee, at, symbol->size))
		return true;
	struct raddr note = functions_returns_void(search->run, at.v)
				    ? overlays->note_void
				    : overlays->note_result;
	if (arch_call(at, note, code))
		search->err = breakpoint_overlay(search->run->tracee, at, code,
						 sizeof(code));
	return !search->err && ++search->found < FUNCTIONS_MAX;
}

/* In each file of the project, code that notes, in reach of its functions. */
static struct err *functions_overlay_module(struct run *run,
					    struct thread *thread,
					    const struct module *module)
{
	const struct functions *functions = run->state;
	struct functions_overlays overlays = {
		.search = { .run = run,
			    .module = module,
			    .glob = functions_glob_of(run) },
	};
	object_each_symbol(module->object, functions_count_function,
			   &overlays.search);
	if (!overlays.search.found)
		return NULL;
	overlays.search.found = 0;
	uint8_t code[ARCH_NOTE_SIZE];
	arch_note(functions->notes, false, 0, code);
	TRY(breakpoint_code(thread, RADDR(module->start), code, sizeof(code),
			    &overlays.note_void));
	arch_note(functions->notes, true, (uint32_t)run->session->discovery,
		  code);
	TRY(breakpoint_code(thread, RADDR(module->start), code, sizeof(code),
			    &overlays.note_result));
	object_each_symbol(module->object, functions_overlay_function,
			   &overlays);
	return overlays.search.err;
}

static struct err *functions_discover(struct run *run, struct thread *thread)
{
	const struct functions *functions = run->state;
	if (!functions->notes.v)
		return functions_add_discovered(run, thread,
						regs_pc(&thread->regs).v);
	for (size_t i = 0; i < run->program->modules.n; i++) {
		const struct module *module = &run->program->modules.data[i];
		if (module->object && !module->system && module->end)
			TRY(functions_overlay_module(run, thread, module));
	}
	/* It continues with the overlay, if there is one where it is. */
	uint64_t word, at = regs_pc(&thread->regs).v;
	if (breakpoint_at(run->tracee, RADDR(at), &word) &&
	    !breakpoint_overlaid(run->tracee, RADDR(at)))
		return functions_add_discovered(run, thread, at);
	return NULL;
}

static struct err *functions_start(struct run *run, struct thread *thread)
{
	executable_tell_inlined(run->session, functions_glob_of(run));
	struct functions *functions = run->state;
	functions->direct = !run_in_sequence(run);
	log_debug(LOG_FRAMEWORK, "the order %s",
		  functions->direct ? "runs at the place of the first call"
				    : "keeps the program's own sequence");
	return functions_on_call(run, thread, regs_pc(&thread->regs).v);
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
	.discoveries = 2,
	.branches = true,
	.flows = true,
	.exit_status_counts = true,
	.no_points = "test functions that a program calls by itself have "
		     "no set-up and tear-down",
};

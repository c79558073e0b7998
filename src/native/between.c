#include "native/between.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "native/framework.h"
#include "program/callers.h"
#include "program/place.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "tracee/output.h"

/* With more functions than that nothing is tried, and the worst assumed. */
#define FUNCTIONS_MAX 50000
#define DEPTH_MAX 256
/* A function called more often between two tests certainly does something. */
#define STOPS_MAX 5000

/* A function that was entered, and has not returned as far as is known. */
struct entry {
	uint64_t function;
	uint64_t sp; /* where its return address is */
	uint64_t return_to;
	pid_t tid;
	bool tested; /* a test was called in the meantime */
};

struct between {
	struct entry stack[DEPTH_MAX];
	size_t n;
	size_t tests;  /* called so far */
	size_t stops;  /* since the last of them */
	uint64_t gone; /* a function that came and went since; 0: none */
	uint64_t gone_sp;
	uint64_t found; /* what is searched for; 0: none */
};

static void between_finish_run(struct run *run, uint64_t found)
{
	run->session->between->found = found;
	run->stop = true;
}

/*
 * What of @tid was left by now: the thread is at @sp. At the very place of an
 * entry, about to return to where that one would, it was jumped to by it,
 * unless a test was: it returned for both of them.
 */
static void drop_left(struct between *between, pid_t tid, uint64_t sp,
		      uint64_t return_to)
{
	size_t n = 0;
	for (size_t i = 0; i < between->n; i++) {
		const struct entry *entry = &between->stack[i];
		bool left =
			entry->tid == tid &&
			(entry->sp < sp ||
			 (entry->sp == sp &&
			  (entry->return_to != return_to || entry->tested)));
		if (!left)
			between->stack[n++] = *entry;
		else if (!entry->tested &&
			 (!between->gone || entry->sp > between->gone_sp)) {
			/* The outermost says most. */
			between->gone = entry->function;
			between->gone_sp = entry->sp;
		}
	}
	between->n = n;
}

static struct err *on_left(struct run *run, struct thread *thread, uint64_t arg)
{
	(void)arg;
	struct between *between = run->session->between;
	/* Its caller's entry may be right here: calls need not be aligned. */
	if (between)
		drop_left(between, thread->tid, regs_sp(&thread->regs).v - 8,
			  0);
	return NULL;
}

/* Is a library linked into this program that usually is the system's? */
static bool has_runtime(const struct module *module)
{
	static const char *const signs[] = { "__libc_start_main",
					     "__sanitizer_print_stack_trace" };
	struct object_symbol symbol;
	for (size_t i = 0; module && i < ARRAY_SIZE(signs); i++) {
		if (module->object &&
		    object_symbol(module->object, signs[i], &symbol))
			return true;
	}
	return false;
}

/*
 * Code of the system's headers, which is compiled into the program, goes over
 * lists and prints; and without debug information the C library or that of a
 * sanitizer, linked statically, cannot be distinguished from the project.
 */
static bool is_own(const struct run *run, uint64_t address)
{
	const char *file;
	unsigned line;
	if (program_function_place(run->program, RADDR(address), &file, &line))
		return !place_is_system(file);
	return !has_runtime(program_module(run->program, RADDR(address)));
}

static struct err *on_entered(struct run *run, struct thread *thread,
			      uint64_t function)
{
	struct between *between = run->session->between;
	uint64_t word;
	if (!between)
		return NULL;
	if (!is_own(run, function))
		return run_unbreak(run, RADDR(function));
	struct entry entry = {
		.function = function,
		.sp = regs_sp(&thread->regs).v,
		.tid = thread->tid,
	};
	TRY(memory_read_u64(run->tracee, RADDR(entry.sp), &entry.return_to));
	drop_left(between, entry.tid, entry.sp, entry.return_to);
	if (++between->stops > STOPS_MAX || between->n == DEPTH_MAX) {
		between_finish_run(run, function);
		return NULL;
	}
	between->stack[between->n++] = entry;
	/* Where another hook is, the stack pointer will tell later. */
	if (breakpoint_at(run->tracee, RADDR(entry.return_to), &word))
		return NULL;
	return run_break(run, RADDR(entry.return_to), on_left, 0);
}

bool between_test(struct run *run, const struct thread *thread)
{
	struct between *between = run->session->between;
	uint64_t sp = regs_sp(&thread->regs).v, return_to = 0;
	if (!between)
		return false;
	err_ignore(memory_read_u64(run->tracee, RADDR(sp), &return_to));
	drop_left(between, thread->tid, sp, return_to);
	if (between->tests++ && between->gone)
		between_finish_run(run, between->gone);
	else if (between->tests == run_tests(run))
		between_finish_run(
			run, 0); /* what comes after them does not matter */
	for (size_t i = 0; i < between->n; i++)
		between->stack[i].tested = true;
	between->gone = 0;
	between->stops = 0;
	return true;
}

struct between_search {
	struct run *run;
	const struct module *module;
	size_t n;
	struct err *err;
};

static bool break_function(void *data, const struct object_symbol *symbol)
{
	struct between_search *search = data;
	struct raddr at = RADDR(symbol->value + search->module->bias);
	uint64_t word;
	/* Such names are the compiler's; "cold" parts of functions are no entries. */
	if (!symbol->function || symbol->ifunc || !symbol->value ||
	    str_starts(symbol->name, "__") || strstr(symbol->name, ".cold") ||
	    callers_is_framework(search->run->program->own, symbol->name) ||
	    breakpoint_at(search->run->tracee, at, &word))
		return true;
	if (search->n++ == FUNCTIONS_MAX)
		return false;
	search->err = run_break(search->run, at, on_entered, at.v);
	return !search->err;
}

static struct err *break_functions(struct run *run, size_t *ret_n)
{
	struct between_search search = { .run = run };
	for (size_t i = 0; i < run->program->modules.n && !search.err; i++) {
		search.module = &run->program->modules.data[i];
		if (search.module->object && !search.module->system &&
		    search.module->end)
			object_each_symbol(search.module->object,
					   break_function, &search);
	}
	*ret_n = search.n;
	return search.err;
}

static struct err *name_of(const struct session *session, uint64_t address,
			   char **ret)
{
	const struct module *module =
		program_module(session->program, RADDR(address));
	struct object_symbol symbol;
	bool known = module && module->object &&
		     object_symbol_at(module->object, address - module->bias,
				      &symbol);
	*ret = known ? object_function_name(symbol.name) : strdup("a function");
	return *ret ? NULL : err_nomem();
}

static struct err *between_find_tests(struct session *session, char **ret)
{
	_cleanup_(run_destroyp) struct run *run = NULL;
	TRY(session_process(session, &run));
	run->discovering = true;
	size_t n;
	TRY(break_functions(run, &n));
	if (n > FUNCTIONS_MAX) {
		*ret = strdup("one of its many functions");
		return *ret ? NULL : err_nomem();
	}
	TRY(run->framework->discover(run, run->ready_thread));
	enum run_state state;
	do {
		TRY(run_loop(run, &state));
	} while (state == RUN_READY);
	output_restart(session->output);
	if (state == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	const struct between *between = session->between;
	log_debug(LOG_NATIVE,
		  "between tests: %zu functions looked at, %zu tests called", n,
		  between->tests);
	return between->found ? name_of(session, between->found, ret) : NULL;
}

struct err *between_find(struct session *session, char **ret)
{
	*ret = NULL;
	if (!session->framework->flows || session->suite.tests.n < 2)
		return NULL;
	session->between = calloc(1, sizeof(*session->between));
	if (!session->between)
		return err_nomem();
	struct err *err = between_find_tests(session, ret);
	free(take_ptr(session->between));
	return err;
}

#include "native/initialising.h"

#include "base/log.h"
#include "native/session.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "watch/watch.h"

/*
 * pthread_once() is called again and again, and each stop takes time: after so
 * many that were in vain it is no longer examined.
 */
#define IDLE_MAX 256
/* glibc 2.36, nptl/pthread_once.c: __PTHREAD_ONCE_DONE */
#define ONCE_DONE 2U

static struct err *initialising_on_guard(struct run *run, struct thread *thread,
					 uint64_t arg)
{
	struct watch *watch = run->session->watch;
	(void)arg;
	return watch && run->in_test
		       ? watch_guard(watch, thread, thread_arg(thread, 0))
		       : NULL;
}

static bool initialising_returns_to(const struct initialising *state,
				    struct raddr address)
{
	for (size_t i = 0; i < state->calls.n; i++) {
		if (state->calls.data[i].return_to.v == address.v)
			return true;
	}
	return false;
}

static struct err *initialising_on_return(struct run *run,
					  struct thread *thread, uint64_t arg)
{
	struct initialising *state = &run->session->initialising;
	(void)arg;
	for (size_t i = 0; i < state->calls.n; i++) {
		const struct initialising_call call = state->calls.data[i];
		if (call.tid != thread->tid ||
		    call.sp.v != regs_sp(&thread->regs).v)
			continue;
		state->calls.data[i] = state->calls.data[--state->calls.n];
		if (!initialising_returns_to(state, call.return_to))
			TRY(run_unbreak(run, call.return_to));
		return run->session->watch ? watch_made(run->session->watch,
							thread, call.number)
					   : NULL;
	}
	return NULL;
}

/* @thread is at the first instruction of a function that makes something. */
static struct err *initialising_begin(struct run *run, struct thread *thread)
{
	struct initialising *state = &run->session->initialising;
	struct raddr sp = regs_sp(&thread->regs);
	struct initialising_call call = { .tid = thread->tid,
					  .sp = raddr_add(sp, 8) };
	uint64_t word;
	if (memory_read_some(run->tracee, sp, &call.return_to.v, 8) != 8)
		return NULL;
	/* Others' breakpoints stay theirs: it was jumped to by a test. */
	if (breakpoint_at(run->tracee, call.return_to, &word) &&
	    !initialising_returns_to(state, call.return_to))
		return NULL;
	TRY(watch_make(run->session->watch, thread, &call.number));
	if (!call.number)
		return NULL;
	TRY(vec_push(&state->calls, call));
	return run_break(run, call.return_to, initialising_on_return, 0);
}

/* What std::call_once() has called is called only if it is to be made. */
static struct err *initialising_on_proxy(struct run *run, struct thread *thread,
					 uint64_t arg)
{
	(void)arg;
	return run->in_test && run->session->watch
		       ? initialising_begin(run, thread)
		       : NULL;
}

static struct err *initialising_on_once(struct run *run, struct thread *thread,
					uint64_t arg)
{
	struct initialising *state = &run->session->initialising;
	uint32_t control = 0;
	(void)arg;
	if (!run->in_test || !run->session->watch)
		return NULL;
	struct err *err = memory_read_u32(
		run->tracee, RADDR(thread_arg(thread, 0)), &control);
	if (err) {
		err_ignore(err);
		return NULL; /* the test is about to crash */
	}
	if (!(control & ONCE_DONE) &&
	    (!state->proxy.v || thread_arg(thread, 1) != state->proxy.v))
		return initialising_begin(run, thread);
	if (++state->idle < IDLE_MAX)
		return NULL;
	log_debug(LOG_NATIVE, "pthread_once() is called often: what it makes "
			      "is not examined any more");
	return run_unbreak(run, regs_pc(&thread->regs));
}

struct err *initialising_start(struct run *run)
{
	/* libstdc++'s, libc++'s, and the C library's. */
	static const struct {
		const char *symbol;
		run_hook *hook;
	} places[] = {
		{ "__cxa_guard_release", initialising_on_guard },
		{ "__once_proxy", initialising_on_proxy },
		{ "_ZNSt3__111__call_onceERVmPvPFvS2_E",
		  initialising_on_proxy },
		{ "pthread_once", initialising_on_once },
		{ "call_once", initialising_on_once },
	};
	struct initialising *state = &run->session->initialising;
	initialising_free(state);
	if (!program_symbol(run->program, "__once_proxy", &state->proxy))
		state->proxy = RADDR(0);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		TRY(run_break_symbol(run, places[i].symbol, places[i].hook, 0,
				     NULL));
	return NULL;
}

void initialising_free(struct initialising *state)
{
	vec_free(&state->calls);
	*state = (struct initialising){};
}

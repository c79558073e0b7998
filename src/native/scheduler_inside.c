/*
 * Segments that begin inside others: where a thread has handed something over
 * without having waited itself (suite_schedule.inside).
 *
 * A hand-over is complete when its function returns, so the thread stands still
 * behind it, and not before: held before pthread_mutex_unlock() it would own what
 * the test needs. These are breakpoints, not debug registers: there are more than
 * four places, and virtual machines without such registers have them, too. They
 * cost the test's thread time, so those that are met often are removed.
 */
#include "base/log.h"
#include "native/scheduler_internal.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"

/* Stops of a run at these places, after which they are removed. */
#define INSIDE_STOPS_MAX 2000

static const struct inside_function {
	const char *name;
	bool after; /* the segment begins when it has returned */
} inside_functions[] = {
	{ "pthread_mutex_unlock", true },   { "pthread_rwlock_unlock", true },
	{ "pthread_spin_unlock", true },    { "pthread_cond_signal", true },
	{ "pthread_cond_broadcast", true }, { "sem_post", true },
	{ "pthread_mutex_lock", false },
};

static struct err *remove_inside(struct run *run)
{
	for (size_t i = 0; i < ARRAY_SIZE(inside_functions); i++) {
		struct raddr at;
		if (program_symbol(run->program, inside_functions[i].name, &at))
			TRY(run_unbreak(run, at));
	}
	log_debug(LOG_NATIVE, "schedule: no more places inside segments, "
			      "there are too many");
	return NULL;
}

struct err *scheduler_return_inside(struct run *run, struct thread *thread)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct sched_thread *known = scheduler_find(scheduler, thread->tid);
	if (!known || !known->returns_to.v ||
	    !raddr_eq(known->returns_to, regs_pc(&thread->regs)))
		return NULL;
	const char *name = known->returns_from;
	known->returns_to = RADDR(0);
	return scheduler_segment(run, thread, known, thread, name, true);
}

static struct err *on_inside_return(struct run *run, struct thread *thread,
				    uint64_t arg)
{
	struct scheduler *scheduler = run->session->scheduler;
	(void)arg;
	return scheduler && scheduler->active
		       ? scheduler_return_inside(run, thread)
		       : NULL;
}

/* The stack has where it returns to: that gets a breakpoint for now. */
static struct err *await_return(struct run *run, const struct thread *thread,
				struct sched_thread *known, const char *name)
{
	uint64_t to, word;
	if (memory_read_some(run->tracee, regs_sp(&thread->regs), &to,
			     sizeof(to)) != sizeof(to) ||
	    !to)
		return NULL;
	known->returns_to = RADDR(to);
	known->returns_from = name;
	/* Statements of the test have some already: see on_statement(). */
	if (breakpoint_at(run->tracee, RADDR(to), &word))
		return NULL;
	return run_break(run, RADDR(to), on_inside_return, 0);
}

static struct err *on_inside_call(struct run *run, struct thread *thread,
				  uint64_t arg)
{
	struct scheduler *scheduler = run->session->scheduler;
	const struct inside_function *function = &inside_functions[arg];
	if (!scheduler || !scheduler->active)
		return NULL;
	if (++scheduler->inside_stops > INSIDE_STOPS_MAX)
		return remove_inside(run);
	struct sched_thread *known = scheduler_find(scheduler, thread->tid);
	if (!known || known->tid == scheduler->test_tid ||
	    scheduler->settling || scheduler->released)
		return NULL;
	if (function->after)
		return await_return(run, thread, known, function->name);
	return scheduler_segment(run, thread, known, thread, function->name,
				 true);
}

struct err *scheduler_attach_inside(struct run *run)
{
	if (!run->session->scheduler->schedule->inside)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(inside_functions); i++) {
		struct raddr at;
		uint64_t word;
		if (program_symbol(run->program, inside_functions[i].name,
				   &at) &&
		    !breakpoint_at(run->tracee, at, &word))
			TRY(run_break(run, at, on_inside_call, i));
	}
	return NULL;
}

/*
 * Processes under ptrace.
 *
 * A struct tracer is the hand: it starts programs, waits for them and ends them
 * all when it is destroyed. A struct tracee is one process under it, with its
 * threads and its breakpoints. Forking a tracee inside itself gives another one
 * (checkpoint.h). A tracer belongs to the thread that created it (ptrace's own
 * rule) and there is one a process.
 *
 * Invariants:
 *  1. A tracee is either stopped (all its threads; nothing happens) or being
 *     waited for in tracee_continue(). While it is stopped, memory, registers
 *     and breakpoints may be changed. In an event only the thread of the event
 *     is certainly stopped; others may go on running until tracee_stop_all().
 *  2. A breakpoint never reports the same arrival twice, and no thread runs
 *     past it unreported, whatever the others do: its instruction is executed
 *     elsewhere (arch.h).
 *  3. Children that the tested program makes are let go at once, without our
 *     breakpoints. One that shares its parent's memory (vfork, posix_spawn) is
 *     let go when it executes another program, for it would otherwise run into
 *     breakpoints that cannot be removed.
 *  4. When the controller dies, the kernel kills every tracee
 *     (PTRACE_O_EXITKILL).
 *
 * What it does not do: know of tests, symbols or files of debug information.
 */
#pragma once

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "tracee/arch.h"
#include "tracee/raddr.h"

struct tracer;
struct tracee;
struct output;
struct pids;
struct thread_watch;

struct thread {
	struct tracee *tracee;
	pid_t tid;
	struct regs regs; /* as they were at the stop; see thread_dirty() */
	bool dirty;	  /* to be written back before it continues */
	bool stopped;
	bool listening;	      /* stopped by job control, seen by us only */
	bool held;	      /* not resumed by tracee_continue() */
	bool arrived;	      /* is at a breakpoint that was reported */
	struct raddr passing; /* see thread_pass_signal() in tracee.c */
	struct raddr passing_sp;
	int deliver;	    /* signal to deliver when it continues */
	int waiting_status; /* a stop that was collected but not yet looked at */
	bool has_waiting;
	/* Watchpoints (watchpoint.c): what its registers have of them. */
	unsigned watch_version;
	unsigned watch_hits; /* slots to be reported */
	struct thread_watch *watch;
};

enum tracee_event_kind {
	TRACEE_BREAKPOINT, /* @thread is at @breakpoint */
	TRACEE_WATCHPOINT, /* @thread has just had @access to that of @slot */
	TRACEE_DYING, /* @signal is about to kill it; memory is still there */
	TRACEE_FAULT, /* @signal goes to its handler; see tracee_report_faults() */
	TRACEE_EXITED,	 /* gone, with @status */
	TRACEE_KILLED,	 /* gone, by @signal */
	TRACEE_EXECUTED, /* another program took its place */
	TRACEE_DEADLINE, /* the time given is over; it is stopped now */
	TRACEE_INTERRUPTED, /* the user wants to stop (base/interrupted.h); stopped as well */
	/* Of tracee_follow_threads(): */
	TRACEE_CLONED, /* @thread has made @other, which has not begun */
	TRACEE_SIGNAL, /* @signal is about to reach @thread */
	TRACEE_CALL, /* @thread enters a system call, or leaves it (@leaves) */
	TRACEE_TICK, /* time has passed; nothing is stopped for it */
};

struct tracee_event {
	enum tracee_event_kind kind;
	struct thread *thread; /* NULL when gone */
	uint64_t breakpoint;   /* the caller's word for it */
	int signal;
	int status;
	unsigned slot;	       /* see watchpoint.h */
	unsigned access;       /* bits of enum watchpoint_access */
	uint8_t read, written; /* which bytes of the place, a bit each */
	struct thread *other;
	bool leaves;
};

struct tracee_command {
	char *const *argv;     /* [0] is the path to execute */
	char *const *env;      /* NULL: ours */
	const char *cwd;       /* NULL: ours */
	struct output *output; /* NULL: our own standard output and error */
	bool no_inherited;     /* no descriptors but the standard ones */
};

struct err *tracer_create(struct tracer **ret) _must_check_;
/* Ends every tracee, and what they left behind, and reaps it all. */
void tracer_destroy(struct tracer *tracer); /* NULL is fine */
static inline void tracer_destroyp(struct tracer **tracer)
{
	tracer_destroy(*tracer);
}
/* To the running tracee's process group; may be called from a signal handler. */
void tracer_signal(int number);
/*
 * The clock of deadlines: like clock_now(), but it does not advance while we
 * are stopped or the whole machine sleeps.
 */
uint64_t tracer_clock(void);
/*
 * Waiting needs a signal from time to time, to check deadlines and output. It
 * also interrupts everything else that blocks, so it must be on only while
 * tracees run.
 */
void tracer_tick(bool on);
/*
 * Controller and a tested process with one thread take turns; on one processor
 * that costs a fifth (processors.c). This gives the controller all its
 * processors back, until the next turn.
 */
void tracer_unpin(struct tracer *tracer);
/* Does it share one processor with us now? *@ret: those it thinks it has. */
bool tracee_pinned(const struct tracee *tracee, cpu_set_t *ret);
/* Gives it all its processors back, for good: it is about to choose some. */
void tracee_leave_processors(struct tracee *tracee);

/* Returns with the program stopped before its first instruction. */
struct err *tracee_start(struct tracer *tracer,
			 const struct tracee_command *command,
			 struct tracee **ret) _must_check_;
void tracee_destroy(struct tracee *tracee); /* kills; NULL is fine */
static inline void tracee_destroyp(struct tracee **tracee)
{
	tracee_destroy(*tracee);
}

pid_t tracee_pid(const struct tracee *tracee);
size_t tracee_threads(const struct tracee *tracee);
/* Processor time that it took so far, in ns; 0: not known. */
uint64_t tracee_cpu_time(const struct tracee *tracee);
/* How many it has made so far, those that are gone included. */
uint64_t tracee_threads_made(const struct tracee *tracee);
/*
 * Adds processes that it or its copies started and whose parent is gone, dead or
 * alive; also its copies, which are traced.
 */
struct err *tracee_orphans(const struct tracee *tracee,
			   struct pids *ret) _must_check_;
struct thread *tracee_thread(const struct tracee *tracee, size_t index);

/*
 * Lets all threads go on (but those held) until something happens; @deadline
 * on tracer_clock(), 0: none.
 */
struct err *tracee_continue(struct tracee *tracee, uint64_t deadline,
			    struct tracee_event *ret) _must_check_;
/*
 * Threads that are ending, as those that were joined, are gone when it returns.
 * To be called at an event.
 */
void tracee_reap(struct tracee *tracee);
/* Stops every thread; what they had to report waits for tracee_continue(). */
struct err *tracee_stop_all(struct tracee *tracee) _must_check_;

/* To be called after changing thread->regs. */
static inline void thread_dirty(struct thread *thread)
{
	thread->dirty = true;
}
/* Writes them back now, for who looks at the process itself. */
struct err *thread_store(struct thread *thread) _must_check_;
static inline uint64_t thread_arg(const struct thread *thread, unsigned index)
{
	return regs_arg(&thread->regs, index);
}

/*
 * From now on the first fault (SIGSEGV, SIGABRT, …) that a handler gets is an
 * event, too: where a test broke, also when a handler of the framework went on
 * from there. After tracee_forget_fault() the next one is the first.
 */
void tracee_report_faults(struct tracee *tracee);
void tracee_forget_fault(struct tracee *tracee);

/*
 * When a filter holds a system call up (follow/), a signal may cancel it before
 * it began, even one that can never be interrupted otherwise. Where @again says
 * so, it is made again after the signal's handler, whatever the handler's
 * SA_RESTART. Forks of the tracee (checkpoint.h) keep this.
 */
void tracee_remake_calls(struct tracee *tracee,
			 bool (*again)(const struct thread *thread));

/*
 * From now on system calls of all threads, and threads that they make, are
 * events, and about every millisecond there is one without a cause
 * (TRACEE_TICK); or they no longer are. Threads that are in a call are made to
 * enter it again, so that it is seen.
 */
struct err *tracee_follow_threads(struct tracee *tracee,
				  bool follow) _must_check_;
/* The next such event is to come sooner: it is all that is waited for. */
void tracee_tick_urgently(struct tracee *tracee, bool urgent);
/*
 * A thread that sleeps in a system call leaves it, as if by a signal: what the
 * call returns then is a restart code, or EINTR (signal(7)).
 */
void thread_interrupt(struct thread *thread);
/* Is the result of a call that of an interruption? Nobody but us sees most. */
bool thread_call_interrupted(const struct thread *thread);

#include "tracee/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "base/proc.h"
#include "tracee/brood.h"
#include "tracee/memory.h"
#include "tracee/output.h"
#include "tracee/tracee_internal.h"

#define PF_EXITING 4U /* of the kernel's linux/sched.h; proc(5) shows it */
/* What may still happen after a deadline: what was about to end may end. */
#define LATE_EVENTS_MAX 256

static long ptrace_thread(int request, pid_t tid, uintptr_t addr,
			  uintptr_t data)
{
	return ptrace((enum __ptrace_request)request, tid, addr, data);
}

struct tracee *tracee_create(struct tracer *tracer, pid_t pid)
{
	struct tracee *tracee = calloc(1, sizeof(*tracee));
	if (!tracee)
		return NULL;
	tracee->tracer = tracer;
	tracee->pid = pid;
	tracee->mem_fd = proc_open(pid, 0, "mem", O_RDWR);

	struct err *err = vec_push(&tracer->tracees, tracee);
	if (!err && tracee_add_thread(tracee, pid))
		return tracee;
	err_destroy(err);
	kill(pid, SIGKILL);
	closep(&tracee->mem_fd);
	free(tracee);
	return NULL;
}

struct thread *tracee_add_thread(struct tracee *tracee, pid_t tid)
{
	struct thread *thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tracee = tracee;
	thread->tid = tid;
	struct err *err = vec_push(&tracee->threads, thread);
	if (!err)
		err = map_u64_put(&tracee->tracer->threads, (uint64_t)tid,
				  (uintptr_t)thread);
	if (err) {
		err_destroy(err);
		free(thread);
		return NULL;
	}
	return thread;
}

static void thread_remove(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;
	for (size_t i = 0; i < tracee->threads.n; i++) {
		if (tracee->threads.data[i] != thread)
			continue;
		memmove(tracee->threads.data + i, tracee->threads.data + i + 1,
			(tracee->threads.n - i - 1) * sizeof(struct thread *));
		tracee->threads.n--;
		break;
	}
	map_u64_remove(&tracee->tracer->threads, (uint64_t)thread->tid);
	free(thread->watch);
	free(thread);
}

static void tracee_free(struct tracee *tracee)
{
	struct tracer *tracer = tracee->tracer;
	while (tracee->threads.n)
		thread_remove(tracee->threads.data[tracee->threads.n - 1]);
	for (size_t i = 0; i < tracer->tracees.n; i++) {
		if (tracer->tracees.data[i] == tracee) {
			tracer->tracees.data[i] =
				tracer->tracees.data[--tracer->tracees.n];
			break;
		}
	}
	closep(&tracee->mem_fd);
	vec_free(&tracee->threads);
	vec_free(&tracee->started);
	breakpoint_forget(tracee);
	vec_free(&tracee->regions);
	free(tracee);
}

/* A child that shares memory cannot outlive what we know of that memory. */
static void end_borrowers(struct tracee *owner)
{
	struct tracer *tracer = owner->tracer;
	for (size_t i = 0; i < tracer->tracees.n;) {
		if (tracer->tracees.data[i]->owner == owner) {
			tracee_destroy(tracer->tracees.data[i]);
			i = 0;
		} else {
			i++;
		}
	}
}

void tracee_destroy(struct tracee *tracee)
{
	if (!tracee)
		return;
	end_borrowers(tracee);
	struct tracer *tracer = tracee->tracer;
	brood_prepare_end(tracee);
	if (!tracee->gone)
		kill(tracee->pid, SIGKILL);
	while (!tracee->gone && tracee->threads.n) {
		bool any;
		struct err *err = tracer_collect(tracer, true, &any);
		if (err) {
			err_destroy(err);
			break;
		}
		for (size_t i = 0; i < tracee->threads.n;) {
			struct thread *thread = tracee->threads.data[i];
			if (!thread->has_waiting) {
				i++;
				continue;
			}
			thread->has_waiting = false;
			if (status_gone(thread->waiting_status)) {
				tracee->gone = thread->tid == tracee->pid;
				thread_remove(thread);
			} else {
				/* A stop from before the kill arrived. */
				ptrace_thread(PTRACE_CONT, thread->tid, 0,
					      SIGKILL);
				i++;
			}
		}
	}
	tracee->gone = true;
	brood_leave(tracee);
	tracee_free(tracee);
}

pid_t tracee_pid(const struct tracee *tracee)
{
	return tracee->pid;
}

uint64_t tracee_cpu_time(const struct tracee *tracee)
{
	clockid_t clock;
	struct timespec ts;
	if (clock_getcpuclockid(tracee->pid, &clock) != 0 ||
	    clock_gettime(clock, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t tracee_threads_made(const struct tracee *tracee)
{
	return tracee->threads_made;
}

size_t tracee_threads(const struct tracee *tracee)
{
	return tracee->threads.n;
}

struct thread *tracee_thread(const struct tracee *tracee, size_t index)
{
	return tracee->threads.data[index];
}

void tracee_forget_fault(struct tracee *tracee)
{
	tracee->has_fault = false;
}

void tracee_report_faults(struct tracee *tracee)
{
	tracee->reports_faults = true;
}

void tracee_remake_calls(struct tracee *tracee,
			 bool (*again)(const struct thread *thread))
{
	tracee->again = again;
}

struct err *thread_fetch(struct thread *thread)
{
	if (ptrace_thread(PTRACE_GETREGS, thread->tid, 0,
			  (uintptr_t)&thread->regs.r) < 0)
		return err_errno(errno, "cannot read registers of thread %d",
				 thread->tid);
	thread->dirty = false;
	return NULL;
}

struct err *thread_store(struct thread *thread)
{
	if (!thread->dirty)
		return NULL;
	if (ptrace_thread(PTRACE_SETREGS, thread->tid, 0,
			  (uintptr_t)&thread->regs.r) < 0)
		return err_errno(errno, "cannot write registers of thread %d",
				 thread->tid);
	thread->dirty = false;
	return NULL;
}

/*
 * A signal is about to be delivered to a thread that is just executing the
 * instruction of a breakpoint in a slot. A handler must not see that: the
 * program counter is set to where the program itself would be. If the
 * instruction was not yet executed, the thread will come by the breakpoint
 * again, which is not another arrival.
 */
static void thread_pass_signal(struct thread *thread)
{
	struct raddr address;
	bool before;
	if (!breakpoint_in_slot(tracee_image(thread->tracee),
				regs_pc(&thread->regs), &address, &before))
		return;
	regs_set_pc(&thread->regs, address);
	thread_dirty(thread);
	if (before) {
		thread->passing = address;
		thread->passing_sp = regs_sp(&thread->regs);
	}
}

static struct err *thread_resume(struct thread *thread)
{
	struct tracee *image = tracee_image(thread->tracee);
	const struct breakpoint *breakpoint =
		breakpoint_find(image, regs_pc(&thread->regs));
	if (thread->arrived && breakpoint && !breakpoint->resting) {
		if (thread->deliver) {
			/* It comes by again after the handler. */
			thread->passing = breakpoint->address;
			thread->passing_sp = regs_sp(&thread->regs);
		} else {
			TRY(breakpoint_pass(thread, breakpoint));
		}
	}
	thread->arrived = false;
	/*
	 * While it was stepped past, something happened that must be handled.
	 */
	if (thread->has_waiting || thread->watch_hits)
		return NULL;
	TRY(thread_store(thread));
	TRY(watchpoint_sync(thread));
	int deliver = thread->deliver;
	thread->deliver = 0;
	thread->stopped = false;
	if (ptrace_thread(thread->tracee->follows ? PTRACE_SYSCALL
						  : PTRACE_CONT,
			  thread->tid, 0, (uintptr_t)deliver) < 0 &&
	    errno != ESRCH)
		return err_errno(errno, "cannot continue thread %d",
				 thread->tid);
	return NULL;
}

struct err *thread_wait(struct thread *thread, uint64_t deadline,
			int *ret_status)
{
	struct tracer *tracer = thread->tracee->tracer;
	while (!thread->has_waiting) {
		bool any;
		TRY(tracer_collect(tracer, true, &any));
		if (!any && deadline && clock_now() > deadline)
			return err_create(ERR_SUITE, "process %d does not stop",
					  thread->tracee->pid);
	}
	thread->has_waiting = false;
	*ret_status = thread->waiting_status;
	return status_gone(*ret_status) ? NULL : thread_fetch(thread);
}

/* Would this signal end the process? Its handlers are in /proc. */
static bool signal_kills(pid_t pid, int signal)
{
	switch (signal) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return false;
	default:
		break;
	}
	_cleanup_(str_freep) struct str status = STR_INIT;
	struct err *err = proc_read(pid, 0, "status", &status);
	uint64_t ignored = 0, caught = 0;
	if (err) {
		err_ignore(err);
		return false;
	}
	proc_status_number(status.s, "SigIgn", 16, &ignored);
	proc_status_number(status.s, "SigCgt", 16, &caught);
	return !((ignored | caught) & (1ULL << (signal - 1)));
}

static bool signal_is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
	       signal == SIGILL || signal == SIGABRT || signal == SIGTRAP ||
	       signal == SIGSYS;
}

/* Flags of the clone() or clone3() that made a child. */
static uint64_t clone_flags(struct thread *parent)
{
	switch (regs_syscall(&parent->regs)) {
	case SYS_clone:
		return regs_syscall_arg(&parent->regs, 0);
	case SYS_vfork:
		return CLONE_VM | CLONE_VFORK;
	case SYS_clone3: {
		uint64_t flags = 0;
		err_ignore(memory_read_u64(
			parent->tracee,
			RADDR(regs_syscall_arg(&parent->regs, 0)), &flags));
		return flags;
	}
	default:
		return 0;
	}
}

/* Waits for the first stop of a new task (it may have been seen already). */
static struct err *wait_for_birth(struct tracer *tracer, pid_t tid)
{
	if (tracer_take_early(tracer, tid))
		return NULL;
	for (;;) {
		int status;
		pid_t got = waitpid(tid, &status, __WALL);
		if (got == tid)
			return NULL;
		if (got < 0 && errno != EINTR)
			return err_errno(errno, "new task %d is gone", tid);
	}
}

/*
 * The tested program made a child process. It goes free, without breakpoints
 * and with all processors; if it shares memory it stays with us until it
 * executes another program or ends.
 */
static struct err *release_child(struct thread *parent, pid_t child)
{
	struct tracee *image = tracee_image(parent->tracee);
	struct tracer *tracer = image->tracer;
	struct err *err = wait_for_birth(tracer, child);
	if (err) {
		err_ignore(err); /* killed at once */
		return NULL;
	}
	processors_release_task(parent->tracee, child);
	brood_note_child(image);
	if (clone_flags(parent) & CLONE_VM) {
		struct tracee *borrower = tracee_create(tracer, child);
		if (!borrower)
			return err_nomem();
		borrower->owner = image;
		image->poked.lost = true;
		log_debug(LOG_TRACEE, "child %d shares memory of %d", child,
			  image->pid);
		ptrace_thread(PTRACE_CONT, child, 0, 0);
		return NULL;
	}
	log_debug(LOG_TRACEE, "child %d goes free", child);
	err_ignore(breakpoint_clean(image, child));
	ptrace_thread(PTRACE_DETACH, child, 0, 0);
	return NULL;
}

static struct err *on_new_task(struct thread *thread,
			       struct tracee_event *event, bool *ret_event)
{
	unsigned long message;
	if (ptrace_thread(PTRACE_GETEVENTMSG, thread->tid, 0,
			  (uintptr_t)&message) < 0)
		return err_errno(errno, "cannot get the number of a new task");
	pid_t tid = (pid_t)message;
	struct tracee *tracee = thread->tracee;

	/* A signal to (group, task) finds it only in its own group. */
	if (syscall(SYS_tgkill, tracee->pid, tid, 0) != 0)
		return release_child(thread, tid);

	bool pinned = tracee->pinned;
	bool born = tracer_take_early(tracee->tracer, tid);
	struct thread *new_thread = tracee_add_thread(tracee, tid);
	if (!new_thread)
		return err_nomem();
	tracee->threads_made++;
	if (pinned)
		processors_release(tracee);
	log_debug(LOG_TRACEE, "thread %d of %d", tid, tracee->pid);
	if (tracee->follows) {
		new_thread->stopped = born;
		event->kind = TRACEE_CLONED;
		event->other = new_thread;
		*ret_event = true;
		return born ? thread_fetch(new_thread) : NULL;
	}
	if (born) {
		TRY(watchpoint_sync(new_thread));
		if (ptrace_thread(PTRACE_CONT, tid, 0, 0) < 0 && errno != ESRCH)
			return err_errno(errno, "cannot continue thread %d",
					 tid);
	}
	return NULL;
}

/* All threads but the one that executed are gone; so is our memory. */
static struct err *on_exec(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;
	for (size_t i = tracee->threads.n; i-- > 0;) {
		if (tracee->threads.data[i]->tid != tracee->pid)
			thread_remove(tracee->threads.data[i]);
	}
	breakpoint_forget(tracee);
	tracee->regions.n = 0;
	watchpoint_forget(tracee);
	closep(&tracee->mem_fd);
	tracee->mem_fd = proc_open(tracee->pid, 0, "mem", O_RDWR);
	return NULL;
}

/* Is the signal that of a break instruction, not one that was sent? */
static bool is_trap(const struct thread *thread)
{
	siginfo_t info;
	return ptrace_thread(PTRACE_GETSIGINFO, thread->tid, 0,
			     (uintptr_t)&info) == 0 &&
	       (info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT);
}

/*
 * Did our instruction trap, or was the signal sent? A thread can only be right
 * after our byte by executing it, unless the original is one byte long.
 */
static bool is_break(const struct thread *thread,
		     const struct breakpoint *breakpoint)
{
	return (breakpoint->decoded &&
		breakpoint->insn.length > ARCH_BREAK_SIZE) ||
	       is_trap(thread);
}

/*
 * At a signal's delivery the call's result is not yet final: the kernel makes
 * EINTR of the first of these where the handler wants no restart, but never of
 * the second (include/linux/errno.h; unchanged since Linux 2.6).
 */
#define RESULT_RESTARTSYS ((uint64_t)-512)
#define RESULT_RESTARTNOINTR ((uint64_t)-513)
#define RESULT_RESTART_LAST ((uint64_t)-516)

static void remake_call(struct thread *thread)
{
	bool (*again)(const struct thread *) = thread->tracee->again;
	if (again && regs_syscall(&thread->regs) >= 0 &&
	    regs_result(&thread->regs) == RESULT_RESTARTSYS && again(thread)) {
		regs_set_result(&thread->regs, RESULT_RESTARTNOINTR);
		thread_dirty(thread);
	}
}

static struct err *on_signal(struct thread *thread, int signal,
			     struct tracee_event *event, bool *ret_event)
{
	struct tracee *tracee = thread->tracee;
	struct tracee *image = tracee_image(tracee);
	struct raddr pc = regs_pc(&thread->regs);

	if (signal == SIGTRAP && thread->watch && watchpoint_trapped(thread)) {
		*ret_event = watchpoint_next(thread, event);
		return NULL;
	}
	if (signal == SIGTRAP) {
		struct raddr at = raddr_add(pc, -ARCH_BREAK_SIZE);
		const struct breakpoint *breakpoint =
			breakpoint_find(image, at);
		if (breakpoint && !breakpoint->resting &&
		    is_break(thread, breakpoint)) {
			regs_set_pc(&thread->regs, at);
			thread_dirty(thread);
			bool again = raddr_eq(thread->passing, at) &&
				     raddr_eq(thread->passing_sp,
					      regs_sp(&thread->regs));
			thread->passing = RADDR(0);
			thread->arrived = true;
			if (again || tracee->owner)
				return NULL;
			log_debug(LOG_TRACEE, "%d at 0x%llx", thread->tid,
				  (unsigned long long)at.v);
			event->kind = TRACEE_BREAKPOINT;
			event->breakpoint = breakpoint->word;
			*ret_event = true;
			return NULL;
		}
		if (!breakpoint && is_trap(thread) &&
		    breakpoint_heal(image, at)) {
			regs_set_pc(&thread->regs, at);
			thread_dirty(thread);
			return NULL;
		}
	}
	thread->deliver = signal;
	remake_call(thread);
	thread_pass_signal(thread);
	bool first = signal_is_fault(signal) && !tracee->has_fault;
	tracee->has_fault |= first;
	bool kills = !tracee->owner && signal_kills(tracee->pid, signal);
	if (kills || (first && tracee->reports_faults)) {
		event->kind = kills ? TRACEE_DYING : TRACEE_FAULT;
		event->signal = signal;
		*ret_event = true;
	} else if (tracee->follows && !tracee->owner) {
		event->kind = TRACEE_SIGNAL;
		event->signal = signal;
		*ret_event = true;
	}
	return NULL;
}

/* Of PTRACE_O_TRACESYSGOOD. */
#define CALL_STOP (SIGTRAP | 0x80)

static bool on_call(const struct thread *thread, struct tracee_event *event)
{
	struct __ptrace_syscall_info info = {};
	if (ptrace_thread(PTRACE_GET_SYSCALL_INFO, thread->tid, sizeof(info),
			  (uintptr_t)&info) <= 0)
		return false;
	event->kind = TRACEE_CALL;
	event->leaves = info.op == PTRACE_SYSCALL_INFO_EXIT;
	return event->leaves || info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

static bool is_stopping(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
	       signal == SIGTTOU;
}

/*
 * Looks at a collected stop. Sets *@ret_event where the caller of
 * tracee_continue() has to know; else the thread just continues.
 */
static struct err *thread_look(struct thread *thread,
			       struct tracee_event *event, bool *ret_event)
{
	int status = thread->waiting_status;
	struct tracee *tracee = thread->tracee;
	thread->has_waiting = false;
	*event = (struct tracee_event){ .thread = thread };

	if (status_gone(status)) {
		if (thread->tid != tracee->pid) {
			thread_remove(thread);
			return NULL;
		}
		tracee->gone = true;
		event->thread = NULL;
		event->kind = WIFEXITED(status) ? TRACEE_EXITED : TRACEE_KILLED;
		if (WIFEXITED(status))
			event->status = WEXITSTATUS(status);
		else
			event->signal = WTERMSIG(status);
		*ret_event = true;
		return NULL;
	}
	struct err *err = thread_fetch(thread);
	if (err) {
		/* Killed while it was stopped: its end comes next. */
		thread->stopped = false;
		err_ignore(err);
		return NULL;
	}
	int signal = WSTOPSIG(status);
	switch (status >> 16) {
	case 0:
		if (signal == CALL_STOP) {
			*ret_event = tracee->follows && on_call(thread, event);
			return NULL;
		}
		return on_signal(thread, signal, event, ret_event);
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		return on_new_task(thread, event, ret_event);
	case PTRACE_EVENT_EXEC:
		TRY(on_exec(thread));
		event->kind = TRACEE_EXECUTED;
		*ret_event = true;
		return NULL;
	case PTRACE_EVENT_STOP:
		if (is_stopping(signal)) {
			/* Job control: it stays stopped until SIGCONT. */
			thread->listening =
				ptrace_thread(PTRACE_LISTEN, thread->tid, 0,
					      0) == 0;
		}
		return NULL;
	default:
		return NULL;
	}
}

/* Children that share memory: callers do not learn of them. */
static struct err *serve_borrowers(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->tracees.n;) {
		struct tracee *tracee = tracer->tracees.data[i++];
		if (!tracee->owner)
			continue;
		struct tracee_event event;
		bool any = false;
		for (size_t j = 0; j < tracee->threads.n && !any; j++) {
			struct thread *thread = tracee->threads.data[j];
			if (!thread->has_waiting)
				continue;
			size_t before = tracee->threads.n;
			TRY(thread_look(thread, &event, &any));
			if (!any && tracee->threads.n >= before &&
			    thread->stopped && !thread->listening) {
				TRY(thread_resume(thread));
				if (thread->has_waiting)
					j--; /* look at that, too */
			}
		}
		if (!any)
			continue;
		if (event.kind == TRACEE_EXECUTED)
			ptrace_thread(PTRACE_DETACH, tracee->pid, 0, 0);
		tracee_free(tracee);
		i = 0;
	}
	return NULL;
}

static struct err *was_killed(struct tracee *tracee, bool *ret)
{
	bool any = true;
	*ret = false;
	/* The kernel needs a moment from the kill to the status. */
	for (int round = 0; round < 1000 && !*ret; round++) {
		TRY(tracer_collect(tracee->tracer, false, &any));
		for (size_t i = 0; i < tracee->threads.n && !*ret; i++)
			*ret = tracee->threads.data[i]->has_waiting &&
			       status_gone(
				       tracee->threads.data[i]->waiting_status);
		if (!any && !*ret)
			sched_yield();
	}
	return NULL;
}

/* *@ret_again: a thread has something to report already. */
static struct err *resume_all(struct tracee *tracee, bool *ret_again)
{
	processors_turn(tracee);
	for (size_t i = 0; i < tracee->threads.n; i++) {
		struct thread *thread = tracee->threads.data[i];
		if (!thread->stopped || thread->held || thread->listening ||
		    thread->has_waiting)
			continue;
		struct err *err = thread_resume(thread);
		if (!err) {
			*ret_again |= thread->has_waiting || thread->watch_hits;
			continue;
		}
		/* Killed while it was stopped: its end is what to report. */
		bool gone;
		TRY(was_killed(tracee, &gone));
		if (!gone)
			return err;
		err_ignore(err);
		return NULL;
	}
	return NULL;
}

static struct err *look_at_threads(struct tracee *tracee,
				   struct tracee_event *event, bool *ret_event)
{
	for (size_t i = 0; i < tracee->threads.n; i++) {
		struct thread *thread = tracee->threads.data[i];
		if (thread->watch_hits) {
			*event = (struct tracee_event){ .thread = thread };
			*ret_event = watchpoint_next(thread, event);
			if (*ret_event)
				return NULL;
		}
		if (!thread->has_waiting)
			continue;
		TRY(thread_look(thread, event, ret_event));
		if (*ret_event)
			return NULL;
		i = (size_t)-1; /* threads may have come or gone */
	}
	return NULL;
}

/* @prints: it has just written something. */
static enum tracer_pace tracee_pace(const struct tracee *tracee, bool prints)
{
	if (tracee->follows && tracee->urgent)
		return TRACER_URGENT;
	return tracee->follows || prints ? TRACER_FAST : TRACER_EASY;
}

/* Whether it has to end now; *@ret: why. */
static bool tracee_is_late(uint64_t deadline, enum tracee_event_kind *ret)
{
	*ret = interrupted ? TRACEE_INTERRUPTED : TRACEE_DEADLINE;
	return interrupted || (deadline && tracer_clock() >= deadline);
}

/* Where something happens all the time there is never a tick. */
static bool tracee_overruns(struct tracee *tracee, uint64_t deadline,
			    enum tracee_event_kind *ret)
{
	if (!tracee_is_late(deadline, ret))
		tracee->late_events = 0;
	else
		tracee->late_events++;
	return tracee->late_events > LATE_EVENTS_MAX;
}

struct err *tracee_continue(struct tracee *tracee, uint64_t deadline,
			    struct tracee_event *ret)
{
	struct tracer *tracer = tracee->tracer;
	BUG_ON(tracee->gone);
	brood_run(tracee);
	for (;;) {
		struct tracee_event event = {};
		bool happened = false;
		/* Hooks, too, may have collected what these came to. */
		TRY(serve_borrowers(tracer));
		if (tracee_overruns(tracee, deadline, &event.kind)) {
			TRY(tracee_stop_all(tracee));
			*ret = event;
			return NULL;
		}
		TRY(look_at_threads(tracee, &event, &happened));
		if (happened) {
			*ret = event;
			return NULL;
		}
		bool again = false;
		TRY(resume_all(tracee, &again));
		if (again)
			continue;
		bool any;
		tracer_running(tracee->pid);
		TRY(tracer_collect(tracer, true, &any));
		tracer_ticked();
		if (any) {
			tracer_running(0);
			continue;
		}
		bool fast = tracee->output && output_drain(tracee->output);
		tracer_set_pace(tracee_pace(tracee, fast));
		event = (struct tracee_event){};
		if (tracee_is_late(deadline, &event.kind))
			TRY(tracee_stop_all(tracee));
		else if (tracee->follows)
			event.kind = TRACEE_TICK;
		else
			continue;
		*ret = event;
		return NULL;
	}
}

/* pthread_join() returns before the kernel is quite done with the thread. */
static bool is_ending(const struct thread *thread)
{
	struct proc_stat stat;
	return !proc_read_stat(thread->tracee->pid, thread->tid, &stat) ||
	       stat.flags & PF_EXITING;
}

/* One that is ending and not gone yet; NULL: none. */
static const struct thread *find_ending(struct tracee *tracee)
{
	for (size_t i = tracee->threads.n; i-- > 0;) {
		struct thread *thread = tracee->threads.data[i];
		if (thread->tid == tracee->pid)
			continue;
		if (thread->has_waiting && status_gone(thread->waiting_status))
			thread_remove(thread);
		else if (!thread->stopped && is_ending(thread))
			return thread;
	}
	return NULL;
}

void tracee_reap(struct tracee *tracee)
{
	uint64_t deadline = clock_now() + NS_PER_S;
	while (tracee->threads.n > 1 && find_ending(tracee) &&
	       clock_now() < deadline) {
		bool any = false;
		struct err *err = tracer_collect(tracee->tracer, false, &any);
		bool failed = err;
		err_ignore(err);
		if (failed)
			return;
		if (!any)
			usleep(20);
	}
}

struct err *tracee_stop_all(struct tracee *tracee)
{
	for (size_t i = 0; i < tracee->threads.n; i++) {
		struct thread *thread = tracee->threads.data[i];
		if (!thread->stopped)
			ptrace_thread(PTRACE_INTERRUPT, thread->tid, 0, 0);
	}
	/* A thread in vfork() does not stop before its child is done. */
	uint64_t deadline = clock_now() + NS_PER_S;
	for (size_t i = 0; i < tracee->threads.n && !tracee->gone; i++) {
		struct thread *thread = tracee->threads.data[i];
		while (!thread->stopped) {
			bool any;
			TRY(serve_borrowers(tracee->tracer));
			TRY(tracer_collect(tracee->tracer, true, &any));
			if (!any && clock_now() > deadline)
				return NULL;
		}
	}
	return NULL;
}

/*
 * The kernel restarts what it interrupted (signal(7)), but epoll_wait() and its
 * kin return EINTR: that was not a signal, so these are restarted, too.
 */
static void restart_call(struct thread *thread)
{
	if (regs_syscall(&thread->regs) >= 0 &&
	    regs_result(&thread->regs) == (uint64_t)-EINTR) {
		regs_set_result(&thread->regs, RESULT_RESTARTNOINTR);
		thread_dirty(thread);
	}
}

/* What @thread was stopped for is the interruption alone. */
static bool only_interrupted(const struct thread *thread)
{
	return thread->stopped && thread->has_waiting &&
	       thread->waiting_status >> 16 == PTRACE_EVENT_STOP;
}

void tracee_tick_urgently(struct tracee *tracee, bool urgent)
{
	if (tracee->urgent == urgent)
		return;
	tracee->urgent = urgent;
	tracer_set_pace(tracee_pace(tracee, false));
}

struct err *tracee_follow_threads(struct tracee *tracee, bool follow)
{
	if (tracee->gone || tracee->follows == follow)
		return NULL;
	tracee->follows = follow;
	tracee->urgent = false;
	tracer_set_pace(tracee_pace(tracee, false));
	if (!follow || tracee->threads.n < 2)
		return NULL;
	TRY(tracee_stop_all(tracee));
	for (size_t i = 0; i < tracee->threads.n; i++) {
		struct thread *thread = tracee->threads.data[i];
		if (!only_interrupted(thread))
			continue;
		struct err *err = thread_fetch(thread);
		if (err) {
			err_ignore(err); /* its end comes next */
			continue;
		}
		thread->has_waiting = false;
		restart_call(thread);
	}
	return NULL;
}

void thread_interrupt(struct thread *thread)
{
	if (!thread->stopped)
		ptrace_thread(PTRACE_INTERRUPT, thread->tid, 0, 0);
}

bool thread_call_interrupted(const struct thread *thread)
{
	uint64_t result = regs_result(&thread->regs);
	return result == (uint64_t)-EINTR ||
	       (result >= RESULT_RESTART_LAST && result <= RESULT_RESTARTSYS);
}

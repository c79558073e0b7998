#include "tracee/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/str.h"
#include "tracee/brood.h"
#include "tracee/memory.h"
#include "tracee/remote.h"
#include "tracee/tracee_internal.h"

/* Timers made with timer_create() are not inherited by a fork. */
static bool has_posix_timers(pid_t pid)
{
	char byte;
	_cleanup_(closep) int fd = proc_open(pid, 0, "timers", O_RDONLY);
	return fd >= 0 && read(fd, &byte, 1) == 1;
}

/* Neither are alarm() and setitimer(). */
static bool has_interval_timer(struct thread *thread)
{
	struct raddr buffer =
		RADDR((regs_sp(&thread->regs).v - 512) & ~(uint64_t)15);
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
		const uint64_t args[6] = { (uint64_t)which, buffer.v };
		struct itimerval timer = {};
		int64_t got;
		struct err *err =
			remote_syscall(thread, SYS_getitimer, args, &got);
		if (!err)
			err = memory_read(thread->tracee, buffer, &timer,
					  sizeof(timer));
		if (err) {
			err_ignore(err);
			return false;
		}
		if (timer.it_value.tv_sec || timer.it_value.tv_usec)
			return true;
	}
	return false;
}

/*
 * The number of filters is known since Linux 5.9; before, only whether there are
 * any.
 */
static uint64_t count_filters(const struct tracee *tracee, pid_t tid)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	uint64_t mode = 0, filters = 0;
	err_ignore(proc_read(tracee->pid, tid, "status", &text));
	if (!text.n)
		return 0;
	proc_status_number(text.s, "Seccomp", 10, &mode);
	proc_status_number(text.s, "Seccomp_filters", 10, &filters);
	return mode << 32 | filters;
}

void checkpoint_allow_filters(struct tracee *tracee)
{
	tracee->filters = count_filters(tracee, tracee->pid);
	tracee->has_filters = true;
}

bool checkpoint_is_filtered(const struct thread *thread)
{
	const struct tracee *tracee = thread->tracee;
	return tracee->has_filters &&
	       count_filters(tracee, thread->tid) != tracee->filters;
}

const char *checkpoint_obstacle(struct tracee *tracee)
{
	const char *why = NULL;
	tracee_reap(tracee);
	if (!tracee->has_filters)
		checkpoint_allow_filters(tracee);
	if (tracee->threads.n != 1)
		why = "it already has several threads";
	else if (checkpoint_is_filtered(tracee->threads.data[0]))
		why = "a test filters system calls";
	else if (has_posix_timers(tracee->pid) ||
		 has_interval_timer(tracee->threads.data[0]))
		why = "it already has a timer running";
	if (why)
		log_debug(LOG_TRACEE,
			  "no checkpoint of process %d with %zu threads: %s",
			  tracee->pid, tracee->threads.n, why);
	return why;
}

/*
 * Where the C library keeps the thread's id: it caches it, and a fork has to
 * write the new one there as the library's own fork() does.
 */
static uint64_t tid_address(struct thread *thread)
{
	struct raddr buffer =
		RADDR((regs_sp(&thread->regs).v - 512) & ~(uint64_t)15);
	const uint64_t args[6] = { PR_GET_TID_ADDRESS, buffer.v };
	int64_t got;
	uint64_t address = 0;
	struct err *err = remote_syscall(thread, SYS_prctl, args, &got);
	if (!err && got == 0)
		err = memory_read_u64(thread->tracee, buffer, &address);
	err_ignore(err);
	return address;
}

struct raddr checkpoint_tid(const struct tracee *tracee)
{
	return RADDR(tracee->has_tid_address ? tracee->tid_address : 0);
}

static struct err *wait_for_child(struct tracer *tracer, pid_t pid)
{
	if (tracer_take_early(tracer, pid))
		return NULL;
	int status;
	while (waitpid(pid, &status, __WALL) < 0) {
		if (errno != EINTR)
			return err_errno(errno, "the checkpoint is gone");
	}
	return NULL;
}

/* Its parent is not we, so it has to do so itself. */
static struct err *checkpoint_leave_group(struct thread *thread)
{
	const uint64_t args[6] = {};
	int64_t got;
	return remote_syscall(thread, SYS_setpgid, args, &got);
}

/* @tid: where the C library keeps the thread's id; 0: not known, or no matter. */
static struct err *checkpoint_clone(struct thread *thread, uint64_t tid,
				    pid_t *ret)
{
	/*
	 * The call must not overwrite the program's code: it would be copied.
	 */
	struct raddr stub;
	TRY(region_any(thread, &stub));
	/*
	 * With CLONE_PARENT the copy is a child of the nest as the original is:
	 * nobody in the tested program sees a child come or go.
	 */
	uint64_t flags = CLONE_PARENT;
	if (tid)
		flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
	const uint64_t args[6] = { flags | SIGCHLD, 0, 0, tid };
	int64_t pid;
	TRY(remote_syscall(thread, SYS_clone, args, &pid));
	if (pid < 0)
		return err_errno((int)-pid, "cannot fork the tested program");
	*ret = (pid_t)pid;
	return wait_for_child(thread->tracee->tracer, *ret);
}

static struct err *checkpoint_copy(struct thread *thread, uint64_t tid,
				   struct tracee **ret)
{
	struct tracee *from = thread->tracee;
	pid_t pid = 0;
	TRY(checkpoint_clone(thread, tid, &pid));
	_cleanup_(tracee_destroyp) struct tracee *copy =
		tracee_create(from->tracer, pid);
	if (!copy)
		return err_nomem();
	struct thread *first = copy->threads.data[0];
	first->stopped = true;
	first->regs = thread->regs;
	first->dirty = true;
	first->arrived = thread->arrived;
	copy->output = from->output;
	copy->pinned = from->pinned;
	copy->chooses = from->chooses;
	copy->cpu = from->cpu;
	copy->has_tid_address = from->has_tid_address;
	copy->again = from->again;
	copy->tid_address = from->tid_address;
	copy->has_filters = from->has_filters;
	copy->filters = from->filters;
	TRY(breakpoint_copy(from, copy));
	TRY(brood_add_copy(from, copy));
	TRY(checkpoint_leave_group(first));
	log_debug(LOG_TRACEE, "process %d is a checkpoint of %d", pid,
		  from->pid);
	*ret = take_ptr(copy);
	return NULL;
}

struct err *checkpoint_hold(struct thread *thread, struct tracee **ret)
{
	return checkpoint_copy(thread, 0, ret);
}

struct err *checkpoint_fork(struct thread *thread, struct tracee **ret)
{
	struct tracee *from = thread->tracee;
	BUG_ON(from->threads.n != 1);
	/* Found once: later forks of a fork have it at the same place. */
	if (!from->has_tid_address) {
		from->tid_address = tid_address(thread);
		from->has_tid_address = true;
	}
	return checkpoint_copy(thread, from->tid_address, ret);
}

#include "tracee/remote.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/proc.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "tracee/tracee_internal.h"

#define SYSCALL_LIMIT_NS (10 * NS_PER_S)
#define KEPT_SIGNALS 16
/* So many times the limit, at most, if it does not get a processor. */
#define STARVED_MAX 200

/* Room below the stack pointer that leaf functions use (ABI, 3.2.2). */
#define RED_ZONE 128

/* For how long a call may go on. */
struct remote_limit {
	uint64_t ns;
	bool processor; /* time that it waits for a processor does not count */
	uint64_t used;	/* processor time before the call */
	const struct remote_excuse *excuse; /* NULL: none */
};

struct remote_saved {
	siginfo_t info[KEPT_SIGNALS];
	size_t n;
};

static void keep_signal(struct thread *thread, int signal,
			struct remote_saved *kept)
{
	siginfo_t *info = &kept->info[kept->n];
	if (kept->n == KEPT_SIGNALS)
		return;
	if (ptrace(PTRACE_GETSIGINFO, thread->tid, 0, info) < 0)
		memset(info, 0, sizeof(*info));
	info->si_signo = signal;
	kept->n++;
}

static void return_signals(struct thread *thread, struct remote_saved *kept)
{
	pid_t pid = thread->tracee->pid;
	for (size_t i = 0; i < kept->n; i++) {
		siginfo_t *info = &kept->info[i];
		/* The kernel does not let us pretend to be it: then plainly. */
		if (syscall(SYS_rt_tgsigqueueinfo, pid, thread->tid,
			    info->si_signo, info) < 0)
			syscall(SYS_tgkill, pid, thread->tid, info->si_signo);
	}
}

/* Processor time of a thread so far. */
static uint64_t remote_used(const struct thread *thread)
{
	/* As glibc's clock_getcpuclockid(3), for a thread: CPUCLOCK_SCHED | 4. */
	clockid_t clock = (clockid_t)(~(unsigned)thread->tid << 3 | 6);
	struct timespec used;
	return clock_gettime(clock, &used) < 0
		       ? UINT64_MAX
		       : (uint64_t)used.tv_sec * NS_PER_S +
				 (uint64_t)used.tv_nsec;
}

/*
 * A thread that wants to run and did not get a processor for so long has more
 * time, up to a bound.
 */
static struct err *remote_wait(struct thread *thread, uint64_t deadline,
			       const struct remote_limit *limit,
			       int *ret_status)
{
	for (int i = 0;; i++) {
		struct err *err = thread_wait(thread, deadline, ret_status);
		struct proc_stat stat;
		if (!err || !limit->processor || i == STARVED_MAX ||
		    clock_now() < deadline)
			return err;
		uint64_t used = remote_used(thread);
		if (used == UINT64_MAX || used - limit->used >= limit->ns ||
		    !proc_read_stat(thread->tracee->pid, thread->tid, &stat) ||
		    stat.state != 'R')
			return err;
		err_ignore(err);
		deadline = clock_now() + limit->ns;
	}
}

/*
 * Lets the thread run until it executes the break instruction that ends at
 * @end.
 */
static struct err *run_until(struct thread *thread, struct raddr end,
			     const struct remote_limit *limit,
			     struct remote_saved *kept)
{
	struct tracee *image = tracee_image(thread->tracee);
	uint64_t deadline = clock_now() + limit->ns;
	for (;;) {
		TRY(thread_store(thread));
		thread->stopped = false;
		if (ptrace(PTRACE_CONT, thread->tid, 0, 0) < 0)
			return err_errno(errno, "thread %d is gone",
					 thread->tid);
		int status;
		TRY(remote_wait(thread, deadline, limit, &status));
		if (status_gone(status)) {
			thread->has_waiting = true;
			return err_create(ERR_SUITE,
					  "the tested program ended");
		}
		int signal = WSTOPSIG(status);
		struct raddr pc = regs_pc(&thread->regs);
		if (status >> 16)
			continue; /* interrupted, or a new task of a call */
		if (signal == SIGILL && limit->excuse) {
			bool excused = false;
			TRY(limit->excuse->ask(limit->excuse->data, thread,
					       &excused));
			if (excused)
				continue;
		}
		if (signal != SIGTRAP) {
			if (signal == SIGSEGV || signal == SIGBUS ||
			    signal == SIGILL || signal == SIGFPE)
				return err_create(ERR_SUITE, "%s",
						  strsignal(signal));
			keep_signal(thread, signal, kept);
			continue;
		}
		if (raddr_eq(pc, end))
			return NULL;
		struct raddr at = raddr_add(pc, -ARCH_BREAK_SIZE);
		const struct breakpoint *breakpoint =
			breakpoint_find(image, at);
		unsigned hits = thread->watch_hits;
		if (watchpoint_trapped(thread)) {
			thread->watch_hits = hits; /* not the program's doing */
			continue;
		}
		if (!breakpoint)
			return err_create(ERR_SUITE, "unexpected trap");
		regs_set_pc(&thread->regs, at);
		thread_dirty(thread);
		TRY(breakpoint_pass(thread, breakpoint));
	}
}

static const struct remote_limit syscall_limit = { .ns = SYSCALL_LIMIT_NS };

/* Before there is memory of ours: the stub overwrites code for a moment. */
static struct err *first_syscall(struct thread *thread, struct regs *regs,
				 struct remote_saved *kept)
{
	struct tracee *tracee = thread->tracee;
	struct raddr at = regs_pc(regs);
	uint8_t code[ARCH_SYSCALL_STUB_SIZE];

	TRY(tracee_stop_all(tracee));
	TRY(memory_read(tracee, at, code, sizeof(code)));
	TRY(memory_write(tracee, at, arch_syscall_stub, sizeof(code)));
	thread->regs = *regs;
	thread_dirty(thread);
	struct err *err =
		run_until(thread, raddr_add(at, ARCH_SYSCALL_STUB_SIZE),
			  &syscall_limit, kept);
	struct err *put_back = memory_write(tracee, at, code, sizeof(code));
	if (err) {
		err_ignore(put_back);
		return err;
	}
	return put_back;
}

/* What it was stopped for would be taken for the end of the call. */
static struct err *check_idle(const struct thread *thread)
{
	if (thread->stopped && !thread->has_waiting)
		return NULL;
	return err_create(ERR_INTERNAL, "thread %d is not at rest",
			  thread->tid);
}

struct err *remote_syscall(struct thread *thread, long number,
			   const uint64_t args[6], int64_t *ret)
{
	struct tracee *image = tracee_image(thread->tracee);
	struct regs saved = thread->regs;
	bool was_arrived = thread->arrived;
	struct remote_saved kept = {};
	TRY(check_idle(thread));

	struct regs regs = saved;
	regs_set_syscall(&regs, number, args);
	struct err *err;
	if (!image->regions.n) {
		err = first_syscall(thread, &regs, &kept);
	} else {
		struct raddr stub = image->regions.data[0].base;
		regs_set_pc(&regs, stub);
		thread->regs = regs;
		thread_dirty(thread);
		err = run_until(thread, raddr_add(stub, ARCH_SYSCALL_STUB_SIZE),
				&syscall_limit, &kept);
	}
	int64_t result = (int64_t)regs_result(&thread->regs);
	thread->regs = saved;
	thread_dirty(thread);
	thread->arrived = was_arrived;
	if (err)
		return err_prefix(err, "system call %ld in process %d", number,
				  thread->tracee->pid);
	return_signals(thread, &kept);
	*ret = result;
	return NULL;
}

static struct err *remote_make_call(struct thread *thread,
				    struct raddr function, const uint64_t *args,
				    size_t n, uint64_t limit_ns, bool own,
				    const struct remote_excuse *excuse,
				    uint64_t *ret)
{
	const struct remote_limit limit = {
		.ns = limit_ns,
		.processor = own,
		.used = own ? remote_used(thread) : 0,
		.excuse = excuse,
	};
	struct raddr stub;
	TRY(check_idle(thread));
	TRY(region_any(thread, &stub));

	struct regs saved = thread->regs;
	bool was_arrived = thread->arrived;
	uint8_t vector_state[16384];
	struct iovec vector = { vector_state, sizeof(vector_state) };
	if (ptrace(PTRACE_GETREGSET, thread->tid, NT_X86_XSTATE, &vector) < 0)
		return err_errno(errno, "cannot save floating-point state");

	struct raddr end = raddr_add(stub, ARCH_SYSCALL_INSN_SIZE);
	struct raddr sp = regs_sp(&saved);
	sp.v = ((sp.v - RED_ZONE) & ~(uint64_t)63) - 8;
	TRY(memory_write_u64(thread->tracee, sp, end.v));
	regs_set_sp(&thread->regs, sp);
	regs_set_pc(&thread->regs, function);
	regs_set_result(&thread->regs, 0);
	for (size_t i = 0; i < n; i++)
		regs_set_arg(&thread->regs, (unsigned)i, args[i]);
	thread_dirty(thread);

	struct remote_saved kept = {};
	const struct breakpoint *first =
		breakpoint_find(tracee_image(thread->tracee), function);
	struct err *err = first && !first->resting
				  ? breakpoint_pass(thread, first)
				  : NULL;
	if (!err)
		err = run_until(thread, raddr_add(end, ARCH_BREAK_SIZE), &limit,
				&kept);
	uint64_t result = regs_result(&thread->regs);
	thread->regs = saved;
	thread_dirty(thread);
	thread->arrived = was_arrived;
	if (err)
		return err_prefix(err, "call of 0x%llx in process %d",
				  (unsigned long long)function.v,
				  thread->tracee->pid);
	if (!own &&
	    ptrace(PTRACE_SETREGSET, thread->tid, NT_X86_XSTATE, &vector) < 0)
		return err_errno(errno, "cannot restore floating-point state");
	return_signals(thread, &kept);
	*ret = result;
	return NULL;
}

struct err *remote_call(struct thread *thread, struct raddr function,
			const uint64_t *args, size_t n, uint64_t limit_ns,
			uint64_t *ret)
{
	return remote_make_call(thread, function, args, n, limit_ns, false,
				NULL, ret);
}

struct err *remote_call_own(struct thread *thread, struct raddr function,
			    uint64_t limit_ns,
			    const struct remote_excuse *excuse)
{
	uint64_t result;
	return remote_make_call(thread, function, NULL, 0, limit_ns, true,
				excuse, &result);
}

static struct err *remote_map_memory(struct thread *thread, size_t n, int kind,
				     struct raddr *ret)
{
	const uint64_t args[6] = {
		0,
		n,
		PROT_READ | PROT_WRITE,
		(uint64_t)kind | MAP_ANONYMOUS,
		(uint64_t)-1,
		0,
	};
	int64_t got;
	TRY(remote_syscall(thread, SYS_mmap, args, &got));
	if (got < 0 && got > -4096)
		return err_errno((int)-got,
				 "cannot map memory in the tested program");
	*ret = RADDR(got);
	return NULL;
}

struct err *remote_map(struct thread *thread, size_t n, struct raddr *ret)
{
	return remote_map_memory(thread, n, MAP_PRIVATE, ret);
}

struct err *remote_map_shared(struct thread *thread, size_t n,
			      struct raddr *ret)
{
	return remote_map_memory(thread, n, MAP_SHARED, ret);
}

struct err *remote_unmap(struct thread *thread, struct raddr address, size_t n)
{
	const uint64_t args[6] = { address.v, n };
	int64_t got;
	TRY(remote_syscall(thread, SYS_munmap, args, &got));
	if (got < 0)
		return err_errno((int)-got,
				 "cannot unmap memory in the tested program");
	return NULL;
}

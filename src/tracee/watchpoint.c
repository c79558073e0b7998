#include "tracee/watchpoint.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "tracee/memory.h"
#include "tracee/tracee_internal.h"

#define PAGE 4096

_Static_assert(WATCHPOINTS == ARCH_WATCHES, "one slot a debug register");

/* What is in the debug registers of a thread. */
struct thread_watch {
	uint64_t address[WATCHPOINTS];
	/* The kernel keeps the length also while the slot is off. */
	unsigned n[WATCHPOINTS];
	uint64_t control;
	struct arch_access access[WATCHPOINTS]; /* of hits that wait */
};

static bool debug_register_write(pid_t tid, size_t at, uint64_t value)
{
	return ptrace(PTRACE_POKEUSER, tid, at, value) == 0;
}

static bool debug_register_read(pid_t tid, size_t at, uint64_t *ret)
{
	errno = 0;
	*ret = (uint64_t)ptrace(PTRACE_PEEKUSER, tid, at, 0);
	return !errno;
}

/*
 * Not every virtual machine has debug registers that do anything: a child of
 * our own touches a place, and has to be stopped for it.
 */
static void _noreturn_ watchpoint_probe_child(volatile uint64_t *place)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	kill(getpid(), SIGSTOP);
	*place = 1;
	_exit(0);
}

static bool wait_stop(pid_t pid, int signal)
{
	int status;
	while (waitpid(pid, &status, __WALL) < 0) {
		if (errno != EINTR)
			return false;
	}
	return WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

static bool watchpoint_probe_fires(pid_t pid, const volatile uint64_t *place)
{
	siginfo_t info;
	return wait_stop(pid, SIGSTOP) &&
	       debug_register_write(pid, arch_watch_address_at(0),
				    (uintptr_t)place) &&
	       debug_register_write(pid, arch_watch_control_at(),
				    arch_watch_control(0, sizeof(*place))) &&
	       ptrace(PTRACE_CONT, pid, 0, 0) == 0 && wait_stop(pid, SIGTRAP) &&
	       ptrace(PTRACE_GETSIGINFO, pid, 0, &info) == 0 &&
	       info.si_code == TRAP_HWBKPT;
}

struct err *watchpoint_check_machine(void)
{
	static enum { UNKNOWN, WORKS, FAILS } state;
	static volatile uint64_t place;
	if (state == UNKNOWN) {
		pid_t pid = fork();
		if (pid < 0)
			return err_errno(errno, "cannot fork");
		if (!pid)
			watchpoint_probe_child(&place);
		state = watchpoint_probe_fires(pid, &place) ? WORKS : FAILS;
		log_debug(LOG_TRACEE, "hardware watchpoints %s on this machine",
			  state == WORKS ? "work" : "do not work");
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	if (state == FAILS || getenv("POLYGRAPH_FAULT_WATCHPOINTS"))
		return err_create(ERR_SUITE,
				  "this machine has no hardware watchpoints "
				  "that work");
	return NULL;
}

/*
 * A thread may have hit a slot that is about to be reused, with its hit still
 * waiting to be reported.
 */
static void forget_hit(struct thread *thread, unsigned slot)
{
	uint64_t status;
	thread->watch_hits &= ~(1U << slot);
	if (thread->has_waiting &&
	    debug_register_read(thread->tid, arch_watch_status_at(), &status) &&
	    status & 1U << slot)
		debug_register_write(thread->tid, arch_watch_status_at(),
				     status & ~(uint64_t)(1U << slot));
}

/*
 * The address of one slot. The kernel refuses one that does not suit the length
 * the slot had last: so that is made small first, at the old address.
 */
static bool move_slot(struct thread *thread, unsigned slot,
		      struct watched_place watch)
{
	struct thread_watch *has = thread->watch;
	if (has->n[slot] > watch.n) {
		uint64_t rest = has->control &
				~arch_watch_control(slot, 4); /* all bits */
		uint64_t control = rest | arch_watch_control(slot, 1);
		if (!debug_register_write(thread->tid, arch_watch_control_at(),
					  control))
			return false;
		has->control = control;
		has->n[slot] = 1;
	}
	if (!debug_register_write(thread->tid, arch_watch_address_at(slot),
				  watch.address.v))
		return false;
	has->address[slot] = watch.address.v;
	return true;
}

static bool watchpoint_store_registers(struct thread *thread)
{
	const struct tracee *tracee = thread->tracee;
	struct thread_watch *has = thread->watch;
	uint64_t control = 0;
	for (unsigned i = 0; i < WATCHPOINTS; i++) {
		const struct watched_place watch = tracee->watches[i];
		if (!watch.n || has->address[i] != watch.address.v)
			forget_hit(thread, i);
		if (!watch.n)
			continue;
		control |= arch_watch_control(i, watch.n);
		if (has->address[i] != watch.address.v &&
		    !move_slot(thread, i, watch))
			return false;
	}
	if (control != has->control &&
	    !debug_register_write(thread->tid, arch_watch_control_at(),
				  control))
		return false;
	has->control = control;
	for (unsigned i = 0; i < WATCHPOINTS; i++) {
		if (tracee->watches[i].n)
			has->n[i] = tracee->watches[i].n;
	}
	return true;
}

struct err *watchpoint_store(struct thread *thread)
{
	if (!thread->watch)
		thread->watch = calloc(1, sizeof(*thread->watch));
	if (!thread->watch)
		return err_nomem();
	if (!watchpoint_store_registers(thread)) {
		if (errno == ESRCH)
			return NULL; /* gone, or stopped by job control */
		return err_errno(errno, "cannot set a hardware watchpoint");
	}
	thread->watch_version = thread->tracee->watch_version;
	return NULL;
}

static struct err *watchpoint_store_all(struct tracee *tracee)
{
	for (size_t i = 0; i < tracee->threads.n; i++) {
		struct thread *thread = tracee->threads.data[i];
		if (thread->stopped)
			TRY(watchpoint_sync(thread));
	}
	return NULL;
}

static bool all_stopped(const struct tracee *tracee)
{
	for (size_t i = 0; i < tracee->threads.n; i++) {
		if (!tracee->threads.data[i]->stopped)
			return false;
	}
	return true;
}

struct err *watchpoint_set(struct tracee *tracee, unsigned slot,
			   struct raddr address, unsigned n)
{
	BUG_ON(slot >= WATCHPOINTS);
	BUG_ON(n != 1 && n != 2 && n != 4 && n != 8);
	BUG_ON(address.v % n);
	struct watched_place *watch = &tracee->watches[slot];
	if (watch->n == n && raddr_eq(watch->address, address))
		return NULL;
	TRY(watchpoint_check_machine());
	struct watched_place wanted = { .address = address, .n = n };
	memory_read_some(tracee, address, &wanted.seen, n);
	if (!all_stopped(tracee))
		TRY(tracee_stop_all(tracee));
	*watch = wanted;
	tracee->watch_version++;
	struct err *err = watchpoint_store_all(tracee);
	if (err)
		watchpoint_clear(tracee, slot);
	return err;
}

void watchpoint_clear(struct tracee *tracee, unsigned slot)
{
	BUG_ON(slot >= WATCHPOINTS);
	if (!tracee->watches[slot].n)
		return;
	tracee->watches[slot] = (struct watched_place){};
	tracee->watch_version++;
	for (size_t i = 0; i < tracee->threads.n; i++)
		tracee->threads.data[i]->watch_hits &= ~(1U << slot);
}

bool watchpoint_is_set(const struct tracee *tracee, unsigned slot)
{
	BUG_ON(slot >= WATCHPOINTS);
	return tracee->watches[slot].n;
}

void watchpoint_forget(struct tracee *tracee)
{
	memset(tracee->watches, 0, sizeof(tracee->watches));
	tracee->watch_version = 0;
	for (size_t i = 0; i < tracee->threads.n; i++) {
		struct thread *thread = tracee->threads.data[i];
		free(take_ptr(thread->watch));
		thread->watch_version = 0;
		thread->watch_hits = 0;
	}
}

/* Code up to and from @pc, without breakpoints, as far as it can be read. */
static void watchpoint_read_code(struct tracee *tracee, struct raddr pc,
				 uint8_t *bytes, struct arch_code *ret)
{
	size_t before = ARCH_CODE_BEFORE;
	size_t n = memory_read_some(tracee, raddr_add(pc, -(int64_t)before),
				    bytes, before + ARCH_INSN_MAX);
	if (n < before) {
		/* Near to the beginning of a mapping. */
		before = MIN(before, (pc.v - 1) % PAGE + 1);
		n = memory_read_some(tracee, raddr_add(pc, -(int64_t)before),
				     bytes, before + ARCH_INSN_MAX);
	}
	if (n < before)
		before = n = 0;
	breakpoint_hide(tracee, raddr_add(pc, -(int64_t)before), bytes, n);
	*ret = (struct arch_code){ bytes, n, before, pc, 0 };
}

static struct arch_access watchpoint_find_access(struct thread *thread,
						 struct watched_place *watch)
{
	struct tracee *tracee = thread->tracee;
	uint8_t bytes[ARCH_CODE_BEFORE + ARCH_INSN_MAX];
	uint8_t caller_bytes[ARCH_CODE_BEFORE + ARCH_INSN_MAX];
	struct arch_code code, caller;
	struct raddr pc = regs_pc(&thread->regs), return_to;
	watchpoint_read_code(tracee, pc, bytes, &code);
	uint64_t in_slot;
	if (breakpoint_slot_offset(tracee, pc, &in_slot)) {
		/* Executed in a slot, which begins with it. */
		code.exact = (uint8_t)MIN(in_slot, (uint64_t)ARCH_INSN_MAX);
		code.bytes += code.before - MIN(in_slot, code.before);
		code.n -= code.before - MIN(in_slot, code.before);
		code.before = MIN(in_slot, code.before);
	}
	bool has_caller =
		memory_read_some(tracee, regs_sp(&thread->regs), &return_to,
				 sizeof(return_to)) == sizeof(return_to);
	if (has_caller)
		watchpoint_read_code(tracee, return_to, caller_bytes, &caller);
	uint64_t now = 0;
	memory_read_some(tracee, watch->address, &now, watch->n);
	struct arch_access access = {};
	if (!arch_access(&code, has_caller ? &caller : NULL, &thread->regs,
			 watch->address, watch->n, &access)) {
		uint8_t all = (uint8_t)((1U << watch->n) - 1);
		if (now == watch->seen)
			access.read = all;
		else
			access.written = all;
		log_debug(LOG_TRACEE,
			  "instruction before 0x%llx is not known: %s",
			  (unsigned long long)pc.v,
			  access.read ? "a read" : "a write");
	}
	watch->seen = now;
	return access;
}

bool watchpoint_trapped(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;
	siginfo_t info;
	uint64_t status;
	if (!thread->watch ||
	    ptrace(PTRACE_GETSIGINFO, thread->tid, 0, &info) < 0 ||
	    (info.si_code != TRAP_HWBKPT && info.si_code != TRAP_TRACE) ||
	    !debug_register_read(thread->tid, arch_watch_status_at(), &status))
		return false;
	unsigned hits = status & ((1U << WATCHPOINTS) - 1);
	if (hits)
		debug_register_write(thread->tid, arch_watch_status_at(), 0);
	for (unsigned i = 0; i < WATCHPOINTS; i++) {
		struct watched_place *watch = &tracee->watches[i];
		if (!(hits & 1U << i) || !watch->n ||
		    thread->watch->address[i] != watch->address.v)
			continue;
		thread->watch->access[i] =
			watchpoint_find_access(thread, watch);
		thread->watch_hits |= 1U << i;
	}
	return hits || info.si_code == TRAP_HWBKPT;
}

bool watchpoint_next(struct thread *thread, struct tracee_event *event)
{
	if (!thread->watch_hits)
		return false;
	unsigned slot = (unsigned)__builtin_ctz(thread->watch_hits);
	thread->watch_hits &= ~(1U << slot);
	event->kind = TRACEE_WATCHPOINT;
	event->slot = slot;
	event->read = thread->watch->access[slot].read;
	event->written = thread->watch->access[slot].written;
	event->access = (event->read ? WATCHPOINT_READ : 0) |
			(event->written ? WATCHPOINT_WRITE : 0);
	log_debug(LOG_TRACEE, "%d has touched watchpoint %u (%u) at 0x%llx",
		  thread->tid, slot, event->access,
		  (unsigned long long)regs_pc(&thread->regs).v);
	return true;
}

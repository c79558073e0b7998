/*
 * Making a stopped thread of the tracee do something for us and restoring it:
 * system calls and function calls.
 *
 * Signals that arrive during the call are kept and delivered afterwards.
 * Breakpoints met during it are passed silently.
 */
#pragma once

#include "tracee/tracee.h"

/* *@ret is the kernel's answer: negative error numbers below -4095 are none. */
struct err *remote_syscall(struct thread *thread, long number,
			   const uint64_t args[6], int64_t *ret) _must_check_;
/*
 * Calls a function with up to six integer arguments; floating-point state is
 * kept. An error where it does not come back in @limit_ns or dies.
 */
struct err *remote_call(struct thread *thread, struct raddr function,
			const uint64_t *args, size_t n, uint64_t limit_ns,
			uint64_t *ret) _must_check_;
/*
 * Asked where a call executes what is no instruction (arch_undefined()). *@ret:
 * it goes on, with the registers as they are then; else it has died of that.
 */
struct remote_excuse {
	struct err *(*ask)(void *data, struct thread *thread, bool *ret);
	void *data;
};
/*
 * The same of a function without arguments, as if the thread itself had called
 * it: what it does to floating-point state stays. Time that it waits for a
 * processor does not count. @excuse may be NULL.
 */
struct err *remote_call_own(struct thread *thread, struct raddr function,
			    uint64_t limit_ns,
			    const struct remote_excuse *excuse) _must_check_;
/* Anonymous memory in the tracee, readable and writable by it. */
struct err *remote_map(struct thread *thread, size_t n,
		       struct raddr *ret) _must_check_;
/* The same, shared with copies of the process made later. */
struct err *remote_map_shared(struct thread *thread, size_t n,
			      struct raddr *ret) _must_check_;
struct err *remote_unmap(struct thread *thread, struct raddr address,
			 size_t n) _must_check_;

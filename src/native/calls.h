/*
 * Driving a function that runs one test: entering it again and again.
 *
 * At an entry, calls_enter() keeps the registers and arranges for the return to
 * be noticed: the given hook is called with the thread stopped right after the
 * call. There the adapter either lets the caller continue or, with
 * calls_again(), moves the thread back to the entry, with other arguments.
 *
 * A function that is left by longjmp or by an exception never returns; then
 * nothing is called, and the next entry replaces the kept one. At the same place
 * in the stack, such an entry looks just like a jump to the function's first
 * instruction from inside (a loop, a tail call). Only the call instruction tells
 * them apart: calls_notice_site() has the hook called there, too.
 *
 * At -O2 a caller may keep values in registers it can see the function leaves
 * alone (IPA-RA), so calls_leave() restores all of them, but the result's.
 */
#pragma once

#include "native/run.h"

struct calls {
	struct regs entry;
	struct raddr return_to;
	struct raddr site; /* calls_notice_site(); 0: not noticed */
	pid_t tid; /* the thread that entered; 0: the first, as in every copy */
	size_t next; /* of the run, when it was entered */
	bool inside;
};

/* At the function's first instruction. */
struct err *calls_enter(struct run *run, struct thread *thread,
			struct calls *calls, run_hook *returned,
			uint64_t arg) _must_check_;
/*
 * After calls_enter(), with the same hook: where the function was called, if
 * that can be determined and no other hook is there.
 */
struct err *calls_notice_site(struct run *run, struct calls *calls,
			      run_hook *hook, uint64_t arg) _must_check_;
struct err *calls_ignore_site(struct run *run,
			      struct calls *calls) _must_check_;
/* In the hook: is the caller about to call again, the function was left? */
bool calls_left(const struct calls *calls, const struct thread *thread);
/* At the entry of longjmp(): does it leave the function? */
bool calls_jumps_out(struct run *run, const struct calls *calls,
		     const struct thread *thread);
/* Is it the thread that entered? */
bool calls_same_thread(const struct calls *calls, const struct thread *thread);
/* At the entry again: does it come from inside the call that was kept? */
bool calls_nested(const struct calls *calls, const struct thread *thread);
/* In the hook: is this the return of that call (and not of a deeper one)? */
bool calls_returned(const struct calls *calls, const struct thread *thread);
/*
 * Enters the function again as it was entered; arguments may then be set. An error
 * where the last time it returned without a test having begun: that would never
 * end.
 */
struct err *calls_again(struct run *run, struct thread *thread,
			struct calls *calls) _must_check_;
/* The same for a part of a test, where another function runs in its place. */
void calls_go_back(struct thread *thread, struct calls *calls);
/* At the function's first instruction: returns at once with @result. */
struct err *calls_skip(struct run *run, struct thread *thread,
		       uint64_t result) _must_check_;
/* The same for a function without result: all registers stay. */
struct err *calls_skip_void(struct run *run,
			    struct thread *thread) _must_check_;
/*
 * After the call: restores all registers that the caller had when it called,
 * except the results of the last round if @keep_result.
 */
void calls_leave(struct thread *thread, const struct calls *calls,
		 bool keep_result);
/*
 * From now on the function returns 0 on its own, without a stop; and back. The
 * breakpoint after the call is still there: run_unbreak(calls->return_to).
 */
struct err *calls_mute(struct run *run, struct raddr function) _must_check_;
/* The same where it returns a struct of @n bytes in memory. */
struct err *calls_mute_struct(struct run *run, struct raddr function,
			      uint8_t n) _must_check_;
struct err *calls_unmute(struct run *run, struct raddr function) _must_check_;
/*
 * Functions of ours in the tested program, @n of them, CALLS_STUB_SIZE apart:
 * each returns 0. Put into a framework's tables, with a breakpoint, they bring
 * us the thread at the right moment.
 */
#define CALLS_STUB_SIZE 16
struct err *calls_stubs(struct thread *thread, size_t n,
			struct raddr *ret) _must_check_;
/* Such a function has no breakpoint any more: it goes on in that one. */
struct err *calls_stub_becomes(struct run *run, struct raddr stub,
			       struct raddr function) _must_check_;
/*
 * At a function's first instruction: what its caller has in registers that calls
 * leave alone, and next to it on the stack. Where two calls of one function by
 * another are equal in that, one can return to where the other was made.
 */
uint64_t calls_caller_digest(struct run *run, const struct thread *thread);
/*
 * From a function's first instruction calls another one without arguments, which
 * returns to @return_to; the registers are as the caller wants them back.
 */
struct err *calls_from_entry(struct run *run, struct thread *thread,
			     struct raddr function,
			     struct raddr return_to) _must_check_;
/* At a function's first instruction: another one runs in its place. */
void calls_instead(struct thread *thread, struct raddr function);

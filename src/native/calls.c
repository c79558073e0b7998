#include "native/calls.h"

#include <string.h>

#include "native/session.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"

#define STUBS_MAX 16
#define CALLER_WORDS 32 /* of its frame that are compared */
/* No jump goes further up a stack. */
#define STACK_MAX ((uint64_t)1 << 40)

/* In a copy of the process the first thread has another id. */
static pid_t calls_tid_of(const struct thread *thread)
{
	return thread->tid == tracee_pid(thread->tracee) ? 0 : thread->tid;
}

bool calls_same_thread(const struct calls *calls, const struct thread *thread)
{
	return calls->tid == calls_tid_of(thread);
}

struct err *calls_enter(struct run *run, struct thread *thread,
			struct calls *calls, run_hook *returned, uint64_t arg)
{
	uint64_t return_to;
	TRY(memory_read_u64(run->tracee, regs_sp(&thread->regs), &return_to));
	calls->entry = thread->regs;
	calls->return_to = RADDR(return_to);
	calls->site = RADDR(0);
	calls->tid = calls_tid_of(thread);
	calls->next = run->next;
	calls->inside = true;
	return run_break(run, calls->return_to, returned, arg);
}

/* Most call directly: then the target shows that it is the instruction. */
static bool calls_is_direct(struct run *run, const struct calls *calls,
			    struct raddr site)
{
	uint8_t code[ARCH_CALL_SIZE], expected[ARCH_CALL_SIZE];
	return memory_read_some(run->tracee, site, code, sizeof(code)) ==
		       sizeof(code) &&
	       arch_call(site, regs_pc(&calls->entry), expected) &&
	       memcmp(code, expected, sizeof(code)) == 0;
}

static bool calls_find_site(struct run *run, const struct calls *calls,
			    struct raddr *ret)
{
	struct map_u64 *sites = &run->session->call_sites;
	uint64_t known = 0;
	*ret = raddr_add(calls->return_to, -ARCH_CALL_SIZE);
	if (calls_is_direct(run, calls, *ret))
		return true;
	if (!map_u64_get(sites, calls->return_to.v, &known)) {
		if (breakpoint_call_before(run->tracee, calls->return_to, ret))
			known = ret->v;
		err_ignore(map_u64_put(sites, calls->return_to.v, known));
	}
	*ret = RADDR(known);
	return known;
}

struct err *calls_notice_site(struct run *run, struct calls *calls,
			      run_hook *hook, uint64_t arg)
{
	struct raddr site;
	uint64_t word;
	if (!calls_find_site(run, calls, &site) ||
	    (breakpoint_at(run->tracee, site, &word) &&
	     run->session->hooks.data[word].call != hook))
		return NULL;
	calls->site = site;
	return run_break(run, site, hook, arg);
}

struct err *calls_ignore_site(struct run *run, struct calls *calls)
{
	struct raddr site = calls->site;
	calls->site = RADDR(0);
	return site.v ? run_unbreak(run, site) : NULL;
}

bool calls_left(const struct calls *calls, const struct thread *thread)
{
	return calls->inside && calls_same_thread(calls, thread) &&
	       raddr_eq(regs_pc(&thread->regs), calls->site) &&
	       regs_sp(&thread->regs).v > regs_sp(&calls->entry).v;
}

bool calls_jumps_out(struct run *run, const struct calls *calls,
		     const struct thread *thread)
{
	struct raddr buffer = RADDR(thread_arg(thread, 0));
	struct raddr control = regs_thread_pointer(&thread->regs);
	uint64_t here = regs_sp(&thread->regs).v;
	uint64_t entry = regs_sp(&calls->entry).v, sp = 0, guard = 0;
	if (!calls->inside || !calls_same_thread(calls, thread))
		return false;
	err_ignore(memory_read_u64(run->tracee,
				   raddr_add(buffer, ARCH_JUMP_SP_AT), &sp));
	err_ignore(memory_read_u64(run->tracee,
				   raddr_add(control, ARCH_POINTER_GUARD_AT),
				   &guard));
	uint64_t unhidden = arch_unhide_pointer(sp, guard);
	/* Other C libraries do not hide it. */
	if (unhidden > here && unhidden - here < STACK_MAX)
		sp = unhidden;
	return sp > entry && sp - entry < STACK_MAX;
}

bool calls_nested(const struct calls *calls, const struct thread *thread)
{
	/* Another thread does part of the test's work. */
	return calls->inside &&
	       (!calls_same_thread(calls, thread) ||
		regs_sp(&thread->regs).v < regs_sp(&calls->entry).v);
}

bool calls_returned(const struct calls *calls, const struct thread *thread)
{
	return calls->inside && calls_same_thread(calls, thread) &&
	       raddr_eq(regs_pc(&thread->regs), calls->return_to) &&
	       regs_sp(&thread->regs).v == regs_sp(&calls->entry).v + 8;
}

struct err *calls_again(struct run *run, struct thread *thread,
			struct calls *calls)
{
	if (run->next == calls->next)
		return run_not_begun(run);
	calls->next = run->next;
	calls_go_back(thread, calls);
	return NULL;
}

void calls_go_back(struct thread *thread, struct calls *calls)
{
	thread->regs = calls->entry;
	thread_dirty(thread);
	calls->inside = true;
	/*
	 * The return address is still where it was: the return took it off the
	 * stack without changing it, and nothing writes right below the stack
	 * pointer (ABI, 3.2.2: the red zone).
	 */
}

struct err *calls_skip_void(struct run *run, struct thread *thread)
{
	uint64_t return_to;
	struct raddr sp = regs_sp(&thread->regs);
	TRY(memory_read_u64(run->tracee, sp, &return_to));
	regs_set_sp(&thread->regs, raddr_add(sp, 8));
	regs_set_pc(&thread->regs, RADDR(return_to));
	thread_dirty(thread);
	return NULL;
}

struct err *calls_skip(struct run *run, struct thread *thread, uint64_t result)
{
	TRY(calls_skip_void(run, thread));
	regs_set_result(&thread->regs, result);
	return NULL;
}

void calls_leave(struct thread *thread, const struct calls *calls,
		 bool keep_result)
{
	struct regs now = thread->regs;
	thread->regs = calls->entry;
	regs_set_sp(&thread->regs, regs_sp(&now));
	regs_set_pc(&thread->regs, regs_pc(&now));
	if (keep_result) {
		thread->regs.r.rax = now.r.rax;
		thread->regs.r.rdx = now.r.rdx;
	}
	thread_dirty(thread);
}

struct err *calls_mute(struct run *run, struct raddr function)
{
	uint8_t code[ARCH_INSN_MAX];
	size_t n = arch_return_zero(code);
	return breakpoint_overlay(run->tracee, function, code, n);
}

struct err *calls_mute_struct(struct run *run, struct raddr function, uint8_t n)
{
	uint8_t code[ARCH_INSN_MAX];
	size_t size = arch_return_cleared(n, code);
	return breakpoint_overlay(run->tracee, function, code, size);
}

struct err *calls_unmute(struct run *run, struct raddr function)
{
	return breakpoint_overlay_end(run->tracee, function);
}

struct err *calls_stubs(struct thread *thread, size_t n, struct raddr *ret)
{
	uint8_t code[STUBS_MAX * CALLS_STUB_SIZE] = {};
	_Static_assert(CALLS_STUB_SIZE >= ARCH_INSN_MAX, "a stub has no room");
	BUG_ON(n > STUBS_MAX);
	for (size_t i = 0; i < n; i++)
		arch_return_zero(code + i * CALLS_STUB_SIZE);
	return breakpoint_code(thread, regs_pc(&thread->regs), code,
			       sizeof(code), ret);
}

struct err *calls_stub_becomes(struct run *run, struct raddr stub,
			       struct raddr function)
{
	uint8_t code[ARCH_FAR_JUMP_SIZE];
	_Static_assert(CALLS_STUB_SIZE >= ARCH_FAR_JUMP_SIZE,
		       "a stub has no room");
	TRY(run_unbreak(run, stub));
	arch_jump_far(function, code);
	return memory_write(run->tracee, stub, code, sizeof(code));
}

uint64_t calls_caller_digest(struct run *run, const struct thread *thread)
{
	const struct user_regs_struct *r = &thread->regs.r;
	uint64_t words[7 + CALLER_WORDS] = { r->rsp, r->rbp, r->rbx, r->r12,
					     r->r13, r->r14, r->r15 };
	uint64_t digest = 0xcbf29ce484222325; /* FNV-1a, by words */
	memory_read_some(run->tracee, raddr_add(regs_sp(&thread->regs), 8),
			 words + 7, CALLER_WORDS * 8);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		digest = (digest ^ words[i]) * 0x100000001b3;
	return digest;
}

struct err *calls_from_entry(struct run *run, struct thread *thread,
			     struct raddr function, struct raddr return_to)
{
	/* A call leaves the stack 8 bytes off its alignment of 16. */
	struct raddr sp = RADDR(regs_sp(&thread->regs).v - 16);
	TRY(memory_write_u64(run->tracee, sp, return_to.v));
	regs_set_sp(&thread->regs, sp);
	regs_set_pc(&thread->regs, function);
	thread_dirty(thread);
	return NULL;
}

void calls_instead(struct thread *thread, struct raddr function)
{
	regs_set_pc(&thread->regs, function);
	thread_dirty(thread);
}

/*
 * Software breakpoints of a tracee.
 *
 * A breakpoint is a place and the caller's word for it, which comes back in
 * the event. Two at one place are one (the later word wins). Setting one needs
 * a stopped tracee; a few bytes of memory in reach are mapped into it once.
 */
#pragma once

#include "tracee/tracee.h"

struct err *breakpoint_set(struct tracee *tracee, struct raddr address,
			   uint64_t word) _must_check_;
struct err *breakpoint_clear(struct tracee *tracee,
			     struct raddr address) _must_check_;
bool breakpoint_at(const struct tracee *tracee, struct raddr address,
		   uint64_t *ret_word);

/*
 * Overlays code: while it is there, the function at @address runs @code
 * instead; breakpoints below it rest. Ending it restores both.
 */
struct err *breakpoint_overlay(struct tracee *tracee, struct raddr address,
			       const uint8_t *code, size_t n) _must_check_;
/* Children that the program makes have the overlays as well, or do not. */
void breakpoint_overlay_children(struct tracee *tracee, bool keep);
bool breakpoint_overlaid(struct tracee *tracee, struct raddr address);
struct err *breakpoint_overlay_end(struct tracee *tracee,
				   struct raddr address) _must_check_;

/* Puts code of ours somewhere near to @near, to be called from there. */
struct err *breakpoint_code(struct thread *thread, struct raddr near,
			    const uint8_t *code, size_t n,
			    struct raddr *ret) _must_check_;

/* The call instruction that is followed by @return_to; false: not known. */
bool breakpoint_call_before(struct tracee *tracee, struct raddr return_to,
			    struct raddr *ret);
/* Which registers for arguments it reads (arch_arguments()), with @n bytes. */
unsigned breakpoint_code_arguments(struct tracee *tracee, struct raddr address,
				   size_t n);
/* Can the function at @address return, whose code has @n bytes? */
bool breakpoint_code_returns(struct tracee *tracee, struct raddr address,
			     size_t n);

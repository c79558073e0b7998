/*
 * The state of a process stopped in the agent, as a number: registers that a
 * called function preserves and the stack, both as the program will have them
 * when the agent returns to it, arguments of the agent's function, all memory
 * that it may write, live heap blocks only of the heap, and which files it has
 * open and where it is in them. What the agent keeps for itself is left out,
 * and pointers into freed memory count as none.
 *
 * Two states with equal numbers go on alike under equal choices, but for what
 * the allocator makes of its free memory.
 */
#pragma once

#include "native/run.h"

struct unwinder;

/* False: there is too much of it, or it cannot be read. */
struct err *fingerprint_take(struct run *run, struct thread *thread,
			     struct unwinder *unwinder, uint64_t *ret,
			     bool *ret_known) _must_check_;
/* Descriptors that the process was started with. */
struct fingerprint_files {
	uint64_t known[64];
	size_t n;
};

/*
 * What it has open that copies of it would share and use up; NULL: nothing. What
 * it had the @first time, before the test, is not the test's.
 */
const char *fingerprint_shared(struct run *run, struct fingerprint_files *files,
			       bool first);

/*
 * System calls as the scheduler sees them (native/scheduler.h): which of them
 * wait, for how long at most, and what they return when that time is over; those
 * that read clocks, and those that arm timers of the kernel.
 */
#pragma once

#include "tracee/tracee.h"

struct timed_call {
	const char *name; /* NULL: it does not wait */
	bool segment;	  /* what comes after it is another piece of work */
	bool descriptor;  /* … if its first argument is no regular file */
	bool hands_over;  /* what comes after it is part of a piece of work */
	bool timed;	  /* it ends by itself … */
	uint64_t ns;	  /* … after that */
};

/* At its entry. @offset: what the program's clocks are ahead of the system's. */
struct timed_call timed_call_read(const struct thread *thread, uint64_t offset);
/* At its exit, after it was interrupted: its time was over. */
void timed_call_expire(struct thread *thread);
/* At the exit of a call that reads a clock: that is ahead. */
void timed_call_advance(struct thread *thread, uint64_t offset);
/*
 * At its exit: did it arm a timer of the kernel, which ends a wait or sends a
 * signal in real time, or disarm one? @ret_timer tells them apart.
 */
bool timed_call_arms(const struct thread *thread, uint64_t *ret_timer,
		     uint64_t *ret_ns, uint64_t *ret_interval);

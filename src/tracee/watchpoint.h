/*
 * Hardware watchpoints: a thread that reads or writes a place is noticed, at no
 * cost for everything else. Four places of up to 8 bytes (aligned to their
 * size) at a time, in all threads of a tracee, also those that come later.
 *
 * The event TRACEE_WATCHPOINT comes after the instruction; whether it read or
 * only wrote, and which bytes, is found by decoding it (event.access, read and
 * written), and where that is not possible, by comparing the value with the one
 * seen last. An instruction that
 * touches several places is one event for each. A repeated string instruction
 * is an event for each of its rounds that touches the place.
 *
 * What it does not see: accesses by the kernel (a system call that reads or
 * writes the place), by the controller, and by other processes. A fork of a
 * tracee (checkpoint_fork()) has no watchpoints, nor has another program that
 * took its place.
 */
#pragma once

#include "tracee/tracee.h"

#define WATCHPOINTS 4

enum watchpoint_access {
	WATCHPOINT_READ = 1 << 0,
	WATCHPOINT_WRITE = 1 << 1,
};

/* An error where the machine has none that work. */
struct err *watchpoint_check_machine(void) _must_check_;
/*
 * @slot below WATCHPOINTS; @n is 1, 2, 4 or 8 and divides @address. An error
 * where the machine has none. Threads that are running are stopped for it.
 */
struct err *watchpoint_set(struct tracee *tracee, unsigned slot,
			   struct raddr address, unsigned n) _must_check_;
/* No more events of that slot; stops no thread. */
void watchpoint_clear(struct tracee *tracee, unsigned slot);
/* Is that slot set? */
bool watchpoint_is_set(const struct tracee *tracee, unsigned slot);

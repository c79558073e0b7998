/*
 * Hardware watchpoints: a thread that reads or writes a place is noticed, at no
 * cost for everything else. Four places of up to 8 bytes (aligned to their
 * size) at a time, in all threads of a tracee, also those that come later.
 *
 * The event TRACEE_WATCHPOINT comes after the instruction; whether it read or
 * only wrote is found by decoding it (event.access).
 */
#pragma once

#include "tracee/tracee.h"

#define WATCHPOINTS 4

enum watchpoint_access {
	WATCHPOINT_READ = 1 << 0,
	WATCHPOINT_WRITE = 1 << 1,
};

/*
 * @slot below WATCHPOINTS; @n is 1, 2, 4 or 8 and divides @address. An error
 * where the machine has none.
 */
struct err *watchpoint_set(struct tracee *tracee, unsigned slot,
			   struct raddr address, unsigned n) _must_check_;
void watchpoint_clear(struct tracee *tracee, unsigned slot);

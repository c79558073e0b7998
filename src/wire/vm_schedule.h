/*
 * What the part of the VM's agent that schedules threads says, and is told: kinds
 * of messages as in wire/vm.h, with its texts and numbers. Times are nanoseconds,
 * two numbers each, the lower one first.
 */
#pragma once

#include <stdint.h>

#include "wire/vm.h"

enum wire_schedule_kind {
	/*
	 * To the VM, before it runs the test: class of the test, its first
	 * line, flags, nth, until_nth, before_nth (uint32_t each), patience, seed,
	 * delay (times), event, until, before (texts; empty: none): struct
	 * suite_schedule.
	 */
	WIRE_SCHEDULE_BEGIN = WIRE_VM_SCHEDULES,
	/*
	 * From the VM, as it happens: kind (enum wire_schedule_moment), thread, time, nth, operation, line,
	 * inside, key, file, n; then n frames: function, file, line.
	 */
	WIRE_SCHEDULE_MOMENT = WIRE_VM_SCHEDULES + 8,
	/* From the VM: flags (enum wire_schedule_ends), why a hold ended, margin. */
	WIRE_SCHEDULE_END,
	/*
	 * From the VM, before WIRE_VM_ENDED: there were other threads; did any
	 * of them begin in this test?
	 */
	WIRE_SCHEDULE_THREADS,
};

enum wire_schedule_flags {
	WIRE_SCHEDULE_INSIDE = 1 << 0,
	WIRE_SCHEDULE_EARLY = 1 << 1,
};

/* As enum suite_moment_kind. */
enum wire_schedule_moment {
	WIRE_MOMENT_STATEMENT,
	WIRE_MOMENT_STARTED,
	WIRE_MOMENT_RESUMED,
	WIRE_MOMENT_HELD,
	WIRE_MOMENT_RELEASED,
	WIRE_MOMENT_PAUSED,
	WIRE_MOMENT_EXPIRED,
	WIRE_MOMENT_FAILED,
	WIRE_MOMENTS_N,
};

/* As enum suite_hold_end. */
enum wire_schedule_hold_end {
	WIRE_HOLD_NONE,
	WIRE_HOLD_STATEMENT,
	WIRE_HOLD_NEEDED,
	WIRE_HOLD_PATIENCE,
	WIRE_HOLD_SPINNING,
	WIRE_HOLD_ENDS_N,
};

/* struct suite_trace */
enum wire_schedule_ends {
	WIRE_SCHEDULE_HAD_THREADS = 1 << 0,
	WIRE_SCHEDULE_REACHED = 1 << 1,
	WIRE_SCHEDULE_HUNG = 1 << 2,
	WIRE_SCHEDULE_STOOD = 1 << 3,
	WIRE_SCHEDULE_AFTER = 1 << 4,
};

/* Where work begins: what a thread comes out of. */
#define WIRE_SCHEDULE_OPERATIONS(X)                                            \
	X(NONE, "")                                                            \
	X(START, "start")                                                      \
	X(SLEEP, "Thread.sleep")                                               \
	X(WAIT, "Object.wait")                                                 \
	X(PARK, "LockSupport.park")                                            \
	X(POLL, "a socket's poll")                                             \
	X(TASK, "task")                                                        \
	X(RELEASE, "AbstractQueuedSynchronizer.release")                       \
	X(UNPARK, "LockSupport.unpark")                                        \
	X(NOTIFY, "Object.notify")                                             \
	X(NOTIFY_ALL, "Object.notifyAll")

enum wire_schedule_operation {
#define X(name, text) WIRE_OPERATION_##name,
	WIRE_SCHEDULE_OPERATIONS(X)
#undef X
		WIRE_OPERATIONS_N,
};

/*
 * Drives the threads of a test under a schedule (suite/schedule.h).
 *
 * While a test runs, system calls of all threads are followed. That shows where
 * the work of other threads begins, so that they can be held there; who waits,
 * and until when; and lets clocks run ahead. Statements of the test are
 * breakpoints at the rows of its file from its own line to the next test's.
 *
 * All threads that are not held rest if each sleeps in a system call that waits,
 * in two looks at it without having run in between. Then, and only then, time is
 * passed over: the wait that would end first ends at once. Never past a timer of
 * the kernel, which runs in real time, and not while there are child processes,
 * of whose work nothing is known.
 */
#pragma once

#include "native/run.h"
#include "suite/schedule.h"

struct scheduler;

/* suite_ops.run_schedule */
struct err *scheduler_run(struct suite *suite, size_t test,
			  const struct suite_schedule *schedule,
			  const struct suite_observer *observer,
			  struct suite_trace *ret) _must_check_;

/* The process stands before its first test: statements get breakpoints. */
struct err *scheduler_attach(struct run *run) _must_check_;
struct err *scheduler_begin(struct run *run) _must_check_;
/* The test failed: nothing of it has happened since. */
void scheduler_note_failure(struct run *run);
void scheduler_end(struct run *run);
/*
 * TRACEE_CLONED, TRACEE_CALL, TRACEE_TICK. *@ret_hung: all threads wait, and
 * nothing will end that.
 */
struct err *scheduler_take(struct run *run, const struct tracee_event *event,
			   bool *ret_hung) _must_check_;

/* The program that is about to run its first instruction asks the kernel for
 * the time: the vDSO, which would tell it without a call, is hidden from it. */
struct err *scheduler_hide_vdso(struct tracee *tracee) _must_check_;

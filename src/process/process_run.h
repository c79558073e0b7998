/* One run of a suite of processes: who may start when, and the loop. */
#pragma once

#include "process/process_suite.h"

struct process_watching;

/*
 * @flags: SUITE_SERIAL, entries run one after the other as they are given.
 * @watching: see process_watch.h; then one test runs at a time. NULL: nothing is
 * watched. A run that only looks for readers does not take place where they
 * cannot be seen.
 */
struct err *process_run(struct process_suite *suite, const size_t *order,
			size_t n, unsigned flags,
			const struct suite_observer *observer,
			const struct process_watching *watching) _must_check_;
/*
 * The group of a process that runs, or will no longer, for the function below.
 * @old 0: it is new; @new 0: it ended.
 */
void process_note_group(pid_t old, pid_t new);
/* Writes what a test printed to @fd; what cannot be written is dropped. */
void process_run_pass_output(const char *data, size_t n, int fd);
/* A signal to the process groups of all running tests; async-signal-safe. */
void process_run_signal(int number);

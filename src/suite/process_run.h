/* One run of a suite of processes: who may start when, and the loop. */
#pragma once

#include "suite/process_suite.h"

struct err *process_run(struct process_suite *suite, const size_t *order,
			size_t n,
			const struct suite_observer *observer) _must_check_;

/* Sends @number to all tests that run; may be called from a signal handler. */
void process_run_signal(int number);

/* One run of a suite of processes: who may start when, and the loop. */
#pragma once

#include "process/process_suite.h"

struct err *process_run(struct process_suite *suite, const size_t *order,
			size_t n,
			const struct suite_observer *observer) _must_check_;

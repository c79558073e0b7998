/*
 * Calls of functions that were compiled for it, tried in copies of a process:
 * suite/bench.h for test executables.
 *
 * The library is loaded once, where the test is about to begin, through the
 * program's own dlopen(); each call is made in a copy of that process, and the
 * test runs behind it.
 */
#pragma once

#include "native/session.h"
#include "suite/bench.h"

struct err *bench_work(struct session *session,
		       const struct suite_bench_options *options,
		       suite_bench_work *work, void *data,
		       const struct suite_observer *observer,
		       const char **ret_why_not) _must_check_;
/* suite_describe_code() */
struct err *bench_read_code(struct suite *suite, const char *file,
			    struct suite_code *ret) _must_check_;

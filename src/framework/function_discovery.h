/*
 * Finding the tests of a hand-written runner: a run in a copy of the process in
 * which every call of a test function returns at once and is noted; for
 * functions.c. Where the program does not survive that, the functions run.
 */
#pragma once

#include "base/err.h"
#include "tracee/tracee.h"

struct run;
struct thread;

/* What is remembered in each process: where its calls are noted. */
struct function_discovery {
	struct raddr notes; /* 0: they are listed at once */
};

/* Around the run, in the process that is copied. */
struct err *
function_discovery_begin(struct run *run, struct thread *thread,
			 struct function_discovery *discovery) _must_check_;
struct err *
function_discovery_end(struct run *run, struct thread *thread,
		       struct function_discovery *discovery) _must_check_;
/* In the copy, at the entry of the first test function, or at fork(). */
struct err *function_discovery_start(struct run *run, struct thread *thread,
				     const struct function_discovery *discovery,
				     bool forks) _must_check_;
/* There, where the runner forks for a test (function_forks.h). */
struct err *function_discovery_mark_fork(
	struct run *run,
	const struct function_discovery *discovery) _must_check_;
/* In the copy, at the entry of a test function: it is noted, and runs. */
struct err *function_discovery_note(struct run *run,
				    const struct thread *thread,
				    const struct function_discovery *discovery,
				    uint64_t address) _must_check_;
/* There: it is noted, and returns at once. */
struct err *function_discovery_add(struct run *run, struct thread *thread,
				   const struct function_discovery *discovery,
				   uint64_t address) _must_check_;

/*
 * Runs of a suite of a Java VM. A chain is an order that begins in a fresh VM;
 * chains run side by side, each in its own.
 */
#pragma once

#include "jvm/jvm_suite.h"

struct jvm_chain {
	const size_t *tests;
	const size_t *entries; /* what results are told with; by place */
	size_t n;
	bool *told; /* by entry: no second time, by any chain; NULL: always */
	/* After a test that ended its VM the rest has OUTCOME_NONE. */
	bool ends_with_vm;
};

/*
 * @jobs: side by side. With one, files are as at the start before each chain
 * but the first; before that it is the caller's.
 */
struct err *jvm_run_chains(struct jvm_suite *suite,
			   const struct jvm_chain *chains, size_t n,
			   unsigned jobs,
			   const struct suite_observer *observer) _must_check_;

/* A search for assumptions, with progress, and what it left open in words. */
#pragma once

#include "cli/choices_options.h"
#include "cli/collect.h"

struct choices_run {
	struct suite *suite;
	const size_t *tests;
	size_t n;
	struct choices_plan *plan;
	struct collect *collect;
	uint64_t budget_ns; /* 0: none */
	uint64_t deadline;  /* clock_now(); 0: none */
	bool progress;
	bool told; /* the suite's own run is collected already */
};

struct err *choices_run(struct choices_run *run,
			struct choices_result *ret) _must_check_;
/* Adds limits: what was not tried, and why. */
struct err *
choices_run_limits(struct choices_run *run,
		   const struct choices_result *result) _must_check_;

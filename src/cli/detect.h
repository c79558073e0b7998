/*
 * A run of detectors, cheapest first and within one budget: what tests leave
 * behind (pollution/), then with that which of them depend on the order (order/).
 * Behind the commands `order` and `check`, which differ in what they report.
 *
 * Invariants:
 *  1. A spent budget ends the run in the suite's own order, which everything
 *     else needs; what comes after is told when to end, and not interrupted.
 *  2. Where that run is not whole, orders are not searched: a test that was not
 *     looked at would pass for one that leaves nothing behind.
 */
#pragma once

#include "cli/command.h"
#include "cli/state_options.h"

struct detect_options {
	struct state_options state;
	unsigned strategy;
	uint64_t runs; /* random orders; 0: as the strategy has it */
	bool any_order;
	bool all_pairs;
	uint64_t repeat;
	bool cleaners;
	bool roots;
	bool pollution;
	bool fresh;
	uint64_t seed;
};

#define DETECT_DEFAULTS                                                        \
	{                                                                      \
		.state = STATE_DEFAULTS, .repeat = 3, .cleaners = true,        \
		.roots = true, .pollution = true,                              \
	}

extern const struct option_group detect_order_group;

enum detect_flags {
	DETECT_REPORT_POLLUTION = 1 << 0, /* its findings, too */
};

/* The command of that @name, whose values are a struct detect_options. */
struct err *detect_run(const struct options *options, int argc, char **argv,
		       const char *name, unsigned flags,
		       enum status *ret) _must_check_;

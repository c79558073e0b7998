/*
 * A run of detectors, cheapest first and within one budget: what tests leave
 * behind (pollution/), then with that which of them depend on the order (order/),
 * and which assume more than an API promises (choices/). Behind the commands `order` and `check`, which differ in what they report.
 *
 * Invariants:
 *  1. A spent budget ends the run in the suite's own order, which everything
 *     else needs; what comes after is told when to end, and not interrupted.
 *  2. Choices are made in another process, which is started anew: it has
 *     another library of ours in it. What that cannot do is a limit.
 *  3. Where that run is not whole, orders are not searched: a test that was not
 *     looked at would pass for one that leaves nothing behind.
 */
#pragma once

#include "cli/choices_options.h"
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
	bool choices; /* with DETECT_CHOICES */
	struct choices_settings settings;
};

#define DETECT_DEFAULTS                                                        \
	{                                                                      \
		.state = STATE_DEFAULTS, .repeat = 3, .cleaners = true,        \
		.roots = true, .pollution = true, .choices = true,             \
		.settings = CHOICES_DEFAULTS,                                  \
	}

extern const struct option_group detect_order_group;
extern const struct option_group detect_choices_group;

enum detect_flags {
	DETECT_REPORT_POLLUTION = 1 << 0, /* its findings, too */
	DETECT_CHOICES = 1 << 1,	  /* assumptions, too */
};

/* The command of that @name, whose values are a struct detect_options. */
struct err *detect_run(const struct options *options, int argc, char **argv,
		       const char *name, unsigned flags,
		       enum status *ret) _must_check_;

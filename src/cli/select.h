/*
 * Which tests, and in which order: --tests, --order, --reverse, --shuffle,
 * --repeat become a list of test numbers for suite_run().
 *
 * Disabled tests are set aside, to be reported as skipped, unless a pattern of
 * --tests is the name itself. An order file does not enable them: it may well
 * be made from the list of all tests.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "cli/option.h"
#include "suite/suite.h"

DEFINE_VEC(indexes, size_t)

struct selection_options {
	const struct option_list *tests; /* patterns */
	const char *order;		 /* file, or NULL */
	bool reverse;
	bool shuffle;
	uint64_t seed;	 /* for shuffle */
	uint64_t repeat; /* at least 1 */
};

/* Do the patterns leave a test of that name? */
bool select_matches(const struct option_list *patterns, const char *name);

/* The tests that patterns leave, in natural order. None is an error. */
struct err *select_tests(const struct suite *suite,
			 const struct option_list *patterns,
			 struct indexes *ret) _must_check_;

/* @ret_disabled: those set aside. */
struct err *select_order(const struct suite *suite,
			 const struct selection_options *options,
			 struct indexes *ret,
			 struct indexes *ret_disabled) _must_check_;

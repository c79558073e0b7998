/*
 * doctest's own choice of tests by its command line (-tc, -ts, -sf, -first, …),
 * as Context::run() makes it; for doctest.c, which reads the filters out of
 * the program and then replaces them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* In ContextState::filters; the first of each pair includes, the second excludes. */
enum {
	DOCTEST_FILTER_FILE,
	DOCTEST_FILTER_SUITE = 2,
	DOCTEST_FILTER_CASE = 4,
	DOCTEST_FILTERS = 6,
};

struct doctest_filter {
	VEC(char *) globs[DOCTEST_FILTERS];
	bool case_sensitive, no_skip;
	uint32_t first, last; /* of the tests that pass, from 1 */
	uint32_t passed;      /* so far */
};

void doctest_filter_free(struct doctest_filter *filter);
/* To be called for each test, in the order in which they would run. */
bool doctest_filter_takes(struct doctest_filter *filter, const char *file,
			  const char *suite, const char *name, bool disabled);

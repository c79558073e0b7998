/*
 * What the tests of an executable are made of, as a number each
 * (program/makeup.h): as long as it stays the same after a rebuild, so does the
 * test.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct suite;
struct suite_options;

struct test_digests {
	size_t n;
	uint64_t *digests; /* 0: not known */
};

/* Of a suite that is no executable, none is known. */
struct err *test_digests_read(const struct suite *suite,
			      const struct suite_options *options,
			      struct test_digests *ret) _must_check_;
void test_digests_free(struct test_digests *digests);

/*
 * What a suite declares of the order of its tests: for the kinds of suites
 * (framework/ through run.h, process/), which find it out when they list them.
 */
#pragma once

#include "suite/kind.h"

/* A new group in @parent (SUITE_NO_GROUP: in none). */
struct err *declare_group(struct suite *suite, size_t parent,
			  size_t *ret) _must_check_;
/* Each of these may be declared twice; a test is never related to itself. */
struct err *declare_after(struct suite *suite, size_t test,
			  size_t earlier) _must_check_;
struct err *declare_needs(struct suite *suite, size_t test,
			  size_t earlier) _must_check_; /* and after */
struct err *declare_cleanup(struct suite *suite, size_t test,
			    size_t later) _must_check_; /* and after */
/* Tests with a higher one come first, whatever is between them. */
void declare_priority(struct suite *suite, size_t test, int64_t priority);

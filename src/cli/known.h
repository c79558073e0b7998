/*
 * Which findings are known already: listed in the baseline, or suppressed with a
 * reason and an end date. They are counted and do not fail the run.
 */
#pragma once

#include "base/err.h"

struct detection;
struct report;
struct report_test;

/*
 * After all findings were added: notes which of them are known, and which of the
 * baseline were looked for and not found.
 */
struct err *known_mark(struct detection *detection,
		       struct report *report) _must_check_;
/* Warns of what the baseline lists of tests that are not there any more. */
struct err *known_warn(const struct detection *detection) _must_check_;
/* Writes the baseline, where that is asked for. */
struct err *known_update(struct detection *detection,
			 const struct report *report) _must_check_;
/* Of the tests that failed, which it lists as ones that do so now and then. */
struct err *known_mark_tests(const struct detection *detection,
			     struct report_test *tests, size_t n) _must_check_;

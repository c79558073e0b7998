/*
 * Which findings are known already: listed in the baseline, or suppressed with a
 * reason and an end date. They are counted and do not fail the run.
 */
#pragma once

#include "base/err.h"

struct detection;
struct report;

/*
 * After all findings were added: notes which of them are known, and which of the
 * baseline were looked for and not found.
 */
struct err *known_mark(struct detection *detection,
		       struct report *report) _must_check_;
/* Writes the baseline, where that is asked for. */
struct err *known_update(struct detection *detection,
			 const struct report *report) _must_check_;
/* Does it list @test as one that fails now and then? */
struct err *known_unreliable(const struct detection *detection,
			     const char *test, bool *ret) _must_check_;

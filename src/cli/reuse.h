/*
 * A `check` of a suite that is as it was: its last report is shown again, in
 * whatever format, and nothing is run.
 *
 * That holds as long as the suite and all that it reads is in the same state
 * (cli/holds.h), the options that matter, the tests and their order are the same,
 * and no longer budget is given.
 *
 * What is kept is the whole report, as JSON. What the baseline and suppressions
 * say of its findings is of today.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct detection;
struct report;
struct reread;

/* *@ret stays NULL where there is none that holds. */
struct err *reuse_load(struct detection *detection,
		       struct reread **ret) _must_check_;
/* After the search; keeps nothing of one that was interrupted. */
struct err *reuse_keep(struct detection *detection,
		       const struct report *report) _must_check_;

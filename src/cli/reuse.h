/*
 * A `check` of a suite that is as it was: what the last one said is said again,
 * and nothing is run.
 *
 * That holds as long as the suite is in the same state (results/digest.h), the
 * options that matter and the environment are the same, and no longer budget is
 * given. Files that tests read are not looked at: --fresh is for that.
 *
 * Findings themselves are those of the store (cli/earlier.h); what is kept here
 * is the rest of the report: how the tests ended, limits, what was left open.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct detection;

/* *@ret: it was there, and the detection is as after its search. */
struct err *reuse_load(struct detection *detection, bool *ret) _must_check_;
/* After the search; keeps nothing of one that was interrupted. */
struct err *reuse_keep(struct detection *detection) _must_check_;

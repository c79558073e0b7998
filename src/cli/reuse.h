/*
 * A `check` of a suite that is as it was: its last report is shown again, in
 * whatever format, and nothing is run.
 *
 * That holds as long as the suite is in the same state (results/digest.h), the
 * options that matter, the tests, their order and the environment are the same,
 * and no longer budget is given. Files that tests read are not looked at:
 * --fresh is for that.
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

/* ---- for cli/rebuilt.c ---- */

/* May something of an earlier call be taken, with these options? */
bool reuse_is_possible(const struct detection *detection);
/* Is something to be kept for later ones? */
bool reuse_is_kept(const struct detection *detection);
/*
 * Under which name it is kept: the command, its options, the environment.
 * @order: also which tests.
 */
struct err *reuse_make_key(const struct detection *detection, bool order,
			   char **ret) _must_check_;

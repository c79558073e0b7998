/*
 * Does what an earlier run learned still hold? Facts, findings and the whole
 * report of earlier runs (results/results.h, cli/earlier.h, cli/reuse.h) are
 * taken only where it does: as long as everything they followed from is the
 * same. That is
 *  - the suite's files, its tests and our own version (results/digest.h),
 *  - the environment: variables, working directory, user, limits, the kernel,
 *    the processors, whether there is a sandbox,
 *  - all that the suite reads from the file system (files/inputs.h), such as
 *    data files, libraries of the system and those that it loads itself.
 *
 * The last is seen in a plain run of the executable, in each run in another
 * order, and as commands are followed. Where something was not seen, nothing
 * holds: everything is run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct detection;
struct inputs;

struct holds {
	struct inputs *inputs; /* as this run sees them; NULL: nobody looks */
	char *own;	       /* folder of results, absolute */
	char *state;	       /* of the environment, as text */
	int64_t began; /* real time: what is younger changed meanwhile */
	bool all;      /* what is known of the suite holds */
	bool learned;  /* what it reads was kept, or nobody knows it */
};

/* Before the suite is opened. */
struct err *holds_begin(struct detection *detection) _must_check_;
/* Nothing has run yet: finds out, and forgets what does not hold. */
struct err *holds_judge(struct detection *detection) _must_check_;
/*
 * Between two detectors, and after the last. Does nothing before the suite ran
 * in its own order, nor a second time.
 */
struct err *holds_learn(struct detection *detection) _must_check_;
/* After the last run: adds what was read since then. Also where it failed. */
struct err *holds_end(struct detection *detection) _must_check_;
void holds_free(struct holds *holds);

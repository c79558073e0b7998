/*
 * The detector of pollution: tests that leave shared state changed, and what
 * that means.
 *
 * One run of the suite with its state watched shows what each test leaves.
 * Then, for those that leave something: running each twice in a row shows
 * whether it settles or accumulates; runs with the changed places watched show
 * which other tests read them; and readers run alone show whether they would
 * have made the same change themselves, as first users of a cache do.
 *
 * What it does not do: know what state is. It works on changes
 * (suite/change.h).
 */
#pragma once

#include "base/vec.h"
#include "finding/leftover.h"
#include "suite/suite.h"

struct pollution {
	struct findings findings; /* evidence: struct leftover */
	VEC(struct first_use) firsts;
	VEC(struct left_out) left_out; /* one a reason, most variables first */
	/* Tests that put variables back: from another state they may not. */
	VEC(size_t) cleaners;
	/*
	 * Tests that changed what is left out, as few others do: with
	 * pollution_options.omitted. A test may be in it more than once.
	 */
	VEC(size_t) changers;
	/* By test: how it ended in the first run; OUTCOME_NONE: it did not run. */
	uint8_t *outcomes;
	uint64_t ns; /* that this run took */
};

struct pollution_options {
	const struct finding_run *run; /* that findings speak of */
	struct suite_watch watch;
	bool eager;	   /* initialise what can be, before the first test */
	bool effect;	   /* find out */
	bool readers;	   /* find out */
	bool traces;	   /* and where they read it, and it was written */
	bool omitted;	   /* which tests change what is left out: find out */
	uint64_t deadline; /* clock_now() at which no more is begun; 0: never */
	/*
	 * Instead: asked once the run that looks for changes is over, which has
	 * taken @ns. NULL: not.
	 */
	uint64_t (*deadline_after)(void *data, uint64_t ns);
	void *data;
};

/*
 * @observer gets the run that looks for changes; of the others only the limits.
 * On ERR_INTERRUPTED @ret has what was found so far.
 */
struct err *pollution_find(struct suite *suite, const size_t *order, size_t n,
			   const struct pollution_options *options,
			   const struct suite_observer *observer,
			   struct pollution *ret) _must_check_;
void pollution_free(struct pollution *pollution);
static inline void pollution_freep(struct pollution *pollution)
{
	pollution_free(pollution);
}

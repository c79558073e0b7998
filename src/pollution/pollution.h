/*
 * The detector of pollution: tests that leave shared state changed, and what
 * that means.
 *
 * One run of the suite with its state watched tells what each test leaves.
 * Then, for those that leave something: running each twice in a row tells
 * whether it settles or accumulates; runs with the changed places watched tell
 * which other tests read them; and readers run alone tell whether they would
 * have made the same change themselves, as first users of a cache do.
 *
 * What it does not do: know what state is. It works on changes (suite/change.h).
 */
#pragma once

#include "base/vec.h"
#include "suite/change.h"
#include "suite/suite.h"

enum pollution_effect {
	EFFECT_UNKNOWN,
	EFFECT_SETTLES,	    /* a second run leaves it alone */
	EFFECT_ACCUMULATES, /* a second run changes it again */
};

enum pollution_severity { SEVERITY_LOW, SEVERITY_MEDIUM, SEVERITY_HIGH };

struct pollution_finding {
	size_t test;
	struct change change;
	enum pollution_effect effect;
	enum pollution_severity severity;
	VEC(size_t) readers;
	bool readers_known;
	bool varies; /* from process to process */
	bool lazy;   /* whoever comes first makes the same change */
	size_t same; /* readers that were seen to, alone */
};

/* A root that was initialised for the first time by a test. */
struct pollution_first {
	size_t test;
	char *root;
};

struct pollution {
	VEC(struct pollution_finding) findings;
	VEC(struct pollution_first) firsts;
	/* By test: how it ended in the first run; OUTCOME_NONE: it did not run. */
	uint8_t *outcomes;
	uint64_t ns; /* that this run took */
};

struct pollution_options {
	struct suite_watch watch;
	bool eager;	   /* a first run initialises everything */
	bool effect;	   /* find out */
	bool readers;	   /* find out */
	uint64_t deadline; /* clock_now() at which no more is begun; 0: never */
};

/*
 * @observer is told of the run that looks for changes; of the others only the
 * limits. On ERR_INTERRUPTED @ret has what was found so far.
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

const char *pollution_effect_name(enum pollution_effect effect);
const char *pollution_severity_name(enum pollution_severity severity);

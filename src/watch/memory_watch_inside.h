/* Inside of the watch over memory; for native/ alone. */
#pragma once

#include "image/image.h"
#include "state/state.h"
#include "watch/areas.h"
#include "watch/memory_watch.h"
#include "watch/roots.h"

struct memory_watch {
	struct session *session;
	const struct suite_watch *options;
	struct type_pool *pool;
	struct containers *containers;
	struct roots roots;
	struct areas areas;
	size_t modules;		      /* loaded when the roots were looked up */
	struct map_u64 known_modules; /* bias → number of the look-up */
	uint64_t loads;

	/* Of the process that is followed; NULL: none now. */
	struct run *run;
	struct image *image;
	struct state *state;
	struct view before, after;
	struct map_u64 fixtures; /* roots of changes that were undone */
	struct state_differences differences;
	VEC(struct state_page) pages;
	uint64_t capture_ns, compare_ns; /* what it cost */
	bool once; /* looked at twice only: libraries loaded meanwhile are not */
	bool said_blocks;
	bool said_untyped;
};

/* What a state of these roots is made of. */
struct state_options memory_watch_options(struct memory_watch *watch);
/* Where the agent has its struct wire_heap; 0: it is not there. */
uint64_t memory_watch_agent(const struct run *run);

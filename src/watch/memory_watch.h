/*
 * Watching the memory of a suite: the pages written since the last point are
 * read (image/), and the graphs before and after are compared (state/). For
 * watch.c, and for restoring it (restore/).
 */
#pragma once

#include "image/image.h"
#include "state/state.h"
#include "suite/change.h"
#include "watch/areas.h"
#include "watch/held_roots.h"
#include "watch/host.h"
#include "watch/moments.h"
#include "watch/omitted.h"
#include "watch/roots.h"

struct memory_watch {
	struct watch_host host;
	const struct suite_watch *options;
	struct type_pool *pool;
	struct containers *containers;
	struct roots roots;
	struct held_roots held;
	struct areas areas;
	size_t modules;		      /* loaded when the roots were looked up */
	struct map_u64 known_modules; /* bias → number of the look-up */
	uint64_t loads;

	/* Of the process that is followed; NULL: none now. */
	struct tracee *tracee;
	struct image *image;
	struct state *state;
	struct view before, after;
	struct map_u64 fixtures; /* roots of changes that were undone */
	struct moments moments;	 /* since the last point */
	struct map_u64 freed;	 /* @once: roots that led to what is freed */
	struct state_differences differences;
	VEC(struct state_page) pages;
	/* Changed since the last point, if the observer listens. */
	struct omitted_words omitted;
	uint64_t capture_ns, compare_ns; /* what it cost */
	bool once; /* examined twice: ignores libraries loaded later */
	bool said_blocks;
	bool said_untyped, said_stripped;
};

struct err *memory_watch_create(const struct watch_host *host,
				const struct suite_watch *options,
				struct memory_watch **ret) _must_check_;
void memory_watch_destroy(struct memory_watch *watch); /* NULL is fine */

/* The process stands where its first test will begin. */
struct err *
memory_watch_start(struct memory_watch *watch,
		   const struct watch_process *process) _must_check_;
void memory_watch_stop(struct memory_watch *watch);
/*
 * All threads are stopped. What changed since the last point is appended to
 * @ret; where that is NULL, changes of @held (may be NULL) that are undone by
 * now are taken out, and their variables are known for fixtures from then on.
 */
struct err *memory_watch_capture(struct memory_watch *watch,
				 struct thread *thread, struct changes *ret,
				 struct changes *held) _must_check_;
bool memory_watch_is_fixture(const struct memory_watch *watch,
			     const struct change *change);
/* What a state of these roots is made of. */
struct state_options memory_watch_options(struct memory_watch *watch);

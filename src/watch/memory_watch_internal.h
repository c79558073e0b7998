/* How differences become changes; for moments.c only. */
#pragma once

#include "watch/memory_watch.h"

/* The change of this root: the one that is there, or a new one. */
struct err *memory_watch_add_change(struct memory_watch *watch, size_t root,
				    struct changes *changes,
				    struct change **ret) _must_check_;
struct err *memory_watch_add_path(struct memory_watch *watch,
				  const struct state_difference *difference,
				  struct change *change) _must_check_;
/* Both subgraphs, for --verbose, in place of those that are there. */
struct err *memory_watch_add_detail(struct memory_watch *watch,
				    const struct view *before, size_t root,
				    struct change *change) _must_check_;
/* What tests tell their runner is not what they share with each other. */
bool memory_watch_leaves_out(const struct memory_watch *watch,
			     const struct state_difference *difference);

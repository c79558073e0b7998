/*
 * Which objects of a graph may have been written since it was made: those on
 * pages of the heap that were, where the kernel tells (PAGEMAP_SCAN, Linux 6.7 and
 * later), or all of them.
 */
#pragma once

#include "vm/vm_heap_internal.h"

/* Nothing is indexed; the heap is held. */
void heap_pages_reset(void);
/* @graph is there now: writes to its objects are seen from here on. */
void heap_pages_index(const struct heap_graph *graph);
/*
 * Calls heap_walk_check() for all objects that may have been written, some of
 * them twice. The heap is held, and nothing has moved.
 */
void heap_pages_check(struct heap_graph *graph);
void heap_walk_check(struct heap_graph *graph, uint32_t node);

/*
 * Which objects of a graph may have been written since it was made: those on
 * pages of the heap that were, where the kernel tells (PAGEMAP_SCAN, Linux 6.7 and
 * later), or all of them.
 */
#pragma once

#include "vm/vm_heap_internal.h"

/* From now on writes are seen; the heap is held. */
void heap_pages_reset(void);
/* @graph is what was there then. */
void heap_pages_index(const struct heap_graph *graph);
/* Is all of it as it was? The heap is held, and nothing has moved. */
bool heap_pages_same(const struct heap_graph *graph);
bool heap_walk_node_same(const struct heap_graph *graph, uint32_t node);

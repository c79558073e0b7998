/*
 * The walk through the heap's memory, as what makes a graph (vm_heap_walk.c) and
 * what brings one up to date (vm_heap_update.c) share it.
 *
 * It takes the ways that a comparison takes, in the same order: root by root, and
 * all parts of a container at the container's turn. So a node's parent is on the
 * way by which a difference in it is told.
 */
#pragma once

#include "vm/vm_heap_internal.h"

struct heap_walk {
	struct heap_graph *graph;
	struct {
		uint32_t *data;
		size_t n, cap;
	} queue; /* nodes whose turn comes */
	struct {
		uint32_t *data;
		size_t n, cap;
	} parts; /* of the container whose turn it is */
	/* Nodes whose class, or the one they stand for, is not known yet. */
	struct {
		uint32_t *data;
		size_t n, cap;
	} incomplete;
	bool late; /* some were: others may have been met before their turn */
	/* Of an update: references that were added, of the first n nodes. */
	uint32_t *added;
	size_t n_added;
	/* … and that lead to a node that was there. */
	struct heap_ways adopters;
};

/* A reference in an object. */
struct heap_slot {
	size_t offset; /* in its bytes */
	uint32_t edge;
	size_t link; /* of objects: which of its class */
};
/* References of a node that are followed, one by one; starts with *@at 0. */
bool heap_slot_next(const struct heap_graph *graph, uint32_t node, size_t *at,
		    struct heap_slot *ret);
/* Its bytes, as they are now, where it has room for them. */
void walk_copy_bytes(struct heap_graph *graph, uint32_t node);
size_t heap_node_size(const struct heap_graph *graph, uint32_t node);

void walk_root(struct heap_walk *walk, size_t root);
/* Where a slot of @node leads to now; walk_rest() goes on from there. */
void walk_slot(struct heap_walk *walk, uint32_t node,
	       const struct heap_slot *slot);
void walk_rest(struct heap_walk *walk);
void heap_walk_free(struct heap_walk *walk);
const uint8_t *walk_root_slot(const struct heap_root *root);
/* Roots that the graph does not have yet. */
void walk_new_roots(struct heap_walk *walk);
/*
 * Classes that were met and are not known are learned, which takes calls of the
 * VM, and what was found of them is walked. The heap is held before and after.
 * False: it could not be held, or objects have moved meanwhile.
 */
bool walk_complete(JNIEnv *env, struct heap_walk *walk);
/* Does @node lead back to itself through its parents? */
bool walk_is_below(const struct heap_graph *graph, uint32_t node,
		   uint32_t ancestor);
bool heap_is_container(const struct heap_class *class);
/* Have objects moved since the graph was made? The heap is held. */
bool walk_has_moved(void);

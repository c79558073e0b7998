/*
 * The objects that can be reached, by address; for state/ only.
 *
 * A node is a variable, a heap block or a loose object (memory of which no
 * block is known). It says how it was reached first: from which node, through
 * the pointer or container at which offset there. These edges make a forest
 * over the roots, out of which access paths are written. Edges go stale when
 * the program changes pointers; they are checked before use.
 */
#pragma once

#include "base/vec.h"
#include "type/type.h"

#define NODE_NONE UINT32_MAX
#define NODE_PAGE 4096

enum node_kind { NODE_ROOT, NODE_BLOCK, NODE_LOOSE };

enum node_flags {
	NODE_PART = 1 << 0,   /* inside a container: edge is the container */
	NODE_DEAD = 1 << 1,   /* gone */
	NODE_ORPHAN = 1 << 2, /* its edge was changed: may be unreachable */
	NODE_TEXT = 1 << 3,   /* a string: until its first 0 */
	NODE_SHARED = 1 << 4, /* more than one edge was seen to lead to it */
	NODE_BIT = 1 << 6,    /* a single bit; only ever a place's */
	NODE_SLACK =
		1 << 7,	    /* its end may be the allocator's; only a place's */
	NODE_BARE = 1 << 5, /* what is around its elements is not its own */
};

struct node {
	uint64_t start;
	uint64_t size;
	uint64_t typed;	 /* offset of its first element */
	uint64_t count;	 /* elements of @type */
	uint64_t edge;	 /* offset in the parent */
	type_id type;	 /* of an element; TYPE_UNKNOWN: words */
	uint32_t parent; /* NODE_NONE for roots */
	uint32_t index;	 /* roots: which; parts: position in the container */
	uint32_t page_next;
	uint32_t stack; /* of its allocation */
	uint32_t root;	/* from which it was reached first */
	uint32_t scan;	/* parts: in which look at the container */
	uint8_t kind;
	uint8_t flags;
	bool leads;    /* something was ever reached from it */
	uint8_t doubt; /* that what leads to it is a pointer; see walk_doubt() */
};

struct nodes {
	VEC(struct node) all;
	uint32_t *slots; /* open addressing by start; id + 1, 0: empty */
	size_t cap;
	uint32_t *pages; /* the same by page: first node of a list */
	uint64_t *page_keys;
	size_t pages_n;
	size_t pages_cap;
	/* Those larger than a page, by start; sorted when asked. */
	VEC(uint32_t) large;
	bool large_sorted;
	size_t dead;
};

void nodes_free(struct nodes *nodes);
/* NODE_NONE: not known. */
uint32_t nodes_find(const struct nodes *nodes, uint64_t start);
/* Nothing of that start may be there but dead ones. */
struct err *nodes_add(struct nodes *nodes, const struct node *node,
		      uint32_t *ret) _must_check_;
void nodes_kill(struct nodes *nodes, uint32_t id);
/* Takes back a nodes_kill() since which nothing was added or asked. */
void nodes_revive(struct nodes *nodes, uint32_t id);
/*
 * Nodes that overlap the page at @page, each once. @visit returns an error to
 * stop; it must not add nodes.
 */
struct err *nodes_on_page(struct nodes *nodes, uint64_t page,
			  struct err *(*visit)(void *data, uint32_t id),
			  void *data) _must_check_;

static inline struct node *nodes_get(const struct nodes *nodes, uint32_t id)
{
	BUG_ON(id >= nodes->all.n);
	return &nodes->all.data[id];
}

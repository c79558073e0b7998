/*
 * Comparing two moments; for state/ only.
 *
 * A place is an object on both sides: a node that stands for itself, or a pair
 * found by following a changed pointer. Places form a forest like nodes do: the
 * roots of it are nodes, and a path is written through both.
 */
#pragma once

#include "state/state_internal.h"

#define PLACE_NONE UINT32_MAX

struct compare_place {
	/*
	 * As the object is after; parent and edge are those of the place
	 * @parent, where there is one.
	 */
	struct node shape;
	uint64_t before; /* where it was */
	uint64_t before_size;
	uint32_t node;	 /* stands for itself; NODE_NONE: a pair */
	uint32_t parent; /* place; PLACE_NONE for nodes */
	uint64_t key;	 /* of an element: address of its key; 0: none */
	type_id key_type;
	bool key_gone; /* it was there before only */
};

/* Bytes of a node that were written. */
struct touched {
	uint32_t node;
	uint64_t from, to;
};

struct contested {
	uint32_t place; /* of the pointer */
	struct leaf leaf;
	uint64_t before, after; /* starts of the nodes it was and is on */
};

/* A written node whose counterpart is not clear. */
struct doubtful {
	struct touched touched;
	bool told;
};

/*
 * A node that stands for itself, though what led to it is somewhere else now:
 * the elements of a vector that grew, say.
 */
struct adopted {
	uint64_t start; /* of the node */
	uint32_t place; /* that leads to it now */
	uint64_t edge;	/* offset there */
};

struct compare {
	struct state *state;
	const struct view *before;
	const struct view *after;
	VEC(struct compare_place) places;
	size_t compared; /* places that were */
	VEC(struct touched) touched;
	VEC(uint64_t) dropped; /* starts of nodes that a pointer left */
	VEC(uint64_t) removed; /* the same for those a container had */
	VEC(struct contested) contested;
	VEC(struct doubtful) doubtful;
	VEC(struct adopted) adopted;
	struct map_u64 ways; /* nodes of long ways → where they break */
	VEC(uint32_t) marks; /* used while one is found */
	bool edges_known;    /* edges_changed is */
	bool edges_changed;
	struct map_u64 adoptions; /* start of a node → number in adopted */
	struct map_u64 forward, backward;
	struct map_u64 seen;	    /* differences reported */
	struct map_u64 containers;  /* compared: 1 equal, 2 not */
	uint64_t text_was, text_is; /* the last text that was compared */
	struct state_differences *ret;
	bool late;  /* all containers that were written to were compared */
	bool lost;  /* nodes that others may lead to, too */
	bool stale; /* an edge did not hold: the index must be rebuilt */
	size_t differences;
};

/* ---- compare.c ---- */

/* What is reported of a difference, except for its place. */
struct difference_report {
	const struct leaf *leaf;
	const char *before, *after; /* instead of the leaf's values; or NULL */
	uint32_t stack;
	bool dead;
	unsigned kind; /* enum value_kind; 0: other */
};
struct err *compare_report(struct compare *compare, uint32_t place,
			   const struct difference_report *told) _must_check_;
/* Reports where two texts, of @n and @m bytes, differ. */
struct err *compare_texts(struct compare *compare, uint32_t place,
			  const struct leaf *leaf, uint64_t unit, uint64_t was,
			  uint64_t n, uint64_t is, uint64_t m,
			  uint32_t stack) _must_check_;
struct err *compare_leaf(struct compare *compare, uint32_t place,
			 const struct leaf *leaf) _must_check_;
struct err *compare_pointer(struct compare *compare, uint32_t place,
			    const struct leaf *leaf, type_id type, uint64_t was,
			    uint64_t is) _must_check_;
/*
 * Compares a block that a void pointer leads to and that holds a string on both
 * sides.
 */
struct err *compare_untyped_text(struct compare *compare, uint32_t id,
				 bool *ret) _must_check_;
struct err *compare_report_pointer(struct compare *compare, uint32_t place,
				   const struct leaf *leaf,
				   const struct target *is) _must_check_;
/* The leaves that overlap these bytes of a place with the shape of @node. */
struct err *compare_range(struct compare *compare, uint32_t place,
			  const struct node *node, uint64_t from,
			  uint64_t to) _must_check_;
/* Places that were found and not compared yet. */
struct err *compare_queue(struct compare *compare) _must_check_;

/* ---- written.c ---- */

/* Does it stand for itself: is all that leads to it from its root unchanged? */
bool compare_holds(struct compare *compare, uint32_t node);
/* The node at which the way from the root to @node breaks; NODE_NONE: none. */
uint32_t compare_break(struct compare *compare, uint32_t node);
/* To be called when ways that broke may hold, or the other way round. */
void compare_forget_ways(struct compare *compare);
/* A node that stands for itself is reached through @place now. */
struct err *compare_adopt(struct compare *compare, uint32_t node,
			  uint32_t place, uint64_t edge) _must_check_;
/* All of a place's leaves. */
struct err *compare_place(struct compare *compare, uint32_t place) _must_check_;
/* The place of a node that stands for itself. */
struct err *compare_identity(struct compare *compare, uint32_t node,
			     uint32_t *ret) _must_check_;
/* Are these two the same node? False: the difference was reported. */
struct err *compare_pair(struct compare *compare, uint32_t place,
			 const struct leaf *leaf, uint64_t before,
			 uint64_t after, bool *ret_new,
			 bool *ret_equal) _must_check_;

/* Compares what was written of a node that stands for itself. */
struct err *compare_written(struct compare *compare,
			    const struct touched *touched) _must_check_;
/* The same where it was doubtful, and does after all. */
struct err *compare_again(struct compare *compare,
			  const struct touched *touched) _must_check_;

/* ---- contents.c ---- */

enum { CONTAINER_EQUAL = 1, CONTAINER_DIFFERENT = 2 };

/* *@ret: its contents differ in number, so its parts cannot be matched. */
struct err *compare_container(struct compare *compare, uint32_t place,
			      const struct leaf *leaf, bool *ret) _must_check_;

/*
 * Written to, in a block in which there are elements of a container and what is
 * left of others (CONTAINER_BLOCKS, unordered): what counts are the elements that
 * stayed. @leaf is the container. *@ret: this is no such container.
 */
struct err *compare_stayed(struct compare *compare,
			   const struct touched *touched,
			   const struct leaf *leaf, bool *ret) _must_check_;

/* ---- extent.c ---- */

/*
 * How many of @room elements that the pointer at @offset of @owner leads to
 * (which was at @owner_before) are in use, before or after; @room where that is
 * not known.
 */
uint64_t extent_used(const struct compare *compare, const struct node *owner,
		     uint64_t owner_before, uint64_t offset, type_id element,
		     uint64_t room);

/* ---- sharing.c ---- */

/* What is shared: contested pairs, doubtful nodes. */
struct err *compare_sharing(struct compare *compare) _must_check_;

/* ---- kinds.c ---- */

/* Which value_kind a number of @n bytes that changed is. */
unsigned kinds_of_number(const struct compare *compare,
			 const struct compare_place *place,
			 const struct leaf *leaf, const uint8_t *was,
			 const uint8_t *is, size_t n);

/* ---- path.c ---- */

/* The member that contains @offset; later ones before earlier, for unions. */
const struct type_member *path_member_at(const struct type_pool *pool,
					 const struct type *type,
					 uint64_t offset, uint8_t bit);
/* From a type to that of its element or member at @offset, and the rest of it. */
bool path_descend(const struct type_pool *pool, type_id *id, uint64_t *offset);

/* Root and access path of a place; false in *@ret_valid: an edge is stale. */
struct path {
	uint32_t root;
	unsigned depth;
	char *text;
	/* The place in memory that persists. */
	uint64_t address, size;
	bool heap;
};
struct err *path_find(struct compare *compare, uint32_t place,
		      const struct leaf *leaf, struct path *ret,
		      bool *ret_valid) _must_check_;

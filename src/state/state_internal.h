/*
 * What the files of state/ share; for state/ alone.
 *
 * Layers: types taken apart (layout.c), objects by address (nodes.c), following
 * pointers (walk.c), comparing two moments (compare.c, contents.c), and words
 * for people (describe.c, render.c).
 */
#pragma once

#include "base/interrupted.h"
#include "base/map.h"
#include "base/regexes.h"
#include "state/layout.h"
#include "state/nodes.h"
#include "state/state.h"

/* Elements of a container that are examined one by one. */
#define ELEMENTS_MAX ((size_t)64 << 20)
/* Parents that are checked before an edge is taken over. */
#define CHAIN_MAX 1000
/* A string is no longer than that. */
#define TEXT_MAX ((uint64_t)1 << 20)
/*
 * glibc rounds requests up to multiples of 16, and gives what is too small to
 * stand alone along with them (malloc.c, request2size, MINSIZE).
 */
#define ALLOCATOR_SLACK 31
/* No object is examined further than that. */
#define OBJECT_MAX ((uint64_t)1 << 36)
/* Of larger ones only the pages that have something on them. */
#define LARGE ((uint64_t)1 << 20)
/* An object outside blocks is no larger than that. */
#define LOOSE_MAX ((uint64_t)1 << 20)

/* To be asked before each object: there may be millions. */
static inline struct err *state_check_time(void)
{
	return interrupted ? err_create(ERR_INTERRUPTED, "interrupted") : NULL;
}

struct root_span {
	uint64_t start, end;
	uint32_t id; /* node and root number */
};

struct state {
	const struct type_pool *pool;
	struct containers *containers;
	struct state_options options;
	struct layout layout;
	struct nodes nodes;	     /* the roots first, in their order */
	VEC(struct root_span) spans; /* roots by address */
	VEC(uint32_t) work; /* nodes to be examined, first come first */
	size_t worked;
	uint32_t scans;
	struct regexes exclude_fields;
	bool whole;		/* containers' own memory is followed, too */
	const struct view *was; /* the moment before the one that is followed */
	size_t *more;		/* by root: paths beyond the option's number */
	size_t *reported;	/* by root */
	unsigned *kinds;	/* by root: value_kinds */
	uint32_t *lengths; /* by root: the root that is its length; extent.c */
	size_t indexed;
	/* Kept to save allocations. */
	struct container_contents contents;
	bool contents_busy;
};

/* ---- walk.c ---- */

enum target_kind {
	TARGET_NULL,
	TARGET_ROOT,
	TARGET_BLOCK,
	TARGET_LOOSE, /* @size bytes by its type */
	TARGET_CODE,
	TARGET_FOREIGN,	 /* not the program's: only its address counts */
	TARGET_DANGLING, /* freed memory */
	TARGET_DEAD,	 /* local variables of calls that returned */
};

struct target {
	enum target_kind kind;
	uint64_t start;
	uint64_t size;
	uint64_t offset; /* of the address that was asked about */
	bool constant;	 /* never written */
	uint64_t slack;	 /* bytes at its end that may be the allocator's */
	uint32_t stack;
	uint32_t root;
};

/* What a pointer to @type (TYPE_UNKNOWN: void) with this value leads to. */
void walk_target(const struct state *state, const struct view *view,
		 type_id type, uint64_t address, struct target *ret);
/*
 * The class of the object at @address, which a pointer says to be a @type, and
 * where that begins.
 */
type_id walk_dynamic(const struct state *state, const struct view *view,
		     type_id type, uint64_t address, uint64_t *ret_address);
/*
 * Of the C++ library, and nothing but one value under its own name
 * (std::atomic, std::array, times), which is left out of paths.
 */
bool walk_is_wrapper(const struct type *type);

/* What was made in raw bytes, for layouts; @data: the state. */
type_id walk_class_at(void *data, const struct view *view, uint64_t address,
		      uint64_t room);
/* The node for a pointer's target, found or added; NODE_NONE: none. */
struct walk_edge {
	uint32_t parent;
	uint64_t edge;
	uint32_t index;
	bool part;
	bool bare;	/* through a smart pointer */
	bool guess;	/* through a word of unknown meaning */
	uint64_t count; /* parts: how many elements are there */
	uint32_t scan;	/* parts: number of the look at their container */
};
/* Follows what leads out of bytes @from to @to of a node. */
struct err *walk_scan(struct state *state, const struct view *view, uint32_t id,
		      uint64_t from, uint64_t to) _must_check_;
/*
 * Calls @visit for bytes @from to @to of a node: at once, or of a large one, which
 * may be all but empty, page by page without those that have nothing on them.
 */
typedef struct err *walk_range(void *data, uint64_t from, uint64_t to);
struct err *walk_ranges(const struct view *view, const struct node *node,
			uint64_t from, uint64_t to, walk_range *visit,
			void *data) _must_check_;
/* Until there is nothing left to examine. */
struct err *walk_all_roots(struct state *state,
			   const struct view *view) _must_check_;
/*
 * The leaves of a node that overlap bytes @from to @to; parts of containers: of
 * their elements only.
 */
struct err *walk_leaves(struct state *state, const struct view *view,
			const struct node *node, uint64_t from, uint64_t to,
			unsigned flags, leaf_visit *visit,
			void *data) _must_check_;
/*
 * What is known only through a word of unknown meaning that looks like a pointer
 * is a guess: the word may be what a block had in it before it was given to its
 * owner. A word that is a block's address counts 1, one that leads into the middle
 * of a block or on from another guess DOUBT_MAX.
 */
#define DOUBT_MAX 2
/* Of a node's own edge and all before it, up to DOUBT_MAX. */
unsigned walk_doubt(const struct state *state, uint32_t node);
/* Is @to on the way from @from up to its root? Looks CHAIN_MAX nodes far. */
bool walk_leads_to(const struct state *state, uint32_t from, uint32_t to);
/* What a node that is reached as a @type at offset @typed consists of. */
void walk_explain(const struct state *state, struct node *node, type_id type,
		  uint64_t typed, const struct walk_edge *edge);
/* Where a node's elements end. */
uint64_t walk_typed_end(const struct state *state, const struct node *node);

/* The value of a word, 0 where it cannot be read. */
uint64_t walk_word(const struct view *view, uint64_t address);
/* Is there nothing but zeros on the page, or no page? */
bool walk_is_blank(const struct view *view, uint64_t page);
/* Does a block of unknown type hold a string? */
bool walk_is_text(const struct view *view, uint64_t address, uint64_t size);
/* Length of the string at @address, up to @max; not counting its 0. */
uint64_t walk_text(const struct view *view, uint64_t address, uint64_t unit,
		   uint64_t max);

/* ---- describe.c ---- */

/* Where two texts differ, and a bit before it. */
struct err *describe_text(struct state *state, const struct view *view,
			  uint64_t address, uint64_t unit, uint64_t n,
			  uint64_t differs, char **ret) _must_check_;
/* A short value of a leaf for people: "3", "\"text\"", "NULL", "{x = 1, …}". */
struct err *describe_leaf(struct state *state, const struct view *view,
			  const struct leaf *leaf, uint64_t address,
			  char **ret) _must_check_;
struct err *describe_object(struct state *state, const struct view *view,
			    type_id type, uint64_t address, uint64_t size,
			    char **ret) _must_check_;
uint64_t describe_hash(struct state *state, const struct view *view,
		       type_id type, uint64_t address, unsigned depth);

/*
 * Shared state as graphs: from the roots, with the types, and what differs
 * between two moments.
 *
 * The memory reachable from the roots is known as nodes: variables, heap blocks
 * and, where blocks are not known, single objects. state_index() finds them all
 * once; state_compare() then looks only at nodes on pages that were written,
 * and follows what changed in them. Two graphs are equal when a bijection of
 * nodes keeps shape, sharing and values; nodes that were not written to stand
 * for themselves in it.
 *
 * Invariants:
 *  1. No walk recurses on the C stack except over the nesting of types, which
 *     is bounded (TYPE_DEPTH_MAX).
 *  2. Nothing that memory says is trusted: each pointer is looked up before it
 *     is followed, each count bounded.
 *
 * What it does not do: know of processes, pages' origins or debug information;
 * it sees views (view.h) and types (type.h).
 */
#pragma once

#include "base/value_kind.h"
#include "base/vec.h"
#include "state/containers.h"
#include "state/view.h"
#include "type/type.h"

struct state_root {
	const char *name;
	uint64_t address;
	uint64_t size;
	type_id type;
	uint64_t guard;	 /* not 0: its C++ guard variable */
	uint64_t module; /* where its file was loaded */
};

struct state_vtable {
	uint64_t start, end;
	type_id type;
};

enum state_area {
	STATE_NOWHERE, /* nothing is mapped there */
	STATE_HEAP,    /* malloc's: what is not in a live block is free */
	STATE_FOREIGN, /* of others: stacks, libraries, the framework */
	STATE_DEAD,    /* of a stack: what calls that returned had there */
	STATE_CODE,
	STATE_CONST, /* never written: literals, tables */
	STATE_DATA,  /* anything else: may be examined through its type */
};

struct state_options {
	const struct state_root *roots;
	size_t n_roots;
	const struct state_vtable *vtables; /* by address */
	size_t n_vtables;
	enum state_area (*area)(void *data, uint64_t address);
	/* "&name", "name+8"; false: unknown. Writes at most @n bytes. */
	bool (*symbol)(void *data, uint64_t address, char *out, size_t n);
	void *data;
	const char *const *exclude_fields; /* regular expressions; or NULL */
	size_t paths;			   /* of a root, at most */
};

struct state_difference {
	size_t root;
	char *path;
	char *before;
	char *after;
	uint64_t address; /* of a place in memory that persists */
	uint64_t size;
	bool heap;
	unsigned depth;
	unsigned kind;	/* one of enum value_kind */
	type_id type;	/* of the value; TYPE_UNKNOWN */
	bool pointer;	/* it is a pointer to one of that type */
	uint32_t stack; /* allocation of what was left; 0: nothing was */
	bool dead;	/* a pointer to a local variable that is no more */
};

struct state_differences {
	struct state_difference *data;
	size_t n;
	size_t cap;
};
void state_differences_clear(struct state_differences *differences);
void state_differences_free(struct state_differences *differences);

struct state_page {
	uint64_t address;
	const uint8_t *before; /* NULL: was not there */
	const uint8_t *after;  /* NULL: it is gone */
};

struct state;
/* Roots and the like stay the caller's and live as long as the state. */
struct err *state_create(const struct type_pool *pool,
			 struct containers *containers,
			 const struct state_options *options,
			 struct state **ret) _must_check_;
void state_destroy(struct state *state); /* NULL is fine */
static inline void state_destroyp(struct state **state)
{
	state_destroy(*state);
}

/* Finds all nodes, from nothing. */
struct err *state_index(struct state *state,
			const struct view *view) _must_check_;
/*
 * Finds those of one root only: what is compared then is that root, and what
 * differs in others means nothing.
 */
struct err *state_index_root(struct state *state, const struct view *view,
			     size_t root) _must_check_;
/*
 * What differs between @before, for which the state is indexed, and @after, for
 * which it is indexed afterwards. @pages are those that differ. @ret (may be
 * NULL if not needed) gets at most the option's number of paths per root, those
 * of time stamps only where there is room; state_more() says how many more there
 * were.
 */
struct err *state_compare(struct state *state, const struct view *before,
			  const struct view *after,
			  const struct state_page *pages, size_t n,
			  struct state_differences *ret) _must_check_;
size_t state_more(const struct state *state, size_t root);
/* All value_kinds of what differed, also of what is not in a path. */
unsigned state_kinds(const struct state *state, size_t root);
/* The heap blocks of the graphs as they were indexed last. */
typedef struct err *state_block(void *data, size_t root, uint64_t start,
				uint64_t size);
struct err *state_each_block(const struct state *state, state_block *visit,
			     void *data) _must_check_;
/*
 * All memory that holds a root's content: the variable itself and everything
 * reachable from it, except other roots. What containers are made of (nodes,
 * buckets) belongs to it, what is never compared (CONTAINER_SKIP) does not. The
 * state forgets what it was indexed for: use a separate one.
 */
struct state_extent {
	uint64_t address;
	uint64_t size;
	bool block; /* a whole heap block */
};
typedef struct err *state_reached(void *data,
				  const struct state_extent *extent);
struct err *state_reach(struct state *state, const struct view *view,
			size_t root, state_reached *visit,
			void *data) _must_check_;
/* The subgraph of a root, for people, a line a node at most @lines. */
struct err *state_render(struct state *state, const struct view *view,
			 size_t root, size_t lines, char **ret) _must_check_;
/* The value of a root, in a line. */
struct err *state_describe(struct state *state, const struct view *view,
			   size_t root, char **ret) _must_check_;
/* A number for the content of a root: equal content, equal number. */
uint64_t state_digest(struct state *state, const struct view *view,
		      size_t root);

struct state_counts {
	size_t nodes;
	size_t indexed; /* times from nothing */
};
struct state_counts state_counts(const struct state *state);

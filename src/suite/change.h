/*
 * What a test left changed, in the words of a report. Made by whatever watches
 * the suite (watch/watch.c for memory), consumed by the detectors.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/call_frame.h"
#include "base/value_kind.h"
#include "base/vec.h"

enum change_where { CHANGE_MEMORY, CHANGE_FILE, CHANGE_PROCESS };

/* What a change is worth by its kind alone, readers and effect apart. */
enum change_weight {
	WEIGHT_PLAIN, /* as its effect says */
	/* Likewise, but no cache: what reads it goes on from there. */
	WEIGHT_POSITION,
	WEIGHT_LOW, /* a fresh name for each run, bookkeeping */
	WEIGHT_MEDIUM,
	/* All that follows depends on it: the working directory, …; or it is
	   wrong by itself: a pointer to a local variable that is no more. */
	WEIGHT_HIGH,
};

/* One place under a root that differs. */
struct change_path {
	char *path; /* as C source, from the root: "registry.head->name" */
	char *before, *after; /* short values */
	char *type;	      /* of memory: its type in C; NULL: unknown */
	/* Of memory: where it lies, both before and after. */
	uint64_t address;
	uint64_t size;
	bool heap;	/* in a block, whose address another run may change */
	unsigned depth; /* pointers followed from the root */
	unsigned kind;	/* of memory: one of enum value_kind */
	/* What was left, where it was allocated: innermost first. */
	struct call_frame *stack;
	size_t n_stack;
};

/* All that differs under one root. */
struct change {
	enum change_where where;
	char *root;
	char *file; /* its declaration; NULL: unknown */
	unsigned line;
	bool first;   /* initialised for the first time, not changed */
	bool outside; /* of process state: other processes find it, too */
	enum change_weight weight;
	struct change_path *paths; /* the first few */
	size_t n;
	size_t more;	/* further paths */
	unsigned kinds; /* of memory: all value_kinds, of those, too */
	char *detail;	/* both subgraphs, for --verbose; NULL: not asked for */
	/* Of what it is: equal content, equal number. */
	uint64_t digest_before;
	uint64_t digest;
	/* Of memory: the variable itself. */
	uint64_t root_address;
	uint64_t root_size;
	size_t root_number; /* the watcher's own */
};

DEFINE_VEC(changes, struct change)

/* Does the next process find it, too? */
static inline bool change_outlives_process(const struct change *change)
{
	return change->where == CHANGE_FILE || change->outside;
}
/* Is what changed gone? */
bool change_is_removal(const struct change *change);
/* Does this short value say that there is nothing: no object, no number? */
bool change_is_nothing(const char *value);
void change_free(struct change *change);
/* What differs is not known any more. */
void change_forget_paths(struct change *change);
void changes_clear(struct changes *changes);
void changes_freep_deep(struct changes *changes);
struct err *change_copy(const struct change *change,
			struct change *ret) _must_check_;

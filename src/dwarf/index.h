/*
 * The variables of an ELF file with their types, and its vtables.
 *
 * Reading them out of the debug information takes 3 to 14 ms per megabyte, so
 * the result is kept in a cache folder under the file's content, and a file
 * seen before opens at once. The cache holds nothing that is not in the file:
 * it may be deleted at any time, and a damaged or outdated entry is written
 * again.
 */
#pragma once

#include <stdlib.h>

#include "base/vec.h"
#include "dwarf/object.h"
#include "type/type.h"

struct index_variables {
	VEC(struct variable) variables; /* texts are the pool's */
	VEC(struct vtable) vtables;	/* by address */
	VEC(const char *) units;	/* source file of each unit */
	bool debug; /* from debug information, not from symbols alone */
	bool from_cache;
};

/*
 * Adds the types to @pool. @cache: folder, created if missing; NULL: none.
 * Without debug information the data symbols, untyped.
 */
struct err *index_load(struct object *object, const char *cache,
		       struct type_pool *pool,
		       struct index_variables **ret) _must_check_;
void index_destroy(struct index_variables *index); /* NULL is fine */
static inline void index_destroyp(struct index_variables **index)
{
	index_destroy(*index);
}
/* A parameter or variable of a function that is a pointer. */
struct index_pointer {
	size_t function;  /* which of those that were asked for */
	int parameter;	  /* its number; -1: a variable */
	const char *name; /* the pool's */
	type_id target;
};
DEFINE_VEC(index_pointers, struct index_pointer)
/*
 * Those of the functions that begin at these addresses of the file, in source
 * order; adds types to @pool. Without debug information there are none.
 */
struct err *index_pointers_of(struct object *object, const uint64_t *functions,
			      size_t n, struct type_pool *pool,
			      struct index_pointers *ret) _must_check_;
/* Where to keep such: $XDG_CACHE_HOME/polygraph or ~/.cache/polygraph. */
struct err *index_cache_folder(char **ret) _must_check_; /* NULL: none */
/*
 * Makes it, where it is missing, and the folder that it lies in; an error where
 * that is another user's, or its home is missing.
 */
struct err *index_cache_make_folder(const char *folder) _must_check_;

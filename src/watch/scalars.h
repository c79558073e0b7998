/*
 * The simple values that a program keeps in its variables: numbers, flags,
 * enumerations, heads of lists, lengths of vectors; also those in structures
 * and, one pointer further, in what a variable points to.
 *
 * Each is a place that is found again in every copy of the process, by the
 * address of its variable and the way from there. What it measures is one
 * number: the value, or for lists and vectors how much is in them.
 *
 * What it does not do: decide which of them mean anything.
 */
#pragma once

#include "program/program.h"

enum scalar_kind {
	SCALAR_NUMBER,	/* measures its value */
	SCALAR_POINTER, /* measures its value */
	SCALAR_LIST,	/* measures how many elements are linked to it */
	SCALAR_VECTOR,	/* std::vector: measures the bytes in use */
};

#define SCALAR_ENUMERATORS 6

struct scalar {
	char *name; /* as in source code: "stats.failed", "suite->errors" */
	enum scalar_kind kind;
	uint64_t address; /* of the variable, or of what is in it */
	bool through; /* that is a pointer: the value is where it points … */
	uint64_t offset; /* … and this much further */
	unsigned size;	 /* bytes: 1, 2, 4 or 8 */
	bool is_signed;
	uint64_t
		step; /* lists: where the next is; vectors: size of an element */
	int64_t enumerators[SCALAR_ENUMERATORS];
	unsigned n_enumerators;
	uint64_t variable, variable_size; /* all of it */
};

struct scalars;

/*
 * Those of the project's own code (watch/roots.h), as loaded now; @thread is the
 * main thread, @cache as for index_load().
 */
struct err *scalars_create(const struct program *program, struct thread *thread,
			   const char *cache,
			   struct scalars **ret) _must_check_;
void scalars_destroy(struct scalars *scalars); /* NULL is fine */
static inline void scalars_destroyp(struct scalars **scalars)
{
	scalars_destroy(*scalars);
}
const struct scalar *scalars_all(const struct scalars *scalars, size_t *ret_n);

/* Where its bytes are now; false: nowhere. */
bool scalar_place(const struct scalar *scalar, struct tracee *tracee,
		  struct raddr *ret);
/* Of a list that is not empty: where the next element will be linked. */
bool scalar_list_end(const struct scalar *scalar, struct tracee *tracee,
		     struct raddr *ret);
/* What it measures now; false: it cannot be read. */
bool scalar_measure(const struct scalar *scalar, struct tracee *tracee,
		    uint64_t *ret);

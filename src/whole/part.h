/*
 * A whole build as parts, each looked at by a call of its own: executables that
 * hold many tests of a known framework, from inside, and all other tests
 * together as processes.
 *
 * Parts are found in a list of processes (CTest, Meson, commands, executables).
 * Entries that start the same executable in the same folder and environment are
 * one part: what CMake calls discovered tests. Whether an executable can be
 * opened is asked from the caller (part_ask).
 *
 * Invariants:
 *  1. Every test of the list is in exactly one part.
 *  2. Parts are sorted by name, the processes last: the same on every machine.
 *
 * What it does not do: run anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strv.h"
#include "base/vec.h"

struct suite;

struct build_part {
	char *name;	   /* unique; as reports show it */
	struct strv argv;  /* of an executable; empty: the processes */
	char *folder;	   /* it runs in; NULL: ours */
	struct strv env;   /* whole; empty: ours */
	struct strv tests; /* names: of the executable's, or of the list's */
	struct strv files; /* of an executable's: where each is; "": unknown */
	VEC(unsigned) lines; /* the same */
	bool selected;	     /* only some of them are looked at */
};
DEFINE_VEC(parts, struct build_part)

void parts_free(struct parts *parts);

/*
 * Which tests are in the executable of @part, with their places; none where it is
 * not to be opened. An error ends the search for parts.
 */
typedef struct err *part_ask(void *data, struct build_part *part);
/* Only tests that @keep says stay in it. */
void part_select(struct build_part *part, const bool *keep);

/* The parts of a suite of processes. */
struct err *parts_find(const struct suite *suite, part_ask *ask, void *data,
		       struct parts *ret) _must_check_;
/* Executables, given one by one; those that cannot be opened are processes. */
struct err *parts_of_programs(char *const *programs, size_t n, part_ask *ask,
			      void *data, struct parts *ret) _must_check_;

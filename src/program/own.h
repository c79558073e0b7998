/*
 * What belongs to a test framework. A framework is often built within the project,
 * but its code is not where a test broke, its calls are not the program's
 * (program/callers.h), and its state is not what tests share (watch/roots.h).
 *
 * Variables belong to a framework only where it is in the program, which its
 * symbols tell. Its source files are those in which these symbols are defined,
 * wherever they lie: names of folders say nothing.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

struct program;

/* Each list ends with NULL and may be NULL. */
struct framework_own {
	const char *title; /* what people call it: "GoogleTest" */
	/*
	 * "a::b::": all in that C++ namespace or class; "name$": that
	 * symbol; else how symbols begin.
	 */
	const char *const *functions;
	/*
	 * Functions that nobody else defines, as symbols: one of them in the
	 * program means that the framework is there. Files of the project's that
	 * define one are the framework's, with all variables in them.
	 */
	const char *const *symbols;
	/*
	 * Its other source files, in the folder of such a file: globs of their
	 * names, without the folder.
	 */
	const char *const *beside;
	/*
	 * "a::b": all whose name begins so, which is a C++ namespace or class;
	 * "name$": that one; "*name": all that end so, which its macros make for
	 * each test; else how names begin, but only of variables without debug
	 * information.
	 */
	const char *const *variables;
	/* Objects that are never looked into: globs. */
	const char *const *types;
	/* How file names of its shared libraries begin. */
	const char *const *libraries;
};

/* A framework that is in the program, and its source files there. */
struct own_found {
	const struct framework_own *own;
	VEC(const char *) files; /* texts are the program's */
};

/* All of them. */
struct own_present {
	VEC(struct own_found) all;
};

/* Is it in the program, by its symbols? */
bool own_is_present(const struct program *program,
		    const struct framework_own *own);
/*
 * Which of program.owns are there; what @ret had is replaced. All are looked for,
 * whichever drives the program: a program may hold parts of others.
 */
struct err *own_find(const struct program *program,
		     struct own_present *ret) _must_check_;
void own_present_free(struct own_present *present);

/* A variable as far as it is known; each text but the name may be NULL. */
struct own_variable {
	const char *name;
	const char *file; /* that declares it */
	const char *unit; /* the source file that was compiled */
	bool untyped;	  /* without debug information */
};

/* Did its macros make it? Nobody wrote it, and there may be thousands. */
bool own_is_made(const struct framework_own *own, const char *name);
/* Which framework a variable belongs to; NULL: to none. */
const struct framework_own *
own_of_variable(const struct own_present *present,
		const struct own_variable *variable);

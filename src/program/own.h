/*
 * What belongs to a test framework. A framework is often built within the project,
 * but its code is not where a test broke, its calls are not the program's
 * (program/callers.h), and its state is not what tests share (watch/roots.h).
 */
#pragma once

/* Each list ends with NULL and may be NULL. */
struct framework_own {
	const char *title; /* what people call it: "GoogleTest" */
	/*
	 * "a::b::": all in that C++ namespace or class; "name$": that
	 * symbol; else how symbols begin.
	 */
	const char *const *functions;
	/* How names begin, or after a '*' how they end. */
	const char *const *variables;
	/* Source files whose variables are its own: globs. */
	const char *const *files;
	/* Objects that are never looked into: globs. */
	const char *const *types;
	/* How file names of its shared libraries begin. */
	const char *const *libraries;
};

/*
 * Which framework of @all (ends with NULL) a variable belongs to, by its name, the
 * file that declares it and the source file that was compiled (each may be NULL
 * but the name); NULL: to none. All frameworks are asked, whichever drives the
 * program: a program may hold parts of others.
 */
const struct framework_own *
own_of_variable(const struct framework_own *const *all, const char *name,
		const char *file, const char *unit);

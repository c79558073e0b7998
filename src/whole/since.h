/*
 * Which executables a change reaches: --since REV.
 *
 * git says which files differ from a revision, committed or not; debug
 * information says which source files an executable, and the libraries of the
 * project that it loads, were compiled from. Whatever is not known to be out of
 * reach is reached:
 *  - a source file that is a compilation unit of its own reaches the programs
 *    that list it;
 *  - a header, a build file, data, or a file that is gone reaches all programs;
 *  - documents (*.md, *.rst, LICENSE, …) reach nothing;
 *  - programs without debug information are always reached.
 *
 * What it does not do: see libraries that a program loads by itself (dlopen).
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/strv.h"

struct since {
	struct strv sources; /* absolute: changed compilation units */
	bool everything;
	char *why; /* the first file that reaches everything */
};

struct err *since_read(const char *revision, struct since *ret) _must_check_;
void since_free(struct since *since);
/* @program: an ELF file. */
struct err *since_reaches(const struct since *since, const char *program,
			  bool *ret) _must_check_;

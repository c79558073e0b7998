/*
 * Which tests a change reaches: --since REV.
 *
 * git says which lines differ from a revision, committed or not; debug
 * information and the code itself say what tests are made of
 * (program/makeup.h). Whatever is not known to be out of reach is reached:
 *  - a source file that is a compilation unit of its own reaches the tests that
 *    reach code or data of that unit; lines inside of tests reach these alone;
 *  - a header reaches the units that were compiled with it, as the build's own
 *    record of dependencies says (ninja, or *.d files); all, where there is none;
 *  - a build file, data, or a file that is gone reaches all tests;
 *  - documents (*.md, *.rst, LICENSE, …) reach nothing;
 *  - tests of programs without debug information are always reached.
 *
 * What it does not do: see libraries that a program loads by itself (dlopen).
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/map.h"
#include "base/strv.h"
#include "base/vec.h"
#include "program/makeup.h"

struct since_source {
	char *path; /* absolute */
	VEC(struct makeup_lines) lines;
	bool whole; /* not only inside of these */
};

struct since {
	VEC(struct since_source) sources; /* changed compilation units */
	struct strv headers;		  /* absolute */
	/* Units whose dependencies are known, if headers changed. */
	struct map_text listed;
	bool everything;
	char *why; /* the first file that reaches everything */
};

/* @build: a folder of CMake or Meson; NULL: none. */
struct err *since_read(const char *revision, const char *build,
		       struct since *ret) _must_check_;
void since_free(struct since *since);
static inline bool since_is_empty(const struct since *since)
{
	return !since->everything && !since->sources.n && !since->listed.map.n;
}
/*
 * @ret: by test, whether it is reached. @program: an ELF file; @own: as
 * makeup_read() takes it.
 */
struct err *since_reaches(const struct since *since, const char *program,
			  const struct framework_own *(*own)(size_t i),
			  const struct makeup_test *tests, size_t n,
			  bool *ret) _must_check_;

/*
 * A program and the project's libraries that it needs, as pieces: functions,
 * variables and constants, and which pieces each of them refers to. Read from
 * the files, without running anything.
 *
 * From that follows for each test what it is made of: the functions at the place
 * where it was written, its fixture, all that they call or refer to, and so on.
 * A number that stands for all of that is the same after a rebuild as long as
 * nothing of it changed, wherever the linker puts it. An address that is taken
 * counts as a call from where it is taken: so functions behind pointers and
 * virtual functions are reached from the code that makes the pointer or the
 * object. A variable brings along the code that runs before main() and sets it.
 *
 * What every test depends on: main(), what it calls up to the tests, the test
 * framework where it is linked in, and what runs before main() for other
 * reasons than to register tests.
 *
 * Line numbers that assertions pass on are not content: a number equal to the
 * line of its own instruction.
 *
 * What it does not see: libraries that a program opens itself, those of the
 * system, files that tests read. Where symbols or debug information are missing,
 * tests are unknown, which callers take for changed.
 *
 * Everything in the files is foreign: what does not fit is left out, and each
 * loop is bounded by what the file holds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct framework_own;
struct map_text;
struct makeup;

/*
 * Where a test was written, as its framework says; file NULL: not known. Texts
 * outlive the pieces.
 */
struct makeup_test {
	const char *file;
	unsigned line;
};

/* @own: what belongs to one framework after the other, then NULL. */
struct err *makeup_read(const char *program,
			const struct framework_own *(*own)(size_t i),
			const struct makeup_test *tests, size_t n_tests,
			struct makeup **ret) _must_check_;
void makeup_destroy(struct makeup *pieces); /* NULL is fine */
static inline void makeup_destroyp(struct makeup **pieces)
{
	makeup_destroy(*pieces);
}

/* Of a test, and all that it is made of; false: it is not known. */
bool makeup_digest(const struct makeup *pieces, size_t test, uint64_t *ret);

/* Lines of a source file, as it is now. */
struct makeup_lines {
	unsigned first, last;
};
/* A source file that changed: absolute path. */
struct makeup_source {
	const char *path;
	/* Where, if that is all that changed; none: anywhere. */
	const struct makeup_lines *lines;
	size_t n_lines;
};
/*
 * Marks what was compiled from these files as changed: whole units, or the tests
 * that all of its lines are in; also units that are not in @listed (NULL: none).
 * *@ret_known false: one of them may be in here
 * without debug information, so that everything has to count.
 */
struct err *makeup_mark(struct makeup *pieces,
			const struct makeup_source *sources, size_t n,
			const struct map_text *listed,
			bool *ret_known) _must_check_;
/* After all marks: does the test reach something that changed? */
void makeup_reach(struct makeup *pieces);
bool makeup_reached(const struct makeup *pieces, size_t test);

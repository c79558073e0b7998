/*
 * What a program that calls its tests itself does between them.
 *
 * Adapters of such frameworks (framework.flows) run orders against the program's
 * own sequence in the places of its own calls (slots.h), so that what it does
 * around each of them surrounds the test that runs there. Whether the places
 * differ is decided by state, not by calls: a clock, a counter and a line of
 * output leave nothing behind that a test looks at.
 *
 *  1. In the program's own order its state is compared at the end of each test
 *     and at the beginning of the next (watch/watch.h): what differs was changed
 *     by the runner. So it is once with the last test first: what a test leaves,
 *     the runner may reset, and only what was left shows that.
 *  2. Which of that do tests read (watch/places.h)? That is a fixture. What
 *     cannot be watched counts as read; what only failing tests read does not:
 *     their messages name the test or count failures.
 *  3. Where the fixture differs from the beginning of one test to that of the
 *     next, a segment ends: tests stay in the places of their segment. So it
 *     does where what the runner passes to them differs (arguments.h).
 *
 * A variable that only the runner changes, for each test, and that holds a number
 * or the address of something constant, is an argument by other means (a row of a table, the
 * name of the test): where another test runs in the place, it has the value that
 * it has for that test, until the test ends.
 *
 * Where the state cannot be compared, there is a fixture. Where the program does not
 * survive that its tests are skipped (session.h), there is none.
 */
#pragma once

#include "native/session.h"

/*
 * Decides, once for these tests, in whatever order; what is known of it is
 * forgotten with the session. Runs them a few times, while the tracer ticks;
 * files are as before. Nothing happens for frameworks that do not flow.
 */
struct err *between_find(struct session *session, const size_t *tests,
			 size_t n) _must_check_;
/* The same where the order leaves the program's own sequence. */
struct err *between_find_for(struct session *session, const size_t *order,
			     size_t n) _must_check_;
void between_free(struct session *session);
/* Another session of the same program knows: @to takes it over. */
struct err *between_take_over(struct session *to,
			      const struct session *from) _must_check_;

/* Is that going on? Then calls are as the runner makes them. */
bool between_decides(const struct session *session);
/* Variables that are arguments by other means, at most. */
#define BETWEEN_VARIABLES 8
struct between_kept {
	uint64_t words[BETWEEN_VARIABLES];
	bool kept;
};
/* Adapters that can: a test begins in its own place, and ends. */
void between_begin(struct run *run, size_t test);
void between_end(struct run *run, size_t test);
/* It begins in the place of another; and ends, or is left. */
struct err *between_set_variables(struct run *run, size_t test,
				  struct between_kept *kept) _must_check_;
struct err *between_restore_variables(struct run *run,
				      struct between_kept *kept) _must_check_;

/* The fixture, as the end of "the runner changes …"; NULL: there is none. */
const char *between_fixture(const struct session *session);
/*
 * Segments are numbered in the program's own sequence. RUN_NONE: of the place of
 * a test that was not asked for nothing may be known.
 */
size_t between_segments(const struct session *session);
size_t between_segment(const struct session *session, size_t test);

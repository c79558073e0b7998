/*
 * The places in which a program that calls its tests itself can run them: its
 * own calls, in its own sequence, numbered like the tests that it calls there.
 *
 * An order in the program's own sequence is run as it is: calls that are not
 * wanted are skipped. Any other order is diverted: the program flows, and at each
 * of its calls the test that is wanted runs in place of the one that was called,
 * so that set-up and tear-down surround it. Where places differ (between.h),
 * only a place of the test's own segment will do.
 *
 * Where the program crashes if its tests are skipped (session.h), only an order
 * of all tests in its own sequence is run as it is. Places do not differ then, and
 * the tests of any other order run in the first.
 *
 * An order may be longer than there are calls, and a runner may stop after a
 * failure. Where nothing between the tests matters, they go on where the last one
 * ran. Otherwise the process ends without the rest, which the engine begins in
 * another one.
 */
#pragma once

#include "native/run.h"

struct slots {
	bool diverts; /* the order is not the program's own */
	size_t next; /* the place of the program's next call, as far as known */
};

/* In framework.start. */
void slots_start(const struct run *run, struct slots *slots);
/*
 * The program is about to call the test that is the @here-th by itself, and
 * @test is wanted: is this the place for it?
 */
bool slots_fit(const struct run *run, const struct slots *slots, size_t here,
	       size_t test);
/* The first such place from the next on; RUN_NONE: there is none. */
size_t slots_find(const struct run *run, const struct slots *slots,
		  size_t test);
/*
 * A test has ended, in the place before slots->next: does what is wanted then
 * follow in the same place, without the runner?
 */
bool slots_stay(const struct run *run, const struct slots *slots, bool failed);
/*
 * The process is gone before @test of its order, which another one begins with:
 * tells the user so, if no test ended it. False: there was nothing to tell.
 */
bool slots_tell_rest(const struct run *run, size_t test);

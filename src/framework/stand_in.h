/*
 * Functions of ours in a framework's table of tests, in place of a test's own:
 * they bring us the thread where the test begins and at its points, and then the
 * test's own function runs. What they stand for is kept in the tested program.
 */
#pragma once

#include "native/calls.h"

/* Which functions of ours (calls_stubs()) stand for what. */
struct stand_in_stubs {
	uint64_t begin, body, teardown;
};

/* What they stand for in one test; 0: there is no such function. */
struct stand_in {
	uint64_t begin, body, teardown;
};

/*
 * Puts functions of ours where the thread is wanted: in place of the first
 * function of the test, and of the others where the points before them are
 * wanted. @setup, @body and @teardown are 0 where there is none.
 */
struct stand_in stand_in_replace(const struct run *run,
				 const struct stand_in_stubs *stubs,
				 uint64_t *setup, uint64_t *body,
				 uint64_t *teardown);
struct err *stand_in_read(struct run *run, uint64_t address,
			  struct stand_in *ret) _must_check_;
/* The test began (run_begin()): without a set-up it is at its body. */
struct err *stand_in_begun(struct run *run,
			   const struct stand_in *test) _must_check_;
/* At the stand-in for the body or the tear-down, as @point says. */
struct err *stand_in_point(struct run *run, struct thread *thread,
			   const struct stand_in *test,
			   enum suite_point point) _must_check_;

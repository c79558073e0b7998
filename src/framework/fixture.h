/*
 * Set-up, body and tear-down of one test, each a function: reports the points
 * between them to the engine.
 *
 * Functions that do nothing are often one and the same, because compilers and
 * linkers fold equal code; so what an arrival means depends on those before it.
 */
#pragma once

#include "native/run.h"

struct fixture {
	uint64_t object; /* C++: what they are called on; 0: does not matter */
	struct raddr setup, body, teardown; /* 0: none, or not known */
	bool set_up; /* the set-up was called, where that must be known */
};

/* Is any of its points wanted? */
bool fixture_wanted(const struct run *run);
/*
 * The test's functions are known, and its set-up has not been called: from now
 * on its points are reported. @fixture is in the adapter's state (run->state). An
 * adapter with a @hook of its own (else NULL) calls fixture_step() there.
 */
struct err *fixture_watch(struct run *run, const struct fixture *fixture,
			  run_hook *hook) _must_check_;
struct err *fixture_step(struct run *run, const struct thread *thread,
			 struct fixture *fixture) _must_check_;

/*
 * Of a C++ object whose class declares SetUp(), TearDown() and the body in this
 * order, as virtual functions; @setup_slot is the place of the first. Nothing
 * (no object) where there is no such object at that address.
 */
struct err *fixture_of_object(struct run *run, uint64_t object,
			      uint64_t setup_slot,
			      struct fixture *ret) _must_check_;
/*
 * Which slot of the vtable with that symbol holds that function, the first of
 * them; @fallback where it cannot be determined.
 */
uint64_t fixture_slot(struct run *run, const char *vtable, const char *function,
		      uint64_t fallback);

/*
 * Initialising what a program initialises when it is first used, before its
 * first test: --eager.
 *
 * Functions that give access to a C++ static are called: those that hold one
 * that is not yet initialised, take no arguments and return a pointer or a
 * reference. Tests are none of them, and neither is what counts or computes.
 *
 * Each is called in a copy of the process first: one that does not come back is
 * left alone.
 */
#pragma once

#include "base/map.h"
#include "native/run.h"

struct early {
	bool on;
	struct map_u64 refused; /* functions that did not come back */
};

/* The run's process is about to begin its first test. */
struct err *early_initialise(struct run *run) _must_check_;

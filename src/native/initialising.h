/*
 * What a test is the first to use: the moment when it is ready is noticed, so
 * that its watch can tell what the test left in it from what was made.
 *
 * That is where a C++ static's guard is released, and where a function returns
 * that is run once (pthread_once(), call_once(), std::call_once()). Nothing is
 * stopped in a program that has neither, and each of them stops it once.
 */
#pragma once

#include "base/vec.h"
#include "native/run.h"

/* A call of what runs once, until it returns. */
struct initialising_call {
	pid_t tid;
	struct raddr sp;	/* as it is after the return */
	struct raddr return_to; /* where there is a breakpoint until then */
	uint64_t number;	/* for watch_made() */
};

struct initialising {
	VEC(struct initialising_call) calls;
	struct raddr proxy; /* that std::call_once() has called; 0: unknown */
	unsigned idle;	    /* calls of what had run already */
};

/* The run's process is watched, and about to begin its first test. */
struct err *initialising_start(struct run *run) _must_check_;
void initialising_free(struct initialising *state);

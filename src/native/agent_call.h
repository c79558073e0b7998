/*
 * Calls of the agent in a thread of the program that stands at a breakpoint: the
 * thread itself makes the call and comes back to where it stands, so that a
 * breakpoint at choices (native/explore.c) is met as in any other call. What it was
 * before lies on its stack, so that copies of the process have it, too.
 */
#pragma once

#include "native/run.h"
#include "tracee/tracee.h"

struct agent_call {
	uint64_t kind;	/* which of those who call, e.g. the model */
	uint64_t value; /* for whoever made it */
	uint64_t result;
};

#define AGENT_CALL_ARGUMENTS 6

/* The thread's id; 0: the first one, as in every copy of the process. */
pid_t agent_call_thread(const struct thread *thread);

/* From here on the thread calls @function, and stops here again. */
struct err *agent_call_begin(struct run *run, struct thread *thread,
			     uint64_t function,
			     const uint64_t arguments[AGENT_CALL_ARGUMENTS],
			     const struct agent_call *call) _must_check_;
/*
 * Does the thread come back from there? Then it is as it was before. @caller: the
 * frame that the choice is charged to is not the thread's, but the one that called
 * the function which it is about to begin.
 */
bool agent_call_end(struct run *run, struct thread *thread, bool caller,
		    struct agent_call *ret);

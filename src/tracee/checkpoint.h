/*
 * Forking a stopped tracee inside itself.
 *
 * The copy is stopped at the same place as the original, with the same
 * breakpoints and in its own process group, so that a test that signals its
 * group does not hit the checkpoint. What fork() does not copy makes a
 * checkpoint impossible: other threads and running timers. So does a filter of
 * system calls that a test installed: it may kill the process for ours.
 */
#pragma once

#include "tracee/tracee.h"

/* NULL: possible; else the reason, for the user. */
const char *checkpoint_obstacle(struct tracee *tracee);
/*
 * Filters that are there by now are ours, or the program's own. Without this call
 * they are those of the first checkpoint_obstacle().
 */
void checkpoint_allow_filters(struct tracee *tracee);
/* Are there others now? */
bool checkpoint_is_filtered(const struct thread *thread);
struct err *checkpoint_fork(struct thread *thread,
			    struct tracee **ret) _must_check_;
/*
 * A copy that never runs, for its memory only: threads and timers do not matter.
 * All threads are stopped.
 */
struct err *checkpoint_hold(struct thread *thread,
			    struct tracee **ret) _must_check_;
/*
 * Where a copy or what it was copied from keeps its thread's id, 4 bytes that
 * differ between them; 0: not known.
 */
struct raddr checkpoint_tid(const struct tracee *tracee);

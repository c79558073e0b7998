/*
 * Two processes, so that whatever happens to one of them nothing of the tested
 * program stays behind.
 *
 * The controller does all the work. The guard, its parent, only waits. If the
 * controller dies, the kernel ends what it traced, and what the tested program
 * left running comes to the guard, which ends it. If the guard dies, the
 * controller is told (SIGTERM) and cleans up itself.
 */
#pragma once

#include "base/err.h"

/*
 * Returns in the controller. The guard stays inside until the controller is
 * gone and leaves with the same exit status.
 */
struct err *guard_fork(void) _must_check_;

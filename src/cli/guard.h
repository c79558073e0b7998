/*
 * Processes above the controller, so that whatever happens to it or to one of
 * them nothing of the tested program stays behind.
 *
 * The controller does all the work. The guard, which the user sees, and a second
 * one below it only wait. If the controller dies, the kernel ends what it
 * traced, and what the tested program left running comes to the second guard,
 * which ends it. If a guard dies, the process below it is told (SIGTERM), and
 * the controller cleans up itself. So after a kill -9 of the guard, the
 * controller and a nest (nest/nest.h) there is still somebody to end the rest.
 */
#pragma once

#include "base/err.h"
#include "base/strv.h"

/*
 * Returns in the controller. The guards stay inside until the controller is
 * gone and leave with the same exit status.
 */
struct err *guard_fork(void) _must_check_;
/*
 * In the controller: when it has ended, another one begins in its place, to
 * whom guard_asked() tells these words. Its exit status does not count.
 */
struct err *guard_ask_again(const struct strv *words) _must_check_;
/* Of the controller before; none: this is the first. */
const struct strv *guard_asked(void);

/*
 * Gives a stopped process away, so that a debugger can take it: without our
 * breakpoints, where it stands, and stopped by SIGSTOP. Whoever is its user may
 * attach to it, also where only ancestors may otherwise (Yama).
 *
 * It is not traced afterwards, and gone as far as we are concerned: destroying
 * the tracee does not wait for it. What ends it is the nest.
 */
#pragma once

#include "tracee/tracee.h"

struct err *tracee_hand_over(struct tracee *tracee) _must_check_;

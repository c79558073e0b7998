/* The last test of an order, given to somebody else (suite_hand_over()). */
#pragma once

#include "native/run.h"

struct tracee_event;

/*
 * tracee_continue(); where the last test has begun and somebody wants it, it is
 * given away instead, and then it is gone.
 */
struct err *run_continue(struct run *run,
			 struct tracee_event *ret) _must_check_;

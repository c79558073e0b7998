/*
 * Tests in processes of their own, several side by side.
 *
 * A tracer belongs to one thread, so each further hand is a process: a worker
 * is forked from the controller, opens the suite anew, is told which entries of
 * the order to run and sends back what happened. Workers end with the
 * controller, and the controller ends them.
 */
#pragma once

#include "native/session.h"

struct err *parallel_run_alone(struct session *session, const size_t *order,
			       size_t n) _must_check_;
/* Is it worth it? */
bool parallel_useful(const struct session *session, size_t n);

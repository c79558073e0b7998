/*
 * Orders in separate processes, several in parallel.
 *
 * A tracer belongs to one thread, so each further one is a process: a worker is
 * forked from the controller, opens the suite again, gets a part of a tree of
 * orders to run and sends back what happened. Workers wait for the next tree
 * until the suite is closed. They end with the controller, and the controller
 * ends them.
 */
#pragma once

#include "native/session.h"

struct err *
parallel_run_tree(struct session *session, const struct suite_node *nodes,
		  size_t n, const struct suite_observer *observer) _must_check_;
/* The same for a tree in which all tests are first. */
struct err *parallel_run_alone(struct session *session, const size_t *order,
			       size_t n) _must_check_;
/* Is it worth it? */
bool parallel_useful(const struct session *session, size_t n);
void parallel_stop(struct session *session); /* ends all workers */
/* In a process that was forked: they are the controller's. */
void parallel_close(struct session *session);

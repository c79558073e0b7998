/*
 * Trees of orders in a test executable (suite_run_tree()).
 *
 * Depth first. If a node has one child, the process simply continues. Where it
 * has several, the process is copied before the hook that asks for the test
 * that comes next (run.h, struct parting), and that hook is called once for
 * each child, in a copy each; the last one has the copied process itself. The
 * child with most below it comes last, so that few processes wait at a time.
 *
 * Where that cannot be done (threads, timers, adapters that lay out an order
 * before it begins), each order is run from its beginning, and what was
 * reported for its first tests is not reported again.
 */
#pragma once

#include "native/session.h"

struct err *tree_run(struct session *session, const struct suite_node *nodes,
		     size_t n,
		     const struct suite_observer *observer) _must_check_;

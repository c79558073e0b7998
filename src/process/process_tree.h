/*
 * Trees of orders for suites of processes. What tests share is files (kept and
 * put back, keep/save.h) and objects of the system, which are removed or end.
 *
 * Where orders part, the tests before run once if all that they left is in kept
 * files: their system calls are followed to see that. Else they run again before
 * each order that goes on from there.
 *
 * A test that crashes or does not end takes no process with it that another one
 * would need: those after it run.
 */
#pragma once

#include "process/process_suite.h"

struct process_watching;

/* process_run() with files as they were at first, before and afterwards. */
struct err *
process_run_restored(struct process_suite *suite, const size_t *order, size_t n,
		     unsigned flags, const struct suite_observer *observer,
		     const struct process_watching *watching) _must_check_;

/* As suite_ops has them. */
struct err *process_keep_files(struct suite *suite, const char *const *paths,
			       size_t n) _must_check_;
struct err *process_put_back(struct suite *suite) _must_check_;
struct err *
process_run_tree(struct suite *suite, const struct suite_node *nodes, size_t n,
		 unsigned flags,
		 const struct suite_observer *observer) _must_check_;
struct err *
process_try_roots(struct suite *suite, const struct suite_watch *watch,
		  const size_t *prefix, size_t n, size_t test,
		  suite_judge *judge, void *data,
		  const struct suite_observer *observer) _must_check_;

/*
 * Restoring what tests left changed, and running another test:
 * suite_try_roots() for test executables.
 *
 * One process runs the prefix and stops where the test is about to begin, after
 * the framework has prepared it. Each try is a copy of it: the chosen roots are
 * restored to what they were before the prefix (restore/remedies.h), then the
 * test runs, and its outcome is known before the program's exit handlers run: a
 * static that is constructed once more has its destructor registered twice.
 */
#pragma once

#include "native/session.h"

struct tries;

struct err *tries_run(struct session *session, const struct suite_watch *watch,
		      const size_t *prefix, size_t n, size_t test,
		      suite_judge *judge, void *data,
		      const struct suite_observer *observer) _must_check_;
/* run_begin() of a run while session->tries is set. */
struct err *tries_begin(struct tries *tries, struct run *run) _must_check_;
/* The set-up of its group, which came after that, is over. */
struct err *tries_group_ready(struct tries *tries,
			      struct run *run) _must_check_;
/* A test of the run ended, and nothing came after it yet. */
struct err *tries_end(struct tries *tries, struct run *run) _must_check_;
/* Before the session goes away: what is kept from one call to the next. */
void tries_forget(struct session *session);

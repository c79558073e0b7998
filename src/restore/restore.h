/*
 * Putting back what tests left changed, and seeing what becomes of another test:
 * suite_try_roots() for test executables.
 *
 * One process runs the prefix and stands where the test is about to begin, all
 * that the framework prepares for it done. Each try is a copy of it: the
 * chosen variables are made what they were before the prefix (undo.h), then the
 * test runs, and its outcome is known before the program's exit handlers run: a
 * static that is constructed once more has its destructor registered twice.
 */
#pragma once

#include "native/session.h"

struct restore;

struct err *
restore_try_roots(struct session *session, const struct suite_watch *watch,
		  const size_t *prefix, size_t n, size_t test,
		  suite_judge *judge, void *data,
		  const struct suite_observer *observer) _must_check_;
/* run_begin() of a run while session->restore is set. */
struct err *restore_begin(struct restore *restore,
			  struct run *run) _must_check_;
/* A test of the run ended, and nothing came after it yet. */
/* The set-up of its group, which came after that, is over. */
struct err *restore_group_ready(struct restore *restore,
				struct run *run) _must_check_;
struct err *restore_end(struct restore *restore, struct run *run) _must_check_;
/* Before the session goes away: what is kept from one call to the next. */
void restore_forget(struct session *session);

/*
 * Is this file a test executable that can be run, and if not, what is the user
 * to do about it? All sentences about bad executables are here.
 */
#pragma once

#include "native/session.h"

/* As a shell would: a name without a slash is searched for in PATH, too. */
struct err *executable_find(const char *name, char **ret) _must_check_;
struct err *executable_check(const char *path) _must_check_;
struct err *executable_unrecognised(const struct program *program,
				    const char *const *globs) _must_check_;
struct err *executable_ended_early(struct session *session,
				   const char *how) _must_check_;
struct err *executable_hung_early(struct session *session) _must_check_;
struct err *executable_no_tests(struct session *session) _must_check_;
/* All tests were run and the process went on: did it end well? */
void executable_judge_end(struct session *session, const struct run *run,
			  enum run_state state);
/* Says, once, that the run in which tests were found ended badly, if it did. */
void executable_tell_listing(struct session *session);
/* Says, once, that of tests in children not all is compared. */
void executable_tell_forked(struct session *session);
/*
 * Says, once, how many functions that match were inlined into code that does
 * not: where functions are tests, these cannot be run.
 */
void executable_tell_inlined(struct session *session);

/*
 * Files in test executables: kept before tests change them, and as they were
 * whenever a process begins (keep/save.h): what one copy of the program does to
 * them, be it at its own end, never reaches another. They are restored when the
 * suite is closed, too, unless what the last order left is to stay
 * (suite_options.restores). For native/ only.
 *
 * Processes are copies of the origin, whose calls nobody follows: watches want
 * to follow those of theirs. So orders that are not watched begin in copies of
 * another process, the guarded one: a copy of the origin whose calls that change
 * files are followed.
 *
 * Where several run side by side, none of them may change a file
 * (session.refusal): others would see it, and restore something else.
 */
#pragma once

#include "native/session.h"

struct saved;

struct err *saving_create(struct session *session) _must_check_;
void saving_destroy(
	struct session *session); /* see above; restores a last time */
/* It stands at its entry point, libraries loaded. */
struct err *saving_launched(struct session *session,
			    struct tracee *tracee) _must_check_;
/* The program stands before its first test, newly started. */
struct err *saving_started(struct session *session,
			   const struct run *run) _must_check_;
/* Is the process that is asked for one whose calls nobody else follows? */
bool saving_is_guarded(const struct session *session);
/* From now on it is followed, and what is copied from it. */
struct err *saving_guard(struct session *session, struct run *run) _must_check_;
/* Another one that runs the same program says that it would change files. */
void saving_hear(struct session *session);
/* Must orders be run one at a time? */
bool saving_shares_files(const struct session *session);

/* As before the first test. No process of an order is left. */
struct err *saving_put_back(struct session *session) _must_check_;
/* As it is now, and that again; *@ret may be NULL. */
struct err *saving_take(struct session *session,
			struct saved **ret) _must_check_;
struct err *saving_put_back_to(struct session *session,
			       const struct saved *saved) _must_check_;

/* suite_keep_files() and the other questions. */
struct err *saving_keep_files(struct suite *suite, const char *const *paths,
			      size_t n) _must_check_;
struct err *saving_put_back_files(struct suite *suite) _must_check_;
const char *saving_touched_file(const struct suite *suite, size_t i);
const char *saving_unrestored(const struct suite *suite, size_t i);

/*
 * The program of a session once more, in a process of its own beside this one.
 *
 * A tracer belongs to one thread, so each further one is a process: it is forked
 * from the controller and opens the suite again. The two talk over a socket. It
 * ends with the controller. None of its tests may change a file: others would
 * see it, and restore something else.
 */
#pragma once

#include "native/session.h"

struct again {
	pid_t pid;
	int fd;
};

/*
 * Returns twice, like fork(2): *@ret_new is true in the new process, whose
 * @ret->fd is its end of the socket.
 */
struct err *again_fork(struct session *session, struct again *ret,
		       bool *ret_new) _must_check_;
/* Asks it to end, unless it has; again_reap() waits for that. */
void again_stop(struct again *again);
void again_reap(const struct again *again);
/*
 * In the new process: the suite, with what @session knows of it. *@ret NULL: it
 * has files open, or its calls cannot be followed.
 */
struct err *again_open(const struct session *session,
		       const struct file_guard_refusal *refusal,
		       struct suite **ret) _must_check_;

/* suite_beside_start() and so on. */
struct err *again_beside_start(struct suite *suite, suite_work *work,
			       void *data,
			       struct suite_beside **ret) _must_check_;
int again_beside_socket(const struct suite_beside *beside);
void again_beside_end(struct suite_beside *beside);

/*
 * Some frameworks run each test in a process of its own by default
 * (framework.isolation). Here their tests share one, and some may fail because of
 * others, which never happens to their users. After such a run the tests that
 * failed run once more, each in a process of its own, and a limit names those that
 * pass there.
 */
#pragma once

#include "native/session.h"

void isolation_note_failure(struct session *session, size_t test);
/*
 * After an order that was run for its results; @run_alone runs tests each in a
 * process of its own. Once a session.
 */
struct err *isolation_check(struct session *session,
			    struct err *(*run_alone)(struct session *session,
						     const size_t *order,
						     size_t n)) _must_check_;

/*
 * Watching the state of a suite: what each test leaves changed.
 *
 * A watch belongs to a session. It follows one process at a time: from
 * watch_start(), when it stands before its first test, to watch_stop(). At the
 * points of each test that were asked for, all threads are stopped, and memory
 * (memory_watch.c), files and process state (system_watch.c) are compared with
 * what they were at the last one. What differs goes to the observer.
 */
#pragma once

#include "native/session.h"

struct watch;

struct err *watch_create(struct session *session,
			 const struct suite_watch *options,
			 struct watch **ret) _must_check_;
void watch_destroy(struct watch *watch); /* NULL is fine */

/* The process stands where its first test will begin; nothing of it ran. */
struct err *watch_start(struct watch *watch, struct run *run) _must_check_;
/* Before its process goes away. */
void watch_stop(struct watch *watch);
/* @run is at this point of run->current, or of the test it is about to begin. */
struct err *watch_point(struct watch *watch, struct run *run,
			enum suite_point point) _must_check_;
/* Points that it needs, as bits. */
unsigned watch_points(const struct suite_watch *options);

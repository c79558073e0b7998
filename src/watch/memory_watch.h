/*
 * Watching the memory of a suite: the pages written since the last point are
 * read (image/), and the graphs before and after are compared (state/). For
 * watch.c alone.
 */
#pragma once

#include "native/session.h"
#include "suite/change.h"

struct memory_watch;

struct err *memory_watch_create(struct session *session,
				const struct suite_watch *options,
				struct memory_watch **ret) _must_check_;
void memory_watch_destroy(struct memory_watch *watch); /* NULL is fine */

/* The process stands where its first test will begin. */
struct err *memory_watch_start(struct memory_watch *watch,
			       struct run *run) _must_check_;
void memory_watch_stop(struct memory_watch *watch);
/*
 * All threads are stopped. What changed since the last point is appended to
 * @ret; where that is NULL, changes of @held (may be NULL) that are undone by
 * now are taken out, and their variables are known for fixtures from then on.
 */
struct err *memory_watch_capture(struct memory_watch *watch,
				 struct thread *thread, struct changes *ret,
				 struct changes *held) _must_check_;
bool memory_watch_is_fixture(const struct memory_watch *watch,
			     const struct change *change);

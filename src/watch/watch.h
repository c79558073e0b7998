/*
 * Watching the state of a suite: what each test leaves changed.
 *
 * A watch follows one process at a time: from
 * watch_start(), when it stands before its first test, to watch_stop(). At the
 * points of each test that were asked for, all threads are stopped, and memory
 * (memory_watch.h), files and process state (system_watch.h) are compared with
 * what they were at the last one. What differs goes to the observer.
 */
#pragma once

#include "watch/host.h"

struct watch;

struct err *watch_create(const struct watch_host *host,
			 const struct suite_watch *options,
			 struct watch **ret) _must_check_;
void watch_destroy(struct watch *watch); /* NULL is fine */

/* The process stands where its first test will begin; nothing of it ran. */
struct err *watch_start(struct watch *watch,
			const struct watch_process *process) _must_check_;
/* Before its process goes away. */
void watch_stop(struct watch *watch);
/* The process is at this point of @test, or is about to begin it. */
struct watch_point {
	const struct tracee *tracee;
	enum suite_point point;
	size_t test;
	size_t entry; /* its place in the order */
	/* It was examined at this very stop: nothing can have changed since. */
	bool *captured;
};
/* Nothing happens if @at is from another process. */
struct err *watch_point(struct watch *watch,
			const struct watch_point *at) _must_check_;
/*
 * In the middle of a test, what it is the first to use is ready: @thread is
 * about to release this guard of a C++ static.
 */
struct err *watch_guard(struct watch *watch, struct thread *thread,
			uint64_t guard) _must_check_;
/*
 * The same for what is made once (moments.h): before it is made, with a number
 * for it, and afterwards.
 */
struct err *watch_make(struct watch *watch, struct thread *thread,
		       uint64_t *ret) _must_check_;
struct err *watch_made(struct watch *watch, struct thread *thread,
		       uint64_t number) _must_check_;
/*
 * May its process be copied on the way? Not if written pages are found by what it
 * no longer shares with a copy.
 */
bool watch_allows_copies(const struct watch *watch);
/* Does it follow the calls of its process, and tell the host's saver? */
bool watch_follows(const struct watch *watch);
/* Could all be compared that was asked for, so far? */
bool watch_is_whole(const struct watch *watch);
/* Points that it needs, as bits. */
unsigned watch_points(const struct suite_watch *options);

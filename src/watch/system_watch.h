/*
 * Watching what a suite shares through the system: files (files/) and process
 * state (attributes/), with the system calls followed (follow/). For watch.c,
 * and for restoring it (restore/).
 */
#pragma once

#include "suite/change.h"
#include "watch/host.h"

struct system_watch;

struct err *system_watch_create(const struct watch_host *host,
				const struct suite_watch *options,
				struct system_watch **ret) _must_check_;
void system_watch_destroy(struct system_watch *watch); /* NULL is fine */

/* The process stands where its first test will begin. */
struct err *
system_watch_start(struct system_watch *watch,
		   const struct watch_process *process) _must_check_;
void system_watch_stop(struct system_watch *watch);
/* Does it follow the calls of its process? */
bool system_watch_follows(const struct system_watch *watch);
/*
 * All threads are stopped. What changed since the last point is appended to
 * @ret, or forgotten where that is NULL.
 */
struct err *system_watch_capture(struct system_watch *watch,
				 struct thread *thread,
				 struct changes *ret) _must_check_;
/* The process is gone: what is left of it. */
struct err *system_watch_leave(struct system_watch *watch,
			       struct changes *ret) _must_check_;
/* Can that be looked at when the process is gone? */
bool system_watch_outlives(const struct system_watch *watch,
			   const struct change *change);
/* Is it as it was before, as of the last point? */
bool system_watch_undone(struct system_watch *watch,
			 const struct change *change);

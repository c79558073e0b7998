/*
 * What the commands of one run leave for one another: files, IPC objects,
 * ports, processes; or, in a run that looks for readers, who reads them.
 *
 * The system calls of each command and of all that it starts are followed
 * (follow/follow.h), so that what they do to files belongs to its test, also
 * what processes do that it left running. Where that is not possible the
 * watched folders are compared. The rest is looked at after each command.
 *
 * Fixtures share on purpose: what a test leaves that is declared as a set-up
 * does not count, nor what a clean-up takes away.
 *
 * What it does not do: end processes (process_run.c).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "process/process_suite.h"

struct follow;
struct pids;
struct process_watch;

/* Either @watch or @places. */
struct process_watching {
	const struct suite_watch *watch;
	const struct suite_place *places;
	size_t n_places;
};

/* *@ret is NULL where nothing can be seen; that was said then. */
struct err *process_watch_create(struct process_suite *suite,
				 const struct process_watching *what,
				 const struct suite_observer *observer,
				 struct process_watch **ret) _must_check_;
/* After all processes of the run were ended. NULL is fine. */
void process_watch_destroy(struct process_watch *watch);

/*
 * For each command that is started, in this order. @entry is its place in the
 * order. *@ret is for process_spec.follow.
 */
struct err *process_watch_begin(struct process_watch *watch, size_t entry,
				size_t test, struct follow **ret) _must_check_;
/* It runs; @unfollowed is process.unfollowed, taken over. */
void process_watch_started(struct process_watch *watch, struct err *unfollowed);
/* Is any of these children of ours new since the last command? */
bool process_watch_left(const struct process_watch *watch,
			const struct pids *children);
/* It ended; its group is alive. @children: of ours, not of earlier runs. */
struct err *process_watch_end(struct process_watch *watch, pid_t pid,
			      const struct pids *children) _must_check_;
/* Its result was reported: now what it left or read. */
void process_watch_tell(struct process_watch *watch);
/* What is to be ended of it was: these are alive now. */
struct err *process_watch_settle(struct process_watch *watch,
				 const struct pids *children) _must_check_;

/* The last command ended: what processes did that were left running. */
struct err *process_watch_finish(struct process_watch *watch) _must_check_;

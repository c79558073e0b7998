/* What tries of roots (tries.c) and of calls (bench.c) share. */
#pragma once

#include "native/tries.h"
#include "restore/positions.h"
#include "restore/remedies.h"

struct bench;
struct saved;
struct system_watch;

struct tries {
	struct session *session;
	const struct suite_watch *watch;
	const struct suite_observer *outer; /* the caller's */
	struct suite_observer inner;
	/* NULL: not asked for, or given up. */
	struct memory_watch *memory;
	struct system_watch *system;
	struct suite_watch system_options;
	size_t *order; /* the prefix and the test */
	size_t n;
	struct run *run;	     /* runs the prefix, then stops */
	struct tracee *before;	     /* a copy of it, at the beginning */
	struct tracee *between;	     /* and one at the end of the prefix */
	const char *why_not;	     /* there are no roots because … */
	bool stands;		     /* where the test is about to begin */
	bool kept;		     /* the agent's quarantine is on */
	struct remedies remedies;    /* roots that can be restored */
	struct positions *positions; /* in open files, where it stands */
	struct saved *files; /* as they are there; NULL: none are kept */
	/* Calls are tried, no roots (native/bench.c); NULL: no. */
	struct bench *bench;
	/* The try that runs. */
	enum outcome outcome;
	uint64_t took;
	uint64_t longest; /* of tries that ended by themselves; 0: none yet */
};

/*
 * Runs the prefix, calls @use where the test is about to begin, and puts
 * everything back. @n may be 0 if calls are tried (@bench).
 */
struct err *tries_enter(struct session *session,
			const struct suite_watch *watch, const size_t *prefix,
			size_t n, size_t test, struct bench *bench,
			struct err *(*use)(struct tries *tries, void *data),
			void *data,
			const struct suite_observer *observer) _must_check_;
/* What differs from before the prefix, now. */
struct err *tries_look_at_changes(struct tries *tries,
				  struct changes *ret) _must_check_;
/*
 * A copy of the process, with the files as they were when it stood there: *@ret
 * is before the test.
 */
struct err *tries_copy(struct tries *tries, const bool *put_back,
		       struct run **ret) _must_check_;
/* Lets the test run in it; its outcome is in @tries. */
struct err *tries_run_test(struct tries *tries, struct run *copy) _must_check_;
/* Breakpoints that a copy needs; before anything runs in it. */
struct err *tries_settle(struct run *copy) _must_check_;

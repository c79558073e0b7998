/*
 * Evidence of a test whose outcome depends on when asynchronous work arrives: the
 * work, the statements between which it makes the test fail, and the schedule
 * that shows it again.
 */
#pragma once

#include "base/call_frame.h"
#include "base/str.h"
#include "finding/finding.h"

/* A statement of the test; file NULL: not known. */
struct arrival_place {
	char *file;
	unsigned line, column;
};

enum arrival_step_kind {
	ARRIVAL_STATEMENT, /* the test's thread is there */
	ARRIVAL_STARTED,   /* another thread begins, or goes on: there */
	ARRIVAL_RESUMED,
	ARRIVAL_HELD,	  /* … and is held */
	ARRIVAL_RELEASED, /* … and goes on */
	ARRIVAL_PAUSED,	  /* the test's thread waits for the others, there */
	ARRIVAL_EXPIRED,  /* a timer of the kernel, armed there */
	ARRIVAL_FAILED,
};

/* One line of what happened in the failing run. */
struct arrival_step {
	enum arrival_step_kind kind;
	unsigned thread; /* 0: the test's */
	uint64_t ns;	 /* since the test began, on the program's clock */
	struct arrival_place place;
};

/* arrival.event: whatever other threads do. */
#define ARRIVAL_ALL "*"

struct arrival {
	size_t test;
	bool early; /* it came too early; else too late */
	/* The work: its thread, where it was started or goes on, by what. */
	unsigned thread;
	char *operation; /* "start", or the system call it returns from */
	VEC(struct call_frame) stack;
	struct arrival_place lower, upper;
	struct arrival_place passing; /* before which it may arrive … */
	struct arrival_place failing; /* … and before which it must not */
	uint64_t margin_ns; /* what was waited for it until the failure */
	bool hung;
	struct finding_failure failure;
	VEC(struct arrival_step) steps;
	size_t runs;	/* of the test, until it was found */
	size_t repeats; /* how often it was confirmed, failing and passing */

	/* The schedule, for `replay`: see suite/schedule.h. */
	char *event;
	unsigned nth;
	bool inside;
	char *until;
	unsigned until_nth;
	char *before;
	unsigned before_nth;
	/* Where it passes: what is held, or all work is early; or neither. */
	char *passing_event;
	bool passing_early;
	uint64_t patience_ns, seed, delay_ns;
	bool priorities;
};

extern const struct finding_kind arrival_kind;
/* NULL: of another kind. */
static inline const struct arrival *arrival_of(const struct finding *finding)
{
	return finding->kind == &arrival_kind ? finding->evidence : NULL;
}

void arrival_free(struct arrival *arrival);
/* "the thread started at x.c:12"; there is an operation. */
struct err *arrival_append_event(struct str *str,
				 const struct arrival *arrival) _must_check_;
/* "the thread started at x.c:12 comes late" */
struct err *
arrival_append_condition(struct str *str,
			 const struct arrival *arrival) _must_check_;
/* "x.c:12:5" */
struct err *
arrival_append_place(struct str *str,
		     const struct arrival_place *place) _must_check_;

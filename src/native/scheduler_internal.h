/* What the parts of the scheduler share: see native/scheduler.h. */
#pragma once

#include "base/map.h"
#include "base/proc.h"
#include "base/vec.h"
#include "dwarf/unwind.h"
#include "native/scheduler.h"
#include "native/session.h"
#include "native/timed_calls.h"

/* Times that a priority falls in a run, at one of the first so many points. */
#define SCHED_CHANGES 2
#define SCHED_POINTS 30
#define VDSO_WORDS_MAX ((size_t)1 << 20)

struct sched_thread {
	pid_t tid;
	unsigned number; /* 0: the test's */
	/* What threads that the same statement starts have in common. */
	char *group;
	bool held;
	uint64_t held_since;
	uint64_t delayed_until; /* clock_now(); 0: it is not */
	bool waits_turn;	/* of priorities */
	uint64_t priority;
	bool in_call;
	bool restarted; /* its call was interrupted, so it had waited */
	struct timed_call call;
	uint64_t deadline; /* scheduler_now(), of a call that is timed */
	bool expires;	   /* it was made to leave its call */
	uint64_t switches; /* at the last look */
	/* It is in a function that hands something over; 0: in none. */
	struct raddr returns_to;
	const char *returns_from;
};

struct sched_timer {
	uint64_t which;
	uint64_t at;	   /* scheduler_now(); 0: disarmed */
	uint64_t interval; /* after which it runs out again; 0: it does not */
	/* What is to be added when it runs out; nothing: that was done. */
	struct suite_moment moment;
};

struct statement {
	struct raddr address;
	unsigned line, column;
};

struct scheduler {
	const struct suite_schedule *schedule;
	struct suite_trace *trace;
	size_t test;
	bool active; /* the test runs */
	pid_t test_tid;
	uint64_t began;
	uint64_t offset; /* of the program's clocks */
	VEC(struct sched_thread) threads;
	unsigned numbers; /* given to threads */
	VEC(struct statement) statements;
	struct map_u64 by_address; /* of those, by index */
	struct map_text counts;	   /* of keys */
	VEC(struct sched_timer) timers;
	/* Something is held, until it is released for good. */
	bool holding, released;
	uint64_t hold_began;
	/* The test's thread waits for the others. */
	bool pausing;
	bool delivering; /* … and then for what is held */
	bool calming;	 /* … without time being passed over for it */
	bool settling; /* … before it begins: they may only just have started */
	uint64_t pause_began;
	/* Time that we let pass during pauses, and during the hold. */
	uint64_t paused_ns, held_ns;
	uint64_t stood_ns;	/* all time that pauses took, on its clocks */
	uint64_t counted_until; /* scheduler_now(): waits are counted in it */
	uint64_t waited_at;	/* clock_now() at the last look; 0: none */
	uint64_t cpu_began;
	uint64_t yields;
	unsigned passes; /* looks in which all rested */
	unsigned looks;	 /* since the last event */
	uint64_t rests_since;
	bool failed;
	unsigned inside_stops;
	unsigned steps; /* segments let go while all others are held */
	uint64_t random;
	/* Of priorities: points so far, and at which one of them falls. */
	unsigned points;
	unsigned changes[SCHED_CHANGES];
	uint64_t lowest; /* what the next one falls to */
};

/* Now, on the clocks of the program. */
uint64_t scheduler_now(const struct scheduler *scheduler);

/* ---- scheduler_trace.c ---- */

void scheduler_free(struct scheduler *scheduler);
struct sched_thread *scheduler_find(struct scheduler *scheduler, pid_t tid);
/* @maker: that made it; NULL: it was there before. */
struct err *scheduler_add_thread(struct run *run, const struct thread *thread,
				 const struct thread *maker,
				 struct sched_thread **ret) _must_check_;
/*
 * Debug information is read when a stack is walked for the first time. That takes
 * long enough for timers of the kernel to run out: it is to happen before a test.
 */
void scheduler_warm_up(struct run *run);
/* Rows of the test's file that are the test's. */
struct err *scheduler_find_statements(struct run *run) _must_check_;
/* Key, number, place and stack of a segment; @at: whose stack it is. */
struct err *scheduler_describe(struct run *run, const struct thread *at,
			       const struct sched_thread *known,
			       struct suite_moment *moment) _must_check_;
struct err *
scheduler_describe_statement(struct run *run, struct raddr address,
			     struct suite_moment *moment) _must_check_;
/* Takes what is in it. */
struct err *scheduler_add_moment(struct run *run,
				 struct suite_moment *moment) _must_check_;
void scheduler_add_mark(struct run *run, enum suite_moment_kind kind);

/* ---- scheduler_random.c ---- */

/* A segment or a statement of @thread: it may have to stand still here. */
void scheduler_delay(struct run *run, struct thread *thread);
void scheduler_tick_delays(struct run *run);
/* *@ret_hung: none can go on. */
void scheduler_tick_priorities(struct run *run, bool *ret_hung);

/* ---- scheduler_inside.c ---- */

struct err *scheduler_attach_inside(struct run *run) _must_check_;
/* @thread is at a breakpoint: has it come back from such a function? */
struct err *scheduler_return_inside(struct run *run,
				    struct thread *thread) _must_check_;

/* ---- scheduler.c ---- */

/*
 * A segment of @thread is about to begin, which may be held. @at: whose stack it
 * has; @inside: it is part of another one.
 */
struct err *scheduler_segment(struct run *run, struct thread *thread,
			      struct sched_thread *known,
			      const struct thread *at, const char *operation,
			      bool inside) _must_check_;

struct thread *scheduler_tracee_thread(const struct run *run, pid_t tid);
bool scheduler_all_rest(struct run *run);
bool scheduler_spins(const struct run *run);
/* Without anything held: time goes on, or all threads wait for good. */
void scheduler_tick_free(struct run *run, bool rest, bool *ret_hung);
/* May time be passed over now: no timers, no children? */
bool scheduler_may_warp(struct run *run);
void scheduler_warp(struct run *run, struct sched_thread *waiter);

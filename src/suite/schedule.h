/*
 * Running a test while threads of its process wait for one another in a way that
 * we determine: a schedule, and what happened under it.
 *
 * The work of another thread comes in segments: from its start, or from its
 * return out of a system call in which it waited, to the next such call. Where a
 * segment begins, a thread can be held. It is known again in another run by its
 * key: who started the thread, where the program was, and in which call.
 *
 * The clocks that the tested program reads run faster while all of its threads
 * wait: time in which nothing can happen is passed over, and what waits with a
 * limit is told that the time is over. Times here are on those clocks.
 *
 * Every schedule is one that the system itself could have brought about: a thread
 * may stand still at any instruction for any time. What ends a hold when the test
 * cannot do without the event is the program's own waiting, or patience.
 */
#pragma once

#include "base/call_frame.h"
#include "base/vec.h"
#include "suite/suite.h"

enum suite_moment_kind {
	SUITE_MOMENT_STATEMENT, /* the test's thread comes to it */
	SUITE_MOMENT_STARTED,	/* a thread begins */
	SUITE_MOMENT_RESUMED,	/* it goes on after it has waited */
	SUITE_MOMENT_HELD,	/* … but is held instead */
	SUITE_MOMENT_RELEASED,	/* what was held goes on */
	SUITE_MOMENT_PAUSED,	/* the test's thread waits for the others */
	SUITE_MOMENT_EXPIRED,	/* a timer of the kernel, armed there */
	SUITE_MOMENT_FAILED,	/* the test */
};

struct suite_moment {
	enum suite_moment_kind kind;
	unsigned thread;       /* 0: the test's; else counted from 1 */
	uint64_t ns;	       /* since the test began */
	char *key;	       /* of a segment, or "line:column"; NULL: none */
	unsigned nth;	       /* of those with that key, from 1 */
	const char *operation; /* system call, or "start"; NULL: a statement */
	char *file;	       /* NULL: unknown */
	unsigned line, column;
	bool inside; /* a segment that is part of another one */
	VEC(struct call_frame) stack; /* of the project's own code */
};
DEFINE_VEC(suite_moments, struct suite_moment)
void suite_moment_free(struct suite_moment *moment);

/* Why what was held went on. */
enum suite_hold_end {
	SUITE_HOLD_NONE,      /* it did not, or nothing was held */
	SUITE_HOLD_STATEMENT, /* as the schedule says */
	SUITE_HOLD_NEEDED,    /* the test waits for it */
	SUITE_HOLD_PATIENCE,  /* the time given was over */
	SUITE_HOLD_SPINNING,  /* the test computes, and may wait that way */
};

/*
 * suite_schedule.event: whatever other threads do. Where the test needs some of
 * it, it gets one segment after the other, and no more than it needs.
 */
#define SUITE_ALL_EVENTS "*"

struct suite_schedule {
	/*
	 * Segments that are held, by key; several keys, a line each; NULL: none.
	 * @nth 0: each of them.
	 */
	const char *event;
	unsigned nth;
	/*
	 * Segments also begin where a thread has handed something over: where it
	 * has unlocked a mutex, signalled a condition, posted a semaphore or
	 * written to a pipe, and where it is about to lock a mutex.
	 */
	bool inside;
	/*
	 * Until the test's thread is before this statement, where it waits until
	 * what was held has come to rest; NULL: as long as the test can do
	 * without.
	 */
	const char *until;
	unsigned until_nth;
	/*
	 * The test's thread waits until all others rest: before this statement,
	 * or each (NULL).
	 */
	bool early;
	const char *before;
	unsigned before_nth;
	uint64_t patience_ns;
	/*
	 * Other than 0: segments and statements are delayed at random by up to
	 * @delay_ns of real time, or threads have priorities (@priorities).
	 */
	uint64_t seed;
	uint64_t delay_ns;
	bool priorities;
	/* Real time that the test may take; 0: as the suite says. */
	uint64_t limit_ns;
};

struct suite_trace {
	struct suite_moments moments;
	bool more; /* moments than are kept */
	/* There were others than the test's, or timers of the kernel. */
	bool threads;
	bool reached; /* something was held or had to wait */
	enum suite_hold_end ended;
	uint64_t margin_ns; /* from the hold to the failure, or to its end */
	bool hung;	    /* all threads waited, and nothing could end that */
	/*
	 * We made the test's thread wait for so long that limits of its own may
	 * have run out: its failure says nothing of when the work came.
	 */
	bool stood;
	/* It failed by a limit of time that it has itself; @stood, too. */
	bool limited;
	/* The failure was noted when nothing was held or waited any more. */
	bool after;
};
void suite_trace_free(struct suite_trace *trace);

/* Can it do that? Suites whose tests are processes cannot. */
bool suite_has_schedules(const struct suite *suite);

/*
 * Runs @test alone under @schedule; the observer's finished() is called. An error
 * where the suite was not opened for it (suite_options.schedules).
 */
struct err *suite_run_schedule(struct suite *suite, size_t test,
			       const struct suite_schedule *schedule,
			       const struct suite_observer *observer,
			       struct suite_trace *ret) _must_check_;

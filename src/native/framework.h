/*
 * A test framework, seen from outside.
 *
 * An adapter is one file with one struct framework. It says how to recognise
 * the framework, sets breakpoints, and from then on is called back at each of
 * them (hooks). From these hooks it reports to the engine (run.h): here the
 * first test is about to start; this test begins; it failed there; it ended.
 * And it makes the program run the tests that the engine wants, in that order.
 *
 * There are two ways to do that, and each adapter takes the one that fits:
 *
 *  - by calls: the framework runs each test through one function. At its first
 *    entry the registers are kept; whenever it returns, they are put back with
 *    another test in place of the last (calls.h). One stop a test.
 *  - by data: the framework's own list is rewritten to be the wanted order
 *    before it is run; hooks at start and end tell how far it is.
 *
 * To add a framework: its adapter framework/NAME.c, its line in
 * framework/frameworks.c, its subject tests/subjects/NAME/ and its section in
 * docs/frameworks.md, which has the recipe in full.
 */
#pragma once

#include "native/run.h"
#include "program/own.h"

/* Lists for the tables below. */
#define FRAMEWORK_LIST(...)                                                    \
	(const char *const[])                                                  \
	{                                                                      \
		__VA_ARGS__, NULL                                              \
	}

/*
 * A sign by which a framework is recognised: one of these symbols is in the
 * program or, where @used, the project's own code defines or calls one of them.
 */
struct framework_sign {
	const char *const *any; /* NULL: the signs end */
	bool used;
};
#define FRAMEWORK_SIGNS(...)                                                   \
	(const struct framework_sign[])                                        \
	{                                                                      \
		__VA_ARGS__,                                                   \
		{                                                              \
		}                                                              \
	}
#define FRAMEWORK_HAS(...)                                                     \
	{                                                                      \
		.any = FRAMEWORK_LIST(__VA_ARGS__)                             \
	}
#define FRAMEWORK_USES(...)                                                    \
	{                                                                      \
		.any = FRAMEWORK_LIST(__VA_ARGS__), .used = true               \
	}

/* Does what a test returns say whether it failed? */
enum framework_result {
	FRAMEWORK_RESULT_UNKNOWN,
	FRAMEWORK_RESULT_NONE,
	FRAMEWORK_RESULT_TELLS
};

struct framework {
	const char *name;
	/*
	 * What the adapter remembers of a process: plain memory, zeroed at the
	 * start, copied when a checkpoint is taken.
	 */
	size_t state_size;

	/*
	 * It is recognised by symbols, before anything ran: where all of these
	 * signs are there, or where the function finds so.
	 */
	const struct framework_sign *signs;
	bool (*recognise)(const struct program *program);
	/* Added after the program's arguments and environment; may be NULL. */
	const char *const *arguments;
	const char *const *environment;
	struct framework_own own; /* program/own.h */
	/*
	 * The method that is a test's body, where each test is a class that is
	 * written in one place with it: "TestBody". NULL: none is.
	 */
	const char *body_method;
	/* Its tests wait for answers while they run, which we give. */
	bool answered;
	/*
	 * A debugger takes over the test that has begun: what stands in for its
	 * functions becomes these, because breakpoints go away. May be NULL.
	 */
	struct err *(*before_hand_over)(struct run *run);
	/* Loaded, nothing run yet: set breakpoints. */
	struct err *(*attach)(struct run *run);
	/* Libraries were loaded in the meantime (dlopen); may be NULL. */
	struct err *(*loaded)(struct run *run);
	/*
	 * At run_ready(): adds all tests with run_add_test(), and declares what
	 * has to stay together (run_declare_group()). NULL: they are found by a
	 * run that skips everything (run->discovering), in a copy.
	 */
	struct err *(*list)(struct run *run, struct thread *thread);
	/*
	 * The thread stands where run_ready() was called, in this process or in
	 * a copy of it: make it run the order.
	 */
	struct err *(*start)(struct run *run, struct thread *thread);
	/*
	 * In a copy of a process, before it does anything: what the two still
	 * share, and should not, becomes the copy's own. May be NULL.
	 */
	struct err *(*copied)(struct run *run, struct thread *thread);
	/*
	 * In a tree of orders, a hook at or after the end of a test asks for the
	 * next one (see run_settled()), and nothing is laid out before. Where
	 * not, each order of a tree is run from its beginning.
	 */
	bool branches;
	/*
	 * An order in the program's own sequence is run in another way than
	 * others (run_in_sequence()).
	 */
	bool flows;
	/*
	 * Instead of @start while discovering: the thread stands at
	 * run_ready()'s place; skip and list. Needed where @list is NULL.
	 */
	struct err *(*discover)(struct run *run, struct thread *thread);
	/*
	 * Around a discovery in a copy, with the run that was copied: memory
	 * that it shares with its copies outlives them. May be NULL.
	 */
	struct err *(*before_discovery)(struct run *run, struct thread *thread);
	struct err *(*after_discovery)(struct run *run, struct thread *thread);
	/*
	 * How many times to discover (0: once). The session's discovery counts
	 * them from 0; the best is taken: most tests, then exit status 0.
	 */
	int discoveries;
	/*
	 * Where all of these crash or hang: another one in which the tests run
	 * (session.listing_runs). What the tests leave is then there for the
	 * code that follows them.
	 */
	bool lists_running;
	/*
	 * By default it runs each test in a process of its own, and the adapter
	 * makes them share one: how that is called, e.g. "as with --no-fork".
	 * Of each test that is so in the user's runs, run_isolate_test() tells.
	 */
	const char *isolation;
	/*
	 * A test that left no failure but made the program exit with a status
	 * other than 0 failed (hand-written runners).
	 */
	bool exit_status_counts;
	/* Where verdicts are learned: the hook in which tests end … */
	run_hook *ends_test;
	/* … and what a test returns. */
	enum framework_result (*result)(const struct run *run, size_t test);
	/*
	 * It continues after SIGSEGV and the like: where one happened is noted
	 * (run->faulted) for run_end(OUTCOME_CRASH).
	 */
	bool catches_faults;
	/*
	 * A failed assertion ends the process by abort(): after run_fail() that
	 * is a failure, not a crash.
	 */
	bool failure_aborts;
	/*
	 * It has a process for each test, and looks at how that ends: an exit
	 * status other than what is allowed, or another signal than the one that
	 * is, is a failure and not a crash.
	 */
	bool judges_end;
	/*
	 * Why nothing can be said of where set-up ends and tear-down begins
	 * (run_point()), as the end of a sentence; NULL: it can.
	 */
	const char *no_points;
};

/* Is the program written with it? The log says what is missing. */
bool framework_recognises(const struct framework *framework,
			  const struct program *program);

/*
 * A test executable as a suite. @frameworks ends with NULL and is in order of
 * recognition; it outlives the suite.
 */
struct err *native_suite_open(const struct suite_options *options,
			      const struct framework *const *frameworks,
			      struct suite **ret) _must_check_;

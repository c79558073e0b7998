/*
 * One process on its way through an order of tests: what adapters work with.
 *
 * A run is created by the session (native.c) for each process it starts or
 * forks. Its hooks are called with the thread that arrived; they may change the
 * thread's registers (thread_dirty()), memory and breakpoints. When a hook
 * returns, the thread continues from its program counter; if it is at a
 * breakpoint, it moves past it.
 */
#pragma once

#include "program/held.h"
#include "program/program.h"
#include "suite/suite.h"
#include "tracee/tracee.h"

struct session;
struct framework;

#define RUN_NONE ((size_t)-1)

struct run;
typedef struct err *run_hook(struct run *run, struct thread *thread,
			     uint64_t arg);

struct hook {
	run_hook *call;
	uint64_t arg;
};

/*
 * In a tree of orders (tree.c): where run->order ends, others go on, and which
 * one is not known yet. A hook that asks for what comes then is called again, in
 * a copy of the process for each of them.
 */
struct parting {
	bool asked;    /* asked for, in this hook */
	bool sequence; /* the orders are all in the program's own sequence */
	size_t more;   /* tests that may come at most */
};

/* Of the running test: what native/verdict.c saw of its runner's verdict. */
#define VERDICT_PLACES 16
#define VERDICT_WATCHPOINTS 4
struct verdict_seen {
	uint64_t before[VERDICT_PLACES];
	unsigned known; /* bits: which of them could be read … */
	unsigned wrote; /* … and where the test wrote that it failed */
	/* By watchpoint: which of them it is for, plus 1; 0: not set. */
	uint8_t armed[VERDICT_WATCHPOINTS];
	unsigned stops; /* at watchpoints */
	char *file;	/* where the test failed; NULL: not known */
	unsigned line;
	uint64_t argument; /* that the test was called with */
	int foreseen; /* with what the program would end now, if not with 0 */
};

struct run {
	struct session *session;
	struct tracee *tracee;
	struct program *program;
	const struct framework *framework;
	void *state;		/* the adapter's */
	struct held_list given; /* what tests get from the framework */
	bool discovering;

	/* The order and how far it is. */
	const size_t *order;
	size_t n;
	size_t next;	/* first entry that was not begun */
	uint8_t *begun; /* a byte a test, from the first run_begin() on */
	struct parting *parting; /* after the order; NULL: that is all */
	struct hook resume;	 /* called before it continues; NULL: none */
	struct run *checkpoint;	 /* it, before the hook that asked; or NULL */

	bool ready; /* run_ready() was called; cleared when it continues */
	struct thread *ready_thread;
	bool in_test;
	bool early;	 /* the group's set-up is not over yet */
	bool stop;	 /* set by a hook: end the loop after it */
	bool stop_after; /* stop at the end of the last test, do not let it leave */
	bool defer;	 /* the program's exit status judges the test, too */
	bool deferred;	/* a passed test waits for it */
	bool explained; /* message and place say more than a signal would */
	int faulted; /* message and place are of this signal; a handler got it */
	size_t current;	 /* test that is running */
	int point;	 /* the last enum suite_point it came to; -1: none */
	bool output_cut; /* at this very stop: nothing can have come since */
	bool captured;	 /* the same: its memory was examined */
	uint64_t began_ns;
	uint64_t threads_before; /* tracee_threads_made() */
	uint64_t cpu_before;	 /* tracee_cpu_time() */
	uint64_t deadline;
	/* What is known of the running test. */
	enum outcome outcome; /* OUTCOME_NONE: nothing against it */
	enum outcome ended;   /* of the test that ended last */
	char *message;
	char *file;
	unsigned line;
	int allowed_exit;   /* run_allow_exit(); -1: none */
	int allowed_signal; /* run_allow_signal(); 0: none */
	uint64_t limit_ns;  /* run_limit(); 0: that of all tests */
	/* The function that is the running test; 0: unknown. */
	struct raddr body;
	bool judged; /* what it returns says whether it failed */
	struct verdict_seen seen;
	bool failed;	/* some test in this process did not pass */
	bool unjudged;	/* nothing would have said if one had failed */
	bool blind;	/* after one of them the exit status was not foreseen */
	bool foresight; /* a copy that only shows how the program ends */
	/*
	 * The order is the caller's own, and the result of its last test waits
	 * for the end of the program.
	 */
	bool whole;
	bool holds;
	struct suite_result held;
	struct thread *at; /* that a hook was called with */
	/* How the process ended. */
	bool dying;
	bool excused;	     /* in a test that was inlined, not in its own */
	bool executed;	     /* another program took its place */
	bool failed_outside; /* the framework has a failure that is no test's */
	bool unable; /* run_not_begun(): no other process would do better */
	int exit_status;
	int killed_by;
};

/* Calls @hook with @arg whenever a thread arrives at @address. */
struct err *run_break(struct run *run, struct raddr address, run_hook *hook,
		      uint64_t arg) _must_check_;
/* The same by symbol; *@ret_found (may be NULL): whether there is one. */
struct err *run_break_symbol(struct run *run, const char *symbol,
			     run_hook *hook, uint64_t arg,
			     bool *ret_found) _must_check_;
struct err *run_unbreak(struct run *run, struct raddr address) _must_check_;

/*
 * The framework is about to start its first test; nothing of it ran. Everything
 * is started or copied from here. Only the first call in a process counts.
 */
void run_ready(struct run *run, struct thread *thread);

/*
 * Adds a test to the suite (framework.list, discovery). @handle is the
 * adapter's word for it, e.g. the address of the framework's object.
 */
struct err *run_add_test(struct run *run, const char *name, const char *file,
			 unsigned line, bool disabled, uint64_t handle,
			 uint64_t group) _must_check_;
/* In the user's runs the framework gives the test added last its own process. */
void run_isolate_test(struct run *run);
size_t run_tests(const struct run *run);
bool run_disabled(const struct run *run, size_t test);
const char *run_name(const struct run *run, size_t test);
uint64_t run_handle(const struct run *run, size_t test);
uint64_t run_group(const struct run *run, size_t test);
/* By handle; RUN_NONE: not known. */
size_t run_test_by_handle(const struct run *run, uint64_t handle);

/* Groups may be in groups; @parent 0: it is not. 0 for one not added, too. */
struct err *run_add_group(struct run *run, uint64_t group,
			  uint64_t parent) _must_check_;
uint64_t run_group_parent(const struct run *run, uint64_t group);

/*
 * What the framework declares about the order of its tests, while they are
 * listed (suite/declare.h); for a program that was started again it is known.
 *
 * Tests that will be added with this @group stay together. It is in @parent; 0
 * or one that was not declared: in none. May be declared twice.
 */
struct err *run_declare_group(struct run *run, uint64_t group,
			      uint64_t parent) _must_check_;
struct err *run_declare_needs(struct run *run, size_t test,
			      size_t earlier) _must_check_;
void run_declare_priority(struct run *run, size_t test, int64_t priority);

/* The test the engine wants next; RUN_NONE: no more. */
size_t run_wanted(const struct run *run);
/* The one after that, and so on: 0 is run_wanted(). */
size_t run_wanted_at(const struct run *run, size_t ahead);

/*
 * In a tree of orders what comes later is not known from the beginning: adapters
 * that say so (framework.branches) ask run_wanted() as late as they can, and do
 * not look ahead unless run_settled().
 */
bool run_settled(const struct run *run);
/* How many of those wanted are known; asks for nothing. */
size_t run_known(const struct run *run);
/* After those: how many tests may come at most. */
size_t run_unknown(const struct run *run);
/*
 * Is the running test the last that is known, so that the next must be asked
 * for?
 */
bool run_parts(const struct run *run);
/* Is the order a part of the program's own sequence, also what is not known? */
bool run_in_sequence(const struct run *run);

/* Was it begun in this process before? */
bool run_again(const struct run *run, size_t test);

/*
 * run_begin() takes the next of the order: the test starts now. A test that was
 * running (it left by longjmp or an exception) ends first. run_end() with
 * OUTCOME_NONE leaves the verdict to what was noted: fail, skip or pass.
 */
struct err *run_begin(struct run *run) _must_check_;
/*
 * Where the set-up of the test's group comes first, and is charged to the test,
 * run->early was set before run_begin(); now that set-up is over.
 */
struct err *run_group_ready(struct run *run) _must_check_;
struct err *run_end(struct run *run, enum outcome outcome) _must_check_;
/* Did the test fail that ended last? */
static inline bool run_failed(const struct run *run)
{
	return !run->in_test && run->ended == OUTCOME_FAIL;
}

/*
 * Frameworks that have set-up and tear-down report where the running test is in
 * them (SUITE_AFTER_SETUP, SUITE_BEFORE_TEARDOWN; the other two points are
 * run_begin() and run_end()). Each stop costs time: breakpoints for a point are
 * set only where run_point_wanted(), in framework.start: what is wanted may
 * differ from run to run. A point that was passed already does not count again,
 * so that a test without tear-down may come to it where it ends.
 */
bool run_point_wanted(const struct run *run, enum suite_point point);
struct err *run_point(struct run *run, enum suite_point point) _must_check_;

/*
 * Notes against the running test; the first failure's place is kept. Texts are
 * copied and may be NULL. Without a running test nothing happens.
 */
struct err *run_fail(struct run *run, const char *file, unsigned line,
		     const char *message) _must_check_;
struct err *run_skip(struct run *run, const char *file, unsigned line,
		     const char *message) _must_check_;
/* More of the message of the note that counts. */
struct err *run_note_more(struct run *run, const char *message) _must_check_;

/*
 * The running test passes also if it makes the program leave with @status, or if
 * the process is killed by @signal. RUN_ANY: by any, with any status.
 */
#define RUN_ANY (-2)
void run_allow_exit(struct run *run, int status);
void run_allow_signal(struct run *run, int signal);
/* The framework gives the running test so much time, if that is less. */
void run_limit(struct run *run, uint64_t ns);

/*
 * It is about to leave with @status, and is not let go on: what is known of the
 * running test is its outcome.
 */
struct err *run_leaves(struct run *run, int status) _must_check_;

/*
 * What the framework was made to call has returned, and the wanted test did not
 * begin: the error with which the suite ends. Calling it again would be a loop.
 */
struct err *run_not_begun(struct run *run) _must_check_;

/*
 * Objects that the framework gives to tests and that nothing else may point to
 * (program/held.h). An adapter names them for all tests that get them, not only
 * for those of the order, before the first begins: in framework.start, or where a
 * group begins, for which those of the last are forgotten.
 */
struct err *run_hold(struct run *run, const struct held *held) _must_check_;
/*
 * The test of which @index was added gets this, and so do those of which it was
 * not known yet.
 */
void run_hold_at(struct run *run, size_t index, uint64_t object);
void run_hold_none(struct run *run);
/* For copies of a process. */
struct err *run_copy_given(struct run *copy,
			   const struct run *run) _must_check_;
/* Does anybody look at what tests share? If not, that costs nothing. */
bool run_is_watched(const struct run *run);

/* Helpers for hooks. */
struct err *run_text(struct run *run, struct raddr address,
		     char **ret) _must_check_;
/* A libstdc++ std::string at @address. */
struct err *run_string(struct run *run, struct raddr address,
		       char **ret) _must_check_;
/*
 * The elements of a libstdc++ std::set at @address: where they lie, in no
 * order. An error where it has more than @max or is none.
 */
struct err *run_set(struct run *run, struct raddr address, size_t max,
		    uint64_t **ret, size_t *ret_n) _must_check_;
struct err *run_u64(struct run *run, struct raddr address,
		    uint64_t *ret) _must_check_;
struct err *run_u32(struct run *run, struct raddr address,
		    uint32_t *ret) _must_check_;
/*
 * What the running test printed so far, standard output first. For frameworks
 * that tell the place of a failure nowhere else.
 */
struct err *run_output(struct run *run, char **ret) _must_check_;
/* A file as __FILE__ has it, as a path that does not depend on a folder. */
const char *run_source(struct run *run, const char *file);
/* Longest text taken from a tested program. */
#define RUN_TEXT_MAX ((size_t)16 << 10)

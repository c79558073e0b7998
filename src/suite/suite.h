/*
 * A suite: many tests with one interface, whatever runs them.
 *
 * There are two kinds: a test executable driven through its framework
 * (native/), and a list of commands, each a process (process/). What is above
 * this line - commands, detectors, reports - sees tests by index, passes orders
 * of indexes and gets results as they come.
 *
 * Invariants:
 *  1. Tests are numbered in the suite's natural order and keep their number.
 *  2. Names are unique: where a framework allows doubles, the later ones get
 *     "#2", "#3", … appended.
 *  3. suite_run() reports each entry of the order exactly once, in the order
 *     in which they ran (side by side: in which they ended), also when the
 *     tested program dies, hangs or leaves.
 *
 * What it does not do: select, sort or judge.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/outcome.h"
#include "suite/change.h"

struct suite;
struct suite_kind;

/* Moments of a test at which its state is captured, in their order. */
enum suite_point {
	SUITE_BEFORE_SETUP,
	SUITE_AFTER_SETUP,
	SUITE_BEFORE_TEARDOWN,
	SUITE_AFTER_TEARDOWN,
	SUITE_POINTS,
};

/* A place that tests may read: memory, a file, or process state. */
struct suite_place {
	enum change_where where;
	const char *root; /* of a file or process state; as change.root */
	uint64_t address; /* of memory */
	uint64_t size;
	/* In a block: there only from the end of this test on; (size_t)-1. */
	size_t from_test;
	/* Plus 1: does not count after the end of this test; 0: always does. */
	size_t up_to;
	/* Of memory: who writes and reads it is told (observer.traced) instead. */
	bool traced;
};

struct inputs;
struct container_user;
struct wire_choice_range;
struct wire_choices;

/* Kinds of state that can be watched, as bits. */
enum suite_watched {
	SUITE_MEMORY = 1 << CHANGE_MEMORY,
	SUITE_FILES = 1 << CHANGE_FILE,
	SUITE_PROCESS = 1 << CHANGE_PROCESS,
	SUITE_ALL = SUITE_MEMORY | SUITE_FILES | SUITE_PROCESS,
};

/*
 * Examines the state of the tested program at two points of each test. The
 * observer's changed() gets what differs.
 */
struct suite_watch {
	unsigned what; /* enum suite_watched */
	enum suite_point from, to;
	/*
	 * From @from of one test to @from of the next (after set-up of
	 * consecutive tests): @to is ignored.
	 */
	bool consecutive;
	const char *const
		*include_roots; /* regular expressions; end with NULL */
	const char *const *exclude_roots;
	const char *const *exclude_fields;
	const struct container_user *containers;
	size_t n_containers;
	const char *cache; /* folder for what can be computed again; or NULL */
	/* Watched folders, where files cannot be followed; end with NULL. */
	const char *const *dirs;
	/* Files and folders that are the tool's own; end with NULL. */
	const char *const *own_files;
	const char *file_method; /* "follow", "walk"; NULL: the best */
	const char *method; /* how written pages are found; NULL: the best */
	bool runners;	    /* also what the runner keeps about its tests */
	bool everything;    /* also what is left out of a comparison */
	bool detail;	    /* changes have both subgraphs */
	size_t paths;	    /* of a root, at most */
	/*
	 * Variables that are to be there from the first test on: where a test
	 * would be the first to initialise them, they are initialised before
	 * it, as far as that is possible. End with NULL; or NULL.
	 */
	const char *const *present;
};

/*
 * What APIs are to do instead of what they do by themselves (wire/choices.h), in
 * each test of the runs to come. All that it points to outlives the runs.
 */
struct suite_choices {
	unsigned level; /* enum wire_level */
	uint64_t seed;
	const uint64_t
		*models;    /* WIRE_MODEL_WORDS words: these are numbered … */
	const uint64_t *on; /* … and these of them act */
	/* WIRE_MODEL_WORDS words a test: what does not act in it; NULL: none. */
	const uint64_t *off_by_test;
	bool only_ranges; /* of those, only choices in @ranges */
	const struct wire_choice_range *ranges;
	size_t n_ranges;
	/*
	 * Also before the first test: the program is started under them.
	 * Otherwise the program is as usual before its first test.
	 */
	bool startup;
	bool detail; /* records of choices that act */
	/* Picks are given, not drawn: see wire_choices.trace_on. */
	bool trace;
	const uint64_t *forced;
	size_t n_forced;
};

/* Where a number is that a function takes or gives. */
struct suite_value {
	enum {
		SUITE_VALUE_NONE,
		SUITE_VALUE_RESULT,
		SUITE_VALUE_ARGUMENT,
		SUITE_VALUE_NUMBER,
		SUITE_VALUE_NULL, /* of lengths: up to an element of zeroes */
	} kind;
	bool pointed;	   /* not it, but what it points to */
	unsigned argument; /* from 0 */
	uint64_t number;
};

/*
 * A function of which its users say that it leaves something open: a model of
 * polygraph.toml. The i-th has the number WIRE_MODEL_USER + i.
 */
struct suite_user_model {
	const char *function; /* symbol, or as C++ writes it */
	unsigned kind;	      /* WIRE_PERMUTE, WIRE_RANDOM or WIRE_SHORT */
	/* WIRE_PERMUTE: which array. */
	struct suite_value array, length;
	uint64_t element_size; /* bytes */
	/* WIRE_RANDOM: what it may return; WIRE_SHORT: at least @min. */
	int64_t min, max;
	bool wide; /* what it returns is 64 bits; else an int */
};

/* Which of our libraries is preloaded into the tested program. */
enum suite_agent {
	SUITE_NO_AGENT,
	SUITE_AGENT_STATE, /* notes heap blocks and state: for suite_watch() */
	SUITE_AGENT_CHOICES, /* for suite_choose() */
};

struct suite_options {
	const struct suite_kind *kind;
	/* One of these two. */
	char *const *argv;  /* test executable with its arguments */
	const char *source; /* folder or file that lists the tests */
	/* Of Java: what is beside the tests' own classes; NULL: nothing. */
	const char *class_path;
	const char *java_home;	 /* folder of a JDK; NULL: the usual one */
	char *const *vm_options; /* end with NULL; NULL: none */

	const char *framework; /* NULL or "auto": recognise */
	/*
	 * How file names of the frameworks' shared libraries begin, one after
	 * the other, then NULL: their calls are not the program's, for
	 * suite_choose(). May be NULL.
	 */
	const char *(*framework_library)(size_t i);
	/*
	 * Functions that are tests: globs as in base/globs.h, of which at least
	 * one has no '!'. NULL: "test_*".
	 */
	const char *const *test_functions;
	uint64_t timeout_ns; /* for one test */
	bool timeout_given;  /* also where a test declares another */
	unsigned jobs;	     /* parallel processes, at least 1 */
	bool pass_through;   /* output also goes to ours as it comes */
	bool keep_output;    /* results of passing tests have theirs, too */
	/*
	 * Files that tests change are as they were before the first test
	 * whenever an order begins, and when the suite is closed.
	 */
	bool restores;
	/* Orders may also leave out what the suite does between its tests. */
	bool any_order;
	enum suite_agent agent;
	/* For suite_run_schedule(): the program's clocks are ours. */
	bool schedules;
	/*
	 * Told what is read (files/inputs.h): of executables in all runs that
	 * are not watched, of processes in all. NULL: nobody asks.
	 */
	struct inputs *inputs;
	/* At most WIRE_USER_MODELS; for suite_choose(), in executables only. */
	const struct suite_user_model *user_models;
	size_t n_user_models;
};

/*
 * A kind of suite, as given when one is opened (suite_options.kind).
 *
 * To add one: embed struct suite first, fill in struct suite_ops
 * (suite/kind.h), define one of these and list it in cli/kinds.c.
 */
struct suite_kind {
	struct err *(*open)(const struct suite_options *options,
			    struct suite **ret);
	/* A signal to all that runs of such suites; async-signal-safe. */
	void (*signal)(int number);
	/*
	 * The source is a folder, and this file in it lists the tests. NULL: it
	 * is that file itself, or there is none (suite_options.argv).
	 */
	const char *list_file;
	/* Words at the end are suite_options.vm_options. */
	bool takes_words;
};

/* The default where none are given. */
static inline const char *const *
suite_test_functions(const struct suite_options *options)
{
	static const char *const usual[] = { "test_*", NULL };
	return options->test_functions ? options->test_functions : usual;
}

#define SUITE_NO_GROUP ((size_t)-1)

struct suite_test {
	char *name;
	char *file; /* NULL: unknown; as the compiler was given it */
	unsigned line;
	bool disabled; /* the suite itself would not run it */
	/*
	 * The framework that runs it in a process of its own, in the user's runs: what
	 * it leaves in its process reaches no other test there. Static; NULL: none.
	 */
	const char *isolated_by;

	/*
	 * What the suite declares of its place in an order (suite/declare.h).
	 * Tests of one group, and of the groups in it, stand together. Lists
	 * ascend.
	 */
	size_t group; /* the innermost; SUITE_NO_GROUP: free */
	/* Tests of a higher one come first; a group of equal ones as one. */
	int64_t priority;
	size_t *after; /* tests that come first, where both are in an order */
	size_t n_after;
	size_t *needs; /* of those: it makes no sense without */
	size_t n_needs;
	size_t *cleanups; /* come later, and whenever it was in an order */
	size_t n_cleanups;
};

struct suite_result {
	size_t test;
	size_t entry; /* its place in the order, or its node in the tree */
	enum outcome outcome;
	uint64_t ns;
	char *message; /* why it did not pass, raw bytes of the program; or NULL */
	char *file; /* place of the failed assertion or of the crash; or NULL */
	unsigned line;
	char *output; /* standard output and error of this test, raw; or NULL */
	size_t output_n;
	uint64_t output_dropped; /* bytes left out in its middle */
	/* Other threads of its process ran meanwhile, as far as is known. */
	bool threads;
	/* Some of them began in it; false: none did, or it is not known. */
	bool threads_began;
	/* Some of its time it took no processor, as far as is known. */
	bool waited;
	/*
	 * Only the end of the program says that a test failed, and an earlier one
	 * of the order may be meant.
	 */
	bool unsure;
};

/* What may be held against this very test. */
static inline enum outcome
suite_result_judged(const struct suite_result *result)
{
	return result->unsure ? OUTCOME_PASS : result->outcome;
}

struct suite_observer {
	void (*started)(void *data, size_t test);
	/* @result is the observer's to read until it returns. */
	void (*finished)(void *data, const struct suite_result *result);
	/*
	 * What this test left changed: watched suites only. @entry is its place
	 * in the order. It may come after finished(), when the next test is
	 * about to begin. Changes are the observer's to read until it returns.
	 */
	void (*changed)(void *data, size_t entry, size_t test,
			const struct change *changes, size_t n);
	/*
	 * A test read that place (suite_run_places()), once a test and place.
	 * Where it is known that code @fills the place, since it makes what it
	 * does not find there, another read by other code is told, too.
	 */
	void (*read)(void *data, size_t test, size_t place, bool fills);
	/*
	 * Where this test last wrote that place, or first read it (@writes),
	 * innermost function first. The stack is the observer's to read until
	 * it returns.
	 */
	void (*traced)(void *data, size_t test, size_t place, bool writes,
		       const struct call_frame *stack, size_t n);
	/*
	 * What was chosen in this test (suite_choose()), before finished(). What
	 * the block says is the tested program's word: numbers may be any.
	 */
	void (*chosen)(void *data, size_t entry, size_t test,
		       const struct wire_choices *block);
	/*
	 * This variable is not compared: watched suites only. @why continues "a
	 * variable …" ("of GoogleTest"). The same may come again.
	 */
	void (*left_out)(void *data, const char *name, const char *why);
	/*
	 * This test changed a variable that is not compared, or that the runner
	 * keeps about its tests: which one, and where in it.
	 */
	void (*omitted)(void *data, size_t test, const char *name,
			uint64_t offset);
	/* Something worth a line under "limits" of the report. */
	void (*limit)(void *data, const char *text);
	void *data;
};

/*
 * Tells @observer of a limit, and the log. NULL, and one that does not listen,
 * are fine; a text for which there is no memory is lost.
 */
void suite_limit(const struct suite_observer *observer, const char *fmt, ...)
	_printf_(2, 3);

/* With texts of its own. */
struct err *suite_result_copy(const struct suite_result *result,
			      struct suite_result *ret) _must_check_;
void suite_result_free(struct suite_result *result);

enum suite_run_flags {
	SUITE_ALONE = 1 << 0,  /* each entry in a process of its own */
	SUITE_SERIAL = 1 << 1, /* one process at a time, whatever the jobs */
};

#define SUITE_TREE_ROOT ((size_t)-1)

/*
 * Orders that begin alike, as a tree: each node is a test that runs after the
 * nodes from the root to its parent, in one process and nothing else in it.
 */
struct suite_node {
	size_t parent; /* a node before this one; SUITE_TREE_ROOT: it is first */
	size_t test;
};
DEFINE_VEC(suite_nodes, struct suite_node)

struct err *suite_open(const struct suite_options *options,
		       struct suite **ret) _must_check_;
void suite_close(struct suite *suite); /* NULL is fine */
static inline void suite_closep(struct suite **suite)
{
	suite_close(*suite);
}

/* "gtest", …, or "ctest", "meson", "commands". */
const char *suite_framework(const struct suite *suite);
size_t suite_count(const struct suite *suite);
const struct suite_test *suite_test(const struct suite *suite, size_t index);
/* The group that contains this one; SUITE_NO_GROUP: none. */
size_t suite_group_parent(const struct suite *suite, size_t group);
/*
 * Determines what is declared about the order of tests, if that takes a run;
 * for callers that are going to run other orders of these @tests. Once; later
 * calls do nothing.
 */
struct err *suite_declare(struct suite *suite, const size_t *tests,
			  size_t n) _must_check_;
/*
 * Its tests run in the places of their runner's own calls, since the runner
 * changes something between them that they need: what that is. An order can have
 * no more tests of a group than the group has, of no group as many as there are.
 * NULL: there is nothing. Known after suite_declare().
 */
const char *suite_fixture(const struct suite *suite);
/*
 * That differs from each test to the next: they cannot be taken out of their
 * sequence. Known after suite_declare().
 */
bool suite_fixed(const struct suite *suite);
/* What of its tests' state can be watched: enum suite_watched. */
unsigned suite_watchable(const struct suite *suite);
/* Tests begun so far, by all runs, those that only made a beginning included. */
uint64_t suite_executions(const struct suite *suite);

/*
 * Runs the tests of @order, an index each, any of them any number of times.
 * Returns an error where the suite could not be run; failing tests are results,
 * not errors. Ends early with ERR_INTERRUPTED after suite_interrupt().
 */
struct err *suite_run(struct suite *suite, const size_t *order, size_t n,
		      unsigned flags,
		      const struct suite_observer *observer) _must_check_;

/*
 * Runs a tree of orders, where possible each node once: a process that more
 * than one order continues from is copied. The observer's finished() is called
 * for each node exactly once (result.entry), for a parent before its children.
 * If a node ended its process (crash, timeout), those below it are reported
 * with OUTCOME_NONE: they did not run. In parallel, unless SUITE_SERIAL.
 */
struct err *suite_run_tree(struct suite *suite, const struct suite_node *nodes,
			   size_t n, unsigned flags,
			   const struct suite_observer *observer) _must_check_;

/*
 * Tests share these files and folders, so that orders must not run side by
 * side. They, too, are restored from now on (suite_options.restores), and again
 * where orders of a tree part, as they were there. Paths relative to the working
 * directory or absolute, copied. @n 0: orders may run side by side again.
 * Either way all files are restored first.
 */
struct err *suite_keep_files(struct suite *suite, const char *const *paths,
			     size_t n) _must_check_;

/*
 * From now on runs of orders begin with what the program initialises when it is
 * first used being initialised, as far as that is possible without a test; or
 * they no longer do.
 */
void suite_initialise(struct suite *suite, bool early);

/*
 * Files that runs were about to change (suite_options.restores), whatever became
 * of them; NULL: no more.
 */
const char *suite_touched_file(const struct suite *suite, size_t i);
/*
 * What could not be kept or restored so far, with the reason: runs after that
 * may not have begun with the same files. NULL: no more.
 */
const char *suite_unrestored(const struct suite *suite, size_t i);

/*
 * Whoever gets process @pid, which is stopped and not traced by anybody. When it
 * returns, the process is ended. @body: the method that is the body of each test, of
 * which other methods may be in the same line; NULL: none is.
 */
typedef struct err *suite_taker(void *data, pid_t pid, const char *body);
/*
 * From now on the last test of each order is given to @taker when it begins, and
 * its outcome is not known. ERR_USAGE where that is not possible: only of test
 * executables.
 */
struct err *suite_hand_over(struct suite *suite, suite_taker *taker,
			    void *data) _must_check_;

/*
 * One try of suite_try_roots(): @put_back has a bool a root. In tries, memory
 * that the tests before freed keeps what was in it, where that is possible, so
 * that it can be restored; a test that uses it after that does not fail then. NULL:
 * nothing is restored, and from now on such memory is overwritten in all tries:
 * where the allocator itself does so, the second time all of it.
 */
typedef struct err *suite_try(void *context, const bool *put_back,
			      enum outcome *ret);
/*
 * Which roots a test's outcome depends on. Runs @prefix in one process and
 * determines what differs from before it; @judge gets these changes and may
 * call @try any number of times: it runs @test in a copy of the process as
 * @prefix left it, in which the chosen roots were restored first. If the
 * process cannot be copied or examined, there are no roots. What can be
 * restored: memory, and otherwise what the kind of suite supports; changes that
 * cannot are not among @roots. What @watch points to stays as it is until the
 * suite is closed.
 */
typedef struct err *suite_judge(void *data, const struct change *roots,
				size_t n, suite_try *try, void *context);
struct err *suite_try_roots(struct suite *suite,
			    const struct suite_watch *watch,
			    const size_t *prefix, size_t n, size_t test,
			    suite_judge *judge, void *data,
			    const struct suite_observer *observer) _must_check_;

/*
 * From now on runs are watched as @watch says; NULL: no more. An error where
 * this kind of suite cannot be. @watch outlives the suite or the next call.
 */
struct err *suite_watch(struct suite *suite,
			const struct suite_watch *watch) _must_check_;
/*
 * As suite_run(), and the observer's read() is called with the tests that read
 * one of @places: first those in memory, suite_places_max() of them at most at
 * the same time (0: none here), then any number of others.
 */
struct err *
suite_run_places(struct suite *suite, const size_t *order, size_t n,
		 const struct suite_place *places, size_t n_places,
		 const struct suite_observer *observer) _must_check_;
size_t suite_places_max(const struct suite *suite);
/*
 * As suite_run(), and places in memory may be added while it runs, from the
 * observer's functions, when they are told of @test: read() is called with the
 * tests after @test that read them. The first that is added is place 0. False: it
 * is not watched; other tests may have begun since.
 */
struct err *
suite_run_adding(struct suite *suite, const size_t *order, size_t n,
		 const struct suite_observer *observer) _must_check_;
bool suite_add_place(struct suite *suite, const struct suite_place *place,
		     size_t test);

/*
 * The next suite_run() keeps copies of its process on the way, if it can, until
 * this is called with false. suite_middle() is the entry near the middle of that
 * @order (the same array) from which suite_run_rest() goes on in such a copy; 0:
 * there is none. The rest is as suite_run_places() of the whole order from that
 * entry on, in the same process as everything before.
 */
struct err *suite_keep_middle(struct suite *suite, bool keeps) _must_check_;
size_t suite_middle(struct suite *suite, const size_t *order, size_t n);
struct err *suite_run_rest(struct suite *suite, const size_t *order, size_t n,
			   const struct suite_place *places, size_t n_places,
			   const struct suite_observer *observer) _must_check_;

/*
 * Calls @work in another process, in which the suite is opened again, while this
 * one goes on. Both may write to and read from their ends of a socket, @fd. A
 * test that is about to change a file ends that process before it does so, and
 * other things may: what was not received is for the caller to find out.
 * *@ret NULL: this suite cannot run side by side.
 */
struct suite_beside;
typedef struct err *suite_work(void *data, struct suite *suite, int fd);
struct err *suite_beside_start(struct suite *suite, suite_work *work,
			       void *data,
			       struct suite_beside **ret) _must_check_;
int suite_beside_socket(const struct suite *suite,
			const struct suite_beside *beside);
/* Ends that process, whatever it does; NULL is fine. */
void suite_beside_end(const struct suite *suite, struct suite_beside *beside);
/* Processes that may run side by side, this one included. */
unsigned suite_jobs(const struct suite *suite);

/* Can it meet a model of these flags (wire/models.h)? */
bool suite_has_model(const struct suite *suite, unsigned flags);
/*
 * From now on choices are made as @choices says, in each test alike, wherever
 * it is in an order; NULL: everything as usual. An error if this suite was not
 * opened for it (suite_options.agent) or cannot do it. The observer's chosen()
 * is called. Runs under choices are one process at a time, except for suites of
 * processes, where each test has its own choices: those obey SUITE_SERIAL.
 */
struct err *suite_choose(struct suite *suite,
			 const struct suite_choices *choices) _must_check_;

/* May be called from a signal handler. */
void suite_interrupt(void);
/* As above: stops this process and the tested one, returns when continued. */
void suite_suspend(void);

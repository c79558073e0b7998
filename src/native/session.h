/*
 * A test executable as a suite: the engine that implements run.h; for native/
 * and framework/ only.
 *
 * A session starts the program, lets the adapter find its tests, and keeps the
 * process stopped before the first test (the origin). Each order is run in a
 * process that begins there: a fork of the origin where that is possible, a new
 * start where it is not.
 */
#pragma once

#include "base/map.h"
#include "native/early.h"
#include "native/initialising.h"
#include "native/run.h"
#include "restore/positions.h"
#include "suite/kind.h"
#include "watch/host.h"

struct arguments;
struct between;
struct chooser;
struct explorer;
struct scheduler;
struct unwinder;
struct file_guard;
struct saver;
struct user_models;
struct sort_models;
struct verdict;
struct output;
struct memory_watch;
struct middle;
struct places;
struct quiet;
struct tries;
struct watch;
struct workers;

struct test_handle {
	uint64_t handle;
	uint64_t group;
};

struct session {
	struct suite suite;
	struct tracer *tracer;
	struct output *output;
	struct program *program;
	const struct framework *const *frameworks; /* all; ends with NULL */
	const struct framework_own **owns;	   /* theirs */
	const struct framework *framework;
	char **argv;
	char **env; /* NULL: ours */
	VEC(struct hook) hooks;
	VEC(struct test_handle) handles; /* one per test */
	struct map_u64 by_handle;
	struct map_u64 group_parents;
	struct map_u64 declared; /* adapters' groups → the suite's */
	/* After a new start, only the handles are new: tests by name; or NULL. */
	struct map_text *relisting;
	size_t relisted;
	/* This start of the program has its tests in another sequence. */
	bool resequenced;
	bool told_inlined;    /* executable_tell_inlined() */
	bool counted_inlined; /* inlined_tests() */
	size_t inlined;	      /* tests that cannot be run for that; likewise */
	bool told_blamed;     /* inlined_is_blamed() and the like */
	struct map_u64 seen;  /* adapters' own, while they discover */
	/* Adapters' own: functions that only call tests; with so many files. */
	struct map_u64 suites;
	size_t suites_of;
	/* How the run in which the tests were found ended badly; NULL: well. */
	char *listing_end;
	bool listing_exited; /* by itself */
	/* With all of its tests skipped the program crashed or hung. */
	bool dies_without_tests;
	/* The tests run while they are listed (framework.lists_running). */
	bool listing_runs;
	size_t listed_results[2]; /* of these, as numbers: 0, another */
	bool told_listing;
	/*
	 * Set by adapters: each test runs in a child that the program makes for
	 * it, and whose end is its verdict. What happens in the program itself
	 * is the runner's: of a test, only files are watched, unless they are
	 * not asked for (forked_watch).
	 */
	bool tests_forked;
	/* A child of it executed the program once more, before any test. */
	bool executes_itself;
	bool told_forked;
	struct suite_watch forked_watch;
	struct map_u64 call_sites; /* calls.c: by return address; 0: unknown */
	struct run *origin; /* stands before the first test; NULL: none now */
	bool keeps_origin;  /* a watched process is compared with it */
	struct positions
		*positions; /* the origin's, and its copies'; or NULL */
	/* Why the origin cannot be forked; NULL: it can. */
	const char *obstacle;
	bool obstacle_known;
	bool declared_all;	  /* session_declare() was called */
	int discovery;		  /* which of several discoveries */
	struct quiet *quiet;	  /* adapters' own; NULL: not needed yet */
	struct map_text sources;  /* file names → paths, owned */
	struct raddr stdout_file; /* the C library's, 0: unknown */
	const struct suite_observer *observer; /* during suite_run() */
	size_t reported;    /* entries of the order passed to it */
	bool unhappy;	    /* some test of this order did not pass */
	VEC(size_t) failed; /* tests of this order, for isolation.c */
	bool isolates; /* the user's runs give tests processes of their own */
	bool told_isolation;
	bool want_output;
	struct between *between;     /* NULL: not known yet */
	struct arguments *arguments; /* NULL: none were kept */
	struct places *places;	     /* during suite_run_places(); NULL: no */
	struct middle
		*middle;     /* copies on the way; NULL: none were asked for */
	bool keeps_middle;   /* of the order that runs */
	bool rest;	     /* the order that runs goes on from one of them */
	unsigned points;     /* bits of enum suite_point that are examined */
	struct watch *watch; /* NULL: its memory is not watched */
	struct early early;  /* suite_initialise() */
	struct initialising initialising; /* of the process that it watches */
	struct saver *saver; /* of files; NULL: none are kept. See saving.h */
	struct run *guarded; /* as the origin, but its calls are followed … */
	struct file_guard *guard; /* … by this; NULL: not yet */
	/* No process may change files, not even the origin; NULL: they may. */
	const struct file_guard_refusal *refusal;
	bool shares_files;	 /* suite_keep_files(), or workers said so */
	bool leaves_files;	 /* what the last process changed stays */
	struct workers *workers; /* parallel.c; NULL: none were started */
	struct chooser *chooser; /* what APIs do; NULL: as usual */
	struct user_models *user_models; /* NULL: none */
	struct sort_models *sort_models; /* NULL: nothing is chosen */
	struct explorer *explorer;	 /* during suite_explore(); NULL: no */
	struct scheduler *scheduler; /* during suite_run_schedule(); NULL: no */
	struct unwinder *schedule_unwinder; /* NULL: not needed yet */
	char *opening; /* printed before the first test, for verdict.c; or NULL */
	struct verdict *verdict; /* NULL: not learned yet, or none to learn */
	struct tries *tries;	 /* during suite_try_roots(); NULL: no */
	/* Kept by tries.c from one call to the next. */
	struct memory_watch *tries_memory;
	struct suite_watch tries_options;
	uint64_t
		*took; /* a test, the longest that it ran; see session_took() */
};

/* As suite_run() and its kin, for this kind of suite. */
struct err *session_run(struct suite *suite, const size_t *order, size_t n,
			unsigned flags,
			const struct suite_observer *observer) _must_check_;
struct err *
session_run_places(struct suite *suite, const size_t *order, size_t n,
		   const struct suite_place *list, size_t n_places,
		   const struct suite_observer *observer) _must_check_;
struct err *
session_run_adding(struct suite *suite, const size_t *order, size_t n,
		   const struct suite_observer *observer) _must_check_;
bool session_add_place(struct suite *suite, const struct suite_place *place,
		       size_t test);
struct err *
session_run_rest(struct suite *suite, const size_t *order, size_t n,
		 const struct suite_place *list, size_t n_places,
		 const struct suite_observer *observer) _must_check_;

/*
 * native_suite_open(), with what to do when a process is about to change files;
 * NULL: these are kept, and changed.
 */
struct err *session_open(const struct suite_options *options,
			 const struct framework *const *frameworks,
			 const struct file_guard_refusal *refusal,
			 struct suite **ret) _must_check_;
/* What watches need to know about it, as of now. */
struct watch_host session_host(struct session *session);
struct watch_process session_watched(const struct session *session,
				     const struct run *run);
/* Globs of the functions that are tests; of no session: the default. */
const char *const *session_test_functions(const struct session *session);
/* session.c: a process at the first test, from the origin or newly started. */
struct err *session_process(struct session *session,
			    struct run **ret) _must_check_;
/* session.c: works through the order with as many processes as it takes. */
struct err *session_run_order(struct session *session, const size_t *order,
			      size_t n) _must_check_;
/* How long a test is known to take, in ns, whatever became of it; 0: unknown. */
uint64_t session_took(const struct session *session, size_t test);
void session_note_took(struct session *session, size_t test, uint64_t ns);
/* Why its process cannot be copied now; NULL: it can. */
const char *session_find_obstacle(struct session *session);
/* The next process is of a program that is started again. */
void session_forget_origin(struct session *session);

/* run.c */
struct run *run_create(struct session *session, struct tracee *tracee);
void run_destroy(struct run *run); /* ends its process; NULL is fine */
static inline void run_destroyp(struct run **run)
{
	run_destroy(*run);
}
/* A copy of a run that is at run_ready(), in a forked process. */
struct err *run_fork(struct run *run, struct run **ret) _must_check_;
/* The same of one that is on its way, with @thread at a breakpoint. */
struct err *run_copy(struct run *run, struct thread *thread,
		     struct run **ret) _must_check_;

enum run_state {
	RUN_READY,	 /* stands where run_ready() was called */
	RUN_GONE,	 /* the process ended */
	RUN_INTERRUPTED, /* by the user */
	RUN_HUNG,	 /* outside a test; killed */
	RUN_STOPPED,	 /* run->stop: a hook asked for it */
	RUN_PARTED,	 /* run->parting->asked: no longer of use */
};
/* The result of the last test, if it waits for the end of the program. */
void run_report_held(struct run *run);
/* Lets the process go on until one of these. */
struct err *run_loop(struct run *run, enum run_state *ret) _must_check_;
/* How the process ended, for a person: "exit status 1", "killed by …". */
extern const char *run_end_text(const struct run *run);

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
#include "native/run.h"
#include "restore/positions.h"
#include "suite/kind.h"
#include "watch/host.h"

struct between;
struct chooser;
struct explorer;
struct file_guard;
struct saver;
struct user_models;
struct output;
struct memory_watch;
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
	bool told_inlined;	   /* executable_tell_inlined() */
	struct map_u64 seen;	   /* adapters' own, while they discover */
	struct map_u64 call_sites; /* calls.c: by return address; 0: unknown */
	struct run *origin; /* stands before the first test; NULL: none now */
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
	size_t reported; /* entries of the order passed to it */
	bool unhappy;	 /* some test of this order did not pass */
	bool want_output;
	struct between *between; /* during between_find(); NULL: no */
	struct places *places;	 /* during suite_run_places(); NULL: no */
	unsigned points;     /* bits of enum suite_point that are examined */
	struct watch *watch; /* NULL: its memory is not watched */
	struct saver *saver; /* of files; NULL: none are kept. See saving.h */
	struct run *guarded; /* as the origin, but its calls are followed … */
	struct file_guard *guard; /* … by this; NULL: not yet */
	bool shares_files;	  /* suite_keep_files() */
	struct workers *workers;  /* parallel.c; NULL: none were started */
	struct chooser *chooser;  /* what APIs do; NULL: as usual */
	struct user_models *user_models; /* NULL: none */
	struct explorer *explorer;	 /* during suite_explore(); NULL: no */
	struct tries *tries; /* during suite_try_roots(); NULL: no */
	/* Kept by tries.c from one call to the next. */
	struct memory_watch *tries_memory;
	struct suite_watch tries_options;
	uint64_t
		*took; /* a test, the longest that it ran; see session_took() */
};

/* What watches need to know about it, as of now. */
struct watch_host session_host(struct session *session);
struct watch_process session_watched(const struct session *session,
				     const struct run *run);
/* session.c: a process at the first test, from the origin or newly started. */
struct err *session_process(struct session *session,
			    struct run **ret) _must_check_;
/* How long a test is known to take, in ns, whatever became of it; 0: unknown. */
uint64_t session_took(const struct session *session, size_t test);
void session_note_took(struct session *session, size_t test, uint64_t ns);
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
/* Lets the process go on until one of these. */
struct err *run_loop(struct run *run, enum run_state *ret) _must_check_;
/* How the process ended, for a person: "exit status 1", "killed by …". */
extern const char *run_end_text(const struct run *run);

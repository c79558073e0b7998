/*
 * One command as a process: started in a nest (nest/nest.h) and a process group
 * of its own with /dev/null as standard input and pipes as standard output and
 * error, watched through descriptors, and ended with all that it started.
 *
 * Invariants:
 *  1. Between process_start() and process_leave() or process_end() the
 *     process is held by its nest, so that its number, which is also its group's, cannot belong to
 *     anybody else: killing the group is safe.
 *  2. Every descriptor is closed on exec, and none of ours below 3 is used.
 *
 * What it does not do: wait (suite/process_suite.c has the loop).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct follow;
struct nest;
struct pids;

struct process_spec {
	char *const *argv;
	char *const *environment; /* NULL: ours */
	const char *folder;	  /* NULL: ours */
	bool split;		  /* standard error through a pipe of its own */
	bool same_addresses;	  /* address space is not randomised */
	struct follow *follow;	  /* prepared, tells its calls; NULL: none */
	int inherited; /* this descriptor stays open in it; 0: none */
};

struct process {
	struct nest *nest; /* NULL: it is not there any more */
	pid_t pid;
	int pidfd; /* the nest's: readable when it ended; -1: there is none */
	int out;   /* both outputs, or standard output where split */
	int err;   /* -1 unless split */
	uint64_t began_ns;
	struct err *unfollowed; /* why its calls are not told; NULL: they are */
	/* After process_ended(): */
	bool ended;
	uint64_t ended_ns;
	int status; /* exit status, where signal is 0 */
	int signal; /* that killed it */
	bool dumped;
	bool left; /* its number may be somebody else's by now */
};

#define PROCESS_INIT                                                           \
	{                                                                      \
		.pid = -1, .pidfd = -1, .out = -1, .err = -1                   \
	}

/*
 * Errors are the system's (no more processes or descriptors). A command that
 * cannot be started is none: *@ret_why says why then, and it is not running.
 */
struct err *process_start(const struct process_spec *spec, struct process *ret,
			  char **ret_why) _must_check_;
/* Can the calls of processes be followed here? Else why not. */
struct err *process_try_follow(void) _must_check_;
/* Has it ended? Does not wait, and leaves it to be reaped. */
bool process_ended(struct process *process);
/* Kills it and everything in its group. */
void process_kill(const struct process *process);
/*
 * It ended: ends what is left of its group, and waits for that. What left the
 * group goes on until process_end(): then *@ret_left.
 */
void process_end_group(struct process *process, bool *ret_left);
/* It ended: what it started, also in its group, goes on until process_end(). */
void process_leave(struct process *process);
/* Adds the processes that it left and that run on, and what these started. */
struct err *process_left(const struct process *process,
			 struct pids *ret) _must_check_;
/* Ends it and everything that it started, and waits for that. */
void process_end(struct process *process);
/* The same, and closes the descriptors. */
void process_reap(struct process *process);
static inline void process_reapp(struct process *process)
{
	process_reap(process);
}

/*
 * Runs a tool to its end: its standard output, NUL-terminated, and the
 * beginning of its standard error. More than @limit bytes, more time than
 * @timeout_ns and an interrupt are errors; *@ret_why as above.
 */
struct process_output {
	char *out;
	size_t out_n;
	char *err;
	int status; /* -1: killed by a signal */
	char *why;
};
struct err *process_output(const struct process_spec *spec, size_t limit,
			   uint64_t timeout_ns,
			   struct process_output *ret) _must_check_;
void process_output_free(struct process_output *output);

/*
 * A nest: the process below which one program runs with everything that it
 * starts. It is the program's parent, so that a test which signals its parent
 * finds this process and not the controller, and it is given every orphan of
 * the program, so that all of it can be found and ended.
 *
 * The nest shares the controller's memory and descriptors as a thread does
 * (CLONE_VM, CLONE_FILES): what it forks is a copy of the controller, as it would
 * be without a nest, starting one costs no copy of page tables, and it holds no
 * pipe open. It has signal handlers and a process group of its own. It sleeps,
 * waits for children that ended, and does nothing else.
 *
 * Invariants:
 *  1. A program's ancestors are its nest and the controller, so that the
 *     controller may trace it where only ancestors may (Yama).
 *  2. The nest has all signals blocked. SIGKILL ends it: then the program and
 *     its orphans become children of the controller (PR_SET_CHILD_SUBREAPER),
 *     and everything below works as before. SIGSTOP is answered with SIGCONT
 *     whenever something is wanted of the nest.
 *  3. When the controller is gone, the nest ends everything below it and
 *     itself. It is in another process group, so that a signal to the group of
 *     the controller does not reach it.
 *  4. A program that is held (enum nest_kind) stays a zombie until
 *     nest_release() or nest_end(), so that its number belongs to nobody else.
 *
 * A nest belongs to the thread that created it, which must live as long.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/proc.h"

#define NEST_NAME "pg-nest" /* of the process */
/* Wakes it: something is wanted, or the controller is gone. */
#define NEST_WAKE_SIGNAL SIGUSR1

struct nest;

enum nest_kind {
	NEST_HOLDS, /* the program's end is asked for with nest_ended() */
	NEST_REAPS, /* somebody else learns of it: its tracer */
};

/*
 * Starts a nest, and in it a process that calls @child, as after fork(2): no
 * memory may be allocated in it, and it must not return. All its signals are
 * blocked; it is in the nest's process group.
 */
struct err *nest_start(enum nest_kind kind, void (*child)(void *data),
		       void *data, struct nest **ret) _must_check_;
/* Ends everything in it, the program too, and waits until it is gone. */
void nest_end(struct nest *nest); /* NULL is fine */
static inline void nest_endp(struct nest **nest)
{
	nest_end(*nest);
}

pid_t nest_pid(const struct nest *nest);
pid_t nest_program(const struct nest *nest);
/* Readable when the program, which is held, has ended. */
int nest_program_fd(const struct nest *nest);
/*
 * Has the program ended? Does not wait for it. @ret as of waitid(2): si_code and
 * si_status; si_code 0 where nobody knows.
 */
bool nest_ended(struct nest *nest, siginfo_t *ret);
/* A program that ended is not held any longer. */
void nest_release(struct nest *nest);
/* Has it wait for those that ended now, also where it was stopped. */
void nest_poke(const struct nest *nest);
/*
 * Adds the processes whose parent is the nest: the program, copies that it made
 * of itself as siblings, and orphans, dead or alive. Where the nest was killed
 * they are ours, together with those of other nests that were.
 */
struct err *nest_children(const struct nest *nest,
			  struct pids *ret) _must_check_;
/* Was this process started by us on purpose, as a nest or in one? */
bool nest_owns(pid_t pid);

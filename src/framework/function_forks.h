/*
 * Hand-written runners that fork for each of their tests; for functions.c.
 *
 * The children are real ones, and go free: what they do to files is followed,
 * what they do to memory is lost with them, and the runner waits for them as it
 * always does. A test begins where the runner forks for it and ends where the
 * runner has waited for the child, whose exit status judges it. Which test a
 * child runs is decided before it is made: where the runner is about to fork, the
 * entry of the function that the child will call is overlaid, with a return if
 * nothing is wanted of it, or with a jump to the test that is wanted.
 *
 * The k-th fork of a runner is taken for its k-th test; runners of which this is
 * not true (several children at once, several tests in a child, children that
 * execute the program again) are refused.
 */
#pragma once

#include "native/calls.h"
#include "native/slots.h"

/* In the adapter's state. */
struct function_forks {
	bool found;   /* it is such a runner */
	bool running; /* a test, in a child */
	int child;    /* that was made for it; 0: none yet */
	struct raddr overlaid;
	struct calls call; /* of fork() or of the function that waits */
	int way;	   /* enum function_wait */
};

enum function_wait {
	FUNCTION_WAIT,	  /* wait(status), wait3(status, …) */
	FUNCTION_WAITPID, /* waitpid(pid, status, …), wait4(pid, status, …) */
	FUNCTION_WAITID, /* waitid(type, id, info, …) */
};

/* At fork(), before the first test: does the child call a test, at @hook? */
struct err *function_forks_probe(struct run *run, struct thread *thread,
				 run_hook *hook, bool *ret) _must_check_;
/*
 * In a copy of such a runner: pipes through which its children tell it something
 * would never end while the process that was copied holds them, and memory that it
 * shares with its children would be shared with that process's, too. The copy gets
 * its own, with the same content. @except is the tool's own.
 */
struct err *function_forks_unshare(struct run *run, struct thread *thread,
				   struct raddr except) _must_check_;
/* At fork(), in an order. */
struct err *function_forks_enter(struct run *run, struct thread *thread,
				 struct function_forks *forks,
				 struct slots *slots,
				 run_hook *returned) _must_check_;
struct err *function_forks_return(struct run *run, struct thread *thread,
				  struct function_forks *forks) _must_check_;
/* The same at a function that waits for children. */
struct err *function_forks_wait(struct run *run, struct thread *thread,
				struct function_forks *forks,
				enum function_wait way,
				run_hook *returned) _must_check_;
struct err *function_forks_waited(struct run *run, struct thread *thread,
				  struct function_forks *forks,
				  run_hook *returned) _must_check_;

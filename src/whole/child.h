/*
 * A call of polygraph by polygraph: the same program, with other words, in
 * another folder and environment.
 *
 * The child has a process group of its own, so that it is told of an interrupt
 * once and by us, and dies with us. Standard input is empty, standard output is
 * lost, standard error is kept.
 */
#pragma once

#include "base/strv.h"

struct child {
	const struct strv *words; /* without the program's name */
	const char *folder;	  /* NULL: ours */
	char *const *env;	  /* NULL: ours */
	int terminal; /* a descriptor that it gets as well; 0: none */
};

struct child_end {
	int status;    /* exit status; 128 and more: killed by a signal */
	char *message; /* the end of its standard error; "" if none */
};

/* Errors are the system's; whatever the child says is none. */
struct err *child_run(const struct child *child,
		      struct child_end *ret) _must_check_;
static inline void child_end_free(struct child_end *end)
{
	free(end->message);
	end->message = NULL;
}

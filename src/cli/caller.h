/*
 * What the caller left us with and would break us: closed standard descriptors,
 * signals that are ignored or blocked, a small stack. Limits are not changed:
 * tested programs inherit them.
 */
#pragma once

#include "base/err.h"

/*
 * Takes the numbers of closed standard descriptors, so that no file of ours gets
 * them and then what is printed; reading and writing them still fails. Children
 * can be waited for again, and all signals come. Before anything is opened.
 */
void caller_settle(void);

/* Calls it on a stack that is large enough, whatever `ulimit -s` says. */
int caller_run(int (*function)(int argc, char **argv), int argc, char **argv);

/* What no tested program can be run without: /proc, and some descriptors. */
struct err *caller_check(void) _must_check_;

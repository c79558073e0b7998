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

/* A shell may stand in a folder that is gone: nothing can be kept there. */
struct err *caller_check_folder(void) _must_check_;
/* What no tested program can be run without: that, /proc, some descriptors. */
struct err *caller_check(void) _must_check_;

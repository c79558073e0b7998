/*
 * Tests of a hand-written runner that the compiler made part of it. They run in no
 * order and with no breakpoint, but in the course of the runner's own code: what they
 * do there is no other test's fault. Debug information tells which they are.
 *
 * What it does not do: run, skip or judge them.
 */
#pragma once

#include <stdbool.h>

#include "native/run.h"

/* How many there are; the file is searched once. */
size_t inlined_tests(struct session *session);
/*
 * After the last test of the order, whose result waits for the end of the program:
 * does a thread of it stand in one of them, where a signal ends it or it hangs? Then
 * that is said, with @what it does.
 */
bool inlined_is_blamed(struct run *run, pid_t tid, const char *what);
/*
 * Where all other tests are judged by something else, a bad exit status is none of
 * theirs: of one of these, or of the runner.
 */
bool inlined_may_have_failed(struct session *session);
/* Is that so of how the program ended? Then it is said. */
bool inlined_explains_status(struct run *run);

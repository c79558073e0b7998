/*
 * What a program that calls its tests itself does between them.
 *
 * Adapters of such frameworks (framework.flows) run orders against the program's
 * own sequence at the place of the first call: a set-up that the program calls
 * before each of its tests is missing there. Whether there is any is found by a
 * run in a copy in which all tests return at once and the entries of the
 * project's functions are breakpoints. A function that comes and goes between
 * two tests is something in between. One that a test is called from is part of
 * the calling. What is inlined cannot be seen.
 */
#pragma once

#include "native/session.h"

/* *@ret: a name for people, malloc()ed; NULL: it does nothing, as far as seen. */
struct err *between_find(struct session *session, char **ret) _must_check_;
/*
 * Adapters, while discovering, at the call of a test: is that run the one that
 * is meant? Then nothing is listed.
 */
bool between_test(struct run *run, const struct thread *thread);

/*
 * Functions that are named as tests but only call the tests of a hand-written
 * runner: its suites. What they call is found in the code, before anything runs.
 *
 * A function is a suite where
 *  1. it calls, or passes on, at least two functions that are named as tests,
 *     have no parameters, and that nothing else in the program refers to; one is
 *     enough where "suite" or "all" is a word of its name;
 *  2. all else that it calls of the project it calls at least as often as there
 *     are such functions (a set-up, a wrapper), or other suites do, too (a
 *     heading).
 * Helpers that are named as tests make no suite of a test: tests have parameters
 * for them, share them, or do something themselves.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct run;

/* Finds them, once for the files that are loaded, in run->session->suites. */
struct err *function_suites_find(struct run *run) _must_check_;

/*
 * What a hand-written runner says about its tests, in the text that it prints.
 *
 * A line of output is a verdict only where its form is recognised: two outputs
 * of the same program, one of them with a value that a test might have left,
 * and the difference speaks of a failure. "Tests failed: 0" and "Tests failed:
 * 1", "all passed" and "FAILED". Everything else that differs (counts of tests, of
 * checks, of seconds) is none.
 */
#pragma once

#include <stdbool.h>

/* Does @after say, other than @before, that something failed? */
bool verdict_text_fails(const char *before, const char *after);
/* Do the two differ, and only in numbers? */
bool verdict_text_counts(const char *before, const char *after);

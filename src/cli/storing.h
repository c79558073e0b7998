/*
 * --store: results go to a history (history/history.h), whatever becomes of the
 * place that it is in.
 *
 * Tests run in a private file system, in which a database of the user must not
 * be opened. So a process that was made before does it: what is to be stored is
 * written to a folder that goes through (.polygraph/unsent), and that process
 * sends all that is there. What cannot be sent stays for the next call, and is no
 * error of the run.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

#define STORING_FOLDER ".polygraph/unsent"

/* @url NULL: nothing is stored. In a process with one thread, before a sandbox. */
struct err *storing_begin(const char *url) _must_check_;
bool storing_is_begun(void);
/* The branch that is checked out; "": not known; NULL: no memory. */
char *storing_find_branch(void);
/* A report as JSON. */
void storing_add(const char *report);
/* Sends, and waits for that. */
void storing_end(void);

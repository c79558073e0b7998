/*
 * --help and the manual pages, both from the tables of options.
 *
 * Help is for a terminal and wrapped to its width; manual pages are troff
 * source for man(7), one for polygraph itself and one for each command.
 */
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "cli/command.h"

/* @command NULL: polygraph itself. @columns 0: as wide as the terminal. */
struct err *help_write(const struct command *command, bool brief,
		       size_t columns, FILE *out) _must_check_;
struct err *manual_write(const struct command *command, FILE *out) _must_check_;

/* What both say of a command's exit status; ends with NULL. */
extern const char *const help_statuses[];

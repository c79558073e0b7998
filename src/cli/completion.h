/*
 * Completion of command lines by shells: scripts for bash, zsh and fish, from
 * the same tables as --help.
 */
#pragma once

#include <stdio.h>

#include "base/err.h"

/* The shells, as `polygraph completion` takes them; ends with NULL. */
extern const char *const completion_shells[];

/* ERR_USAGE where @shell is none of them. */
struct err *completion_write(const char *shell, FILE *out) _must_check_;

/* Running a compiler or a build, with what it says. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/*
 * Runs @argv in @folder (NULL: the working directory) and waits for it. What it
 * writes is appended to @said, the last part of it if it is much. *@ret: it ended
 * by itself with exit status 0. After @limit_ns it is ended.
 */
struct err *tool_call(char *const *argv, const char *folder, uint64_t limit_ns,
		      struct str *said, bool *ret) _must_check_;

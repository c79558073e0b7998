/* How a project's own build compiles a file: seen when it does. */
#pragma once

#include <stdint.h>

#include "base/err.h"

/*
 * Runs the shell command @build with the file at @path as if it had just been
 * changed, until the compiler is started for it, and ends all of that before the
 * compiler does anything. What it was started with becomes an entry of the
 * compile_commands.json at @database, an empty one where the build does not compile
 * the file, or not within @limit_ns. The file's times are as before afterwards.
 */
struct err *build_command_ask(const char *build, const char *path,
			      const char *database,
			      uint64_t limit_ns) _must_check_;

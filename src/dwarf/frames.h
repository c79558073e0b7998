/*
 * The call stack of a stopped thread of another process.
 *
 * Unwinding uses .eh_frame and .debug_frame (elfutils); inlined frames are not
 * shown separately. The thread must be ptrace-stopped by the caller's own
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct frame {
	uint64_t pc;
	uint64_t code; /* in the call or instruction itself, for its line */
	const char *module;   /* path; NULL: unknown */
	const char *function; /* as in the symbol table (mangled); or NULL */
};

#define FRAMES_MAX 256

/* Innermost first; @visit returns false to stop. */
struct err *frames_walk(pid_t pid, pid_t tid,
			bool (*visit)(void *data, const struct frame *frame),
			void *data) _must_check_;

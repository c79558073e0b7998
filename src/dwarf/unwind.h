/*
 * The call stack of a thread that is gone: out of a copy of its registers and
 * of the upper part of its stack, and the files that were loaded.
 *
 * Unwinding uses .eh_frame and .debug_frame (elfutils); inlined functions have
 * their own frames. Everything passed in comes from the tested program and is
 * not trusted: paths that are not regular files, places that overlap, bytes
 * that lead anywhere give fewer frames, never more than UNWIND_FRAMES.
 *
 * An unwinder keeps what it read of files between calls, since reading debug
 * information is slow; one thread at a time uses it.
 *
 * What it does not do: look at a process. Values that are neither in registers
 * nor in the copied part of the stack end the walk.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define UNWIND_FRAMES 64
#define UNWIND_MODULES 1024

struct unwinder;

struct unwind_module {
	const char *path; /* absolute; others are left out */
	uint64_t bias;
};

/* Of x86-64: what a function leaves to its caller. */
enum unwind_register {
	UNWIND_RIP,
	UNWIND_RSP,
	UNWIND_RBP,
	UNWIND_RBX,
	UNWIND_R12,
	UNWIND_R13,
	UNWIND_R14,
	UNWIND_R15,
	UNWIND_REGISTERS,
};

struct unwind_thread {
	const struct unwind_module *modules; /* the program itself first */
	size_t n_modules;
	uint64_t registers[UNWIND_REGISTERS];
	const unsigned char *stack;
	size_t stack_n;
	uint64_t stack_address; /* of its first byte */
};

struct unwind_frame {
	char *function; /* as people write it, without parameters; or NULL */
	char *file;	/* NULL: unknown */
	unsigned line;
	const char *module; /* path; of the unwinder */
};

/* Innermost first. */
struct unwind_frames {
	struct unwind_frame *data;
	size_t n, cap;
};

struct err *unwinder_create(struct unwinder **ret) _must_check_;
void unwinder_destroy(struct unwinder *unwinder); /* NULL is fine */
static inline void unwinder_destroyp(struct unwinder **unwinder)
{
	unwinder_destroy(*unwinder);
}

/*
 * From the caller of an API on: without the innermost frames that are ours, a
 * system library's, or the C++ library's headers'. Empty where nothing is left.
 */
struct err *unwinder_callers(struct unwinder *unwinder,
			     const struct unwind_thread *thread,
			     struct unwind_frames *ret) _must_check_;
/*
 * Registers of the innermost frame that is not in the file @module: as they
 * will be when the function there returns to it. False: not known.
 */
bool unwinder_outside(struct unwinder *unwinder,
		      const struct unwind_thread *thread, const char *module,
		      uint64_t registers[UNWIND_REGISTERS]);
void unwind_frames_free(struct unwind_frames *frames);
static inline void unwind_frames_freep(struct unwind_frames *frames)
{
	unwind_frames_free(frames);
}

/*
 * A call stack in words: the functions and lines of addresses in the loaded
 * program.
 *
 * Where there is code of the project, only that is shown: not the C++ library's
 * frames, which at -O0 are many, nor the framework's, nor what called main().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/call_frame.h"

struct program;

/* What is kept of a stack, and what is looked at for it. */
#define CALL_STACK_FRAMES 6
#define CALL_STACK_DEPTH 64

struct call_stack {
	struct call_frame frames[CALL_STACK_DEPTH];
	size_t n;
};

void call_stack_clear(struct call_stack *stack);
/*
 * The next outer function: @code lies in the call or instruction itself. false:
 * nothing that is outside of it counts.
 */
bool call_stack_add(struct call_stack *stack, const struct program *program,
		    uint64_t code);
/* All are there: leaves out what is of no interest. */
void call_stack_finish(struct call_stack *stack);

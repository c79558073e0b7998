/*
 * Calls of test functions by a hand-written runner: what the function returns,
 * and how its call is skipped; for functions.c and its parts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "program/program.h"
#include "tracee/arch.h"

struct run;
struct thread;

/* A test's handle is the function's address and the number of the call. */
#define FUNCTION_OCCURRENCE_SHIFT 48
#define FUNCTION_ADDRESS_MASK ((UINT64_C(1) << FUNCTION_OCCURRENCE_SHIFT) - 1)
#define FUNCTION_OCCURRENCES_MAX                                               \
	((UINT64_C(1) << (64 - FUNCTION_OCCURRENCE_SHIFT)) - 1)

/* False: it is unknown. */
bool function_signature_of(const struct run *run, uint64_t address,
			   struct object_signature *ret);
bool function_returns_void(const struct run *run, uint64_t address);
/* What it returns where it is skipped: what means success. */
void function_result(const struct run *run, uint64_t address,
		     struct arch_result *ret);
/* At the first instruction: it returns at once, with what means success. */
struct err *function_skip_call(struct run *run, struct thread *thread,
			       uint64_t address) _must_check_;

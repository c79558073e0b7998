/*
 * One run of a test executable as a user would run it, to see what it reads
 * (files/inputs.h): its beginning and its end, its tests, and all that these
 * start. Files that it changes are put back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct inputs;

/*
 * Where that run was not followed, did not end by itself within @limit_ns, or
 * left something that cannot be put back, @inputs are lost.
 */
struct err *process_learn_inputs(char *const *argv, uint64_t limit_ns,
				 struct inputs *inputs) _must_check_;

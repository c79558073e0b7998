/*
 * The call stack of a choice that the agent recorded, for findings:
 * choices_options.unwind, with a struct unwinder (dwarf/unwind.h) as its data.
 */
#pragma once

#include "choices/choices.h"

struct err *unwind_choice(void *unwinder, const struct wire_choices *block,
			  const struct wire_choice *record,
			  struct assumption_call *ret) _must_check_;

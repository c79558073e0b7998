/*
 * The registers of a stopped thread, as the unwinder of debug information takes
 * them (dwarf/unwind.h).
 */
#pragma once

#include "dwarf/unwind.h"
#include "tracee/tracee.h"

void unwind_thread_take(const struct thread *thread,
			struct unwind_thread *walked);

/* Where a stopped thread is, in code of the project. */
#pragma once

#include <sys/types.h>

#include "program/program.h"

/* Headers and sources of the system: C++ library, frameworks, … */
bool place_is_system(const char *file);
/* The innermost line of the project's own code; texts are NULL where unknown. */
struct err *place_find(const struct program *program,
		       const struct tracee *tracee, pid_t tid, char **ret_file,
		       unsigned *ret_line, char **ret_function) _must_check_;

/* Which header declares a function. */
#pragma once

#include "base/routine.h"
#include "repair/compile.h"

/*
 * The line that includes it, as a file in @compiler's folders would: *@ret stays
 * NULL where none is found.
 */
struct err *headers_find(const struct compiler *compiler,
			 const struct source_file *source,
			 const struct routine *routine,
			 char **ret) _must_check_;

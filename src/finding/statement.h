/*
 * Statements that put process state and files back, as C source. Hints say them
 * and patches insert them (repair/), so that both advise the same.
 *
 * There is one only where it is right as it stands: not with a value that is shown
 * cut, or with a name that does not fit between quotes.
 */
#pragma once

#include "base/str.h"
#include "suite/change.h"

struct statement_code {
	struct str code;     /* "unsetenv(\"COLOUR\");"; empty: there is none */
	const char *include; /* '#include <x.h>' that it needs; NULL: none */
	/*
	 * If the code depends on this machine: what a test does at its start, and
	 * the call that is 0 where it puts that back at its end. NULL: the code
	 * itself is right everywhere.
	 */
	const char *save, *restore, *release;
};
void statement_free(struct statement_code *statement);
static inline void statement_freep(struct statement_code *statement)
{
	statement_free(statement);
}

/* Of what is neither a file nor process state there is none. */
struct err *statement_of(const struct change *change,
			 struct statement_code *ret) _must_check_;

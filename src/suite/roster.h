/*
 * The tests of a suite by number, as findings and reports name them.
 *
 * Numbers are the suite's own. A roster outlives the suite: a command may close
 * it and open the same tests again with another agent, and its results keep
 * their names.
 */
#pragma once

#include "suite/suite.h"

struct roster_test {
	const char *name;
	const char *file; /* NULL: unknown; as the compiler was given it */
	unsigned line;
	bool disabled;		 /* the suite itself would not run it */
	const char *isolated_by; /* as suite_test has it */
};

struct roster {
	struct roster_test *tests;
	size_t n;
};

struct err *roster_create(const struct suite *suite,
			  struct roster **ret) _must_check_;
void roster_destroy(struct roster *roster); /* NULL is fine */
static inline void roster_destroyp(struct roster **roster)
{
	roster_destroy(*roster);
}

static inline const char *roster_name(const struct roster *roster, size_t test)
{
	return roster->tests[test].name;
}

/* Does the suite have these tests, in this sequence? */
bool roster_matches(const struct roster *roster, const struct suite *suite);

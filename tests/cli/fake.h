/* What the parts of the suite made of paper share: see fake_suite.c. */
#pragma once

#include "base/vec.h"
#include "suite/suite.h"

struct fake {
	struct suite_test test;
	struct suite_result result;
	bool is_limit;
	bool is_random;
	unsigned runs;
	char *polluter;
	char *root;
	char *choices; /* see fake_choices.c */
};

struct suite {
	VEC(struct fake) tests;
	VEC(struct fake) limits;
	bool pass_through;
	bool watched;
	bool choosing; /* it was opened for choices */
	uint64_t timeout_ns;
	size_t broken_after; /* SIZE_MAX: not */
	uint64_t executions;
	const struct suite_choices *choices; /* NULL: as ever */
	struct suite_choices chosen;
};

/* What a test chooses, and what becomes of it: before it is told of. */
void fake_choose(struct suite *suite, struct fake *fake, size_t entry,
		 struct suite_result *result,
		 const struct suite_observer *observer);

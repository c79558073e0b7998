/* How a test ended: the words of the whole program (and of the contract). */
#pragma once

#include <stdbool.h>

enum outcome {
	OUTCOME_NONE, /* not run (yet) */
	OUTCOME_PASS,
	OUTCOME_FAIL,
	OUTCOME_SKIP,
	OUTCOME_CRASH,
	OUTCOME_TIMEOUT,
	OUTCOMES,
};

static inline const char *outcome_name(enum outcome outcome)
{
	static const char *const names[OUTCOMES] = {
		[OUTCOME_NONE] = "none",   [OUTCOME_PASS] = "pass",
		[OUTCOME_FAIL] = "fail",   [OUTCOME_SKIP] = "skip",
		[OUTCOME_CRASH] = "crash", [OUTCOME_TIMEOUT] = "timeout",
	};
	return names[outcome];
}

static inline bool outcome_is_good(enum outcome outcome)
{
	return outcome == OUTCOME_PASS || outcome == OUTCOME_SKIP;
}

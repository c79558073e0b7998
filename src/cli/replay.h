/* What replaying the kinds of findings has in common: see cmd_replay.c. */
#pragma once

#include <jansson.h>

#include "base/map.h"
#include "cli/command.h"
#include "cli/common.h"
#include "store/store.h"

struct replay_values {
	struct common_options common;
	uint64_t times;
	bool list;
	unsigned format; /* 0: text, 1: JSON */
};

static inline bool replay_is_good(enum outcome outcome)
{
	return outcome == OUTCOME_PASS || outcome == OUTCOME_SKIP;
}

/*
 * Opens it as the detector did, whatever polygraph.toml says today. @how: library,
 * output and models.
 */
struct err *replay_open(const struct strv *words,
			const struct suite_options *how,
			struct options **ret_options,
			struct common_suite *ret_choice,
			struct suite **ret) _must_check_;
/* Names are compared as JSON has them. */
struct err *replay_number_tests(const struct suite *suite,
				struct map_text *numbers) _must_check_;
/* "HEAD: fail: WHAT: expected 1 (x.c:3)"; @good: what it was found to be. */
struct err *replay_show(const char *head, const char *what,
			const struct suite_result *result, bool good,
			bool color, bool verbose) _must_check_;

struct err *replay_set(json_t *object, const char *key,
		       json_t *value) _must_check_;
struct err *replay_result_json(const struct suite_result *result,
			       json_t **ret) _must_check_;
/* The verdict, for more to be added to it. */
struct err *replay_json(const char *id, const char *test, bool again,
			json_t **ret) _must_check_;
struct err *replay_print(const json_t *object) _must_check_;

/* replay_choices.c */
struct err *replay_choice(const struct replay_values *values,
			  struct store_finding *finding,
			  enum status *ret) _must_check_;

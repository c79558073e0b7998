/*
 * Reads the Test Anything Protocol as it comes: "ok", "not ok", plans, skips
 * and bail-outs; https://testanything.org/tap-version-14-specification.html.
 * Subtests (indented) and diagnostics are left alone, as Meson does.
 *
 * Lines are foreign and may have any length: only their beginning is kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outcome.h"

#define TAP_LINE_MAX 512

struct tap {
	char line[TAP_LINE_MAX];
	size_t line_n;
	uint64_t points;  /* test lines seen */
	uint64_t failed;  /* not ok, and not TODO */
	uint64_t skipped; /* ok # SKIP */
	uint64_t planned;
	bool has_plan;
	bool bailed;
	bool all_skipped; /* plan 1..0 */
	char first
		[TAP_LINE_MAX]; /* first line that says it failed or why it was skipped */
};

void tap_feed(struct tap *tap, const char *data, size_t n);
/* The last line may lack its end. */
void tap_finish(struct tap *tap);
/* *@ret_why is in @tap or static; NULL where there is nothing to say. */
enum outcome tap_outcome(const struct tap *tap, const char **ret_why);

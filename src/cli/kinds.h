/*
 * The kinds of suites that the program knows: the one list of them. All that
 * runs tests is below and knows nothing of the others.
 */
#pragma once

#include <stddef.h>

struct suite_kind;

struct kind_option {
	const char *option; /* that asks for it, with its source as value */
	const struct suite_kind *kind;
};

/* What --framework takes; one after the other, then NULL. */
const char *kinds_framework(size_t i);
/* A test executable, given as words instead of an option. */
extern const struct suite_kind *const kind_of_words;
extern const struct kind_option kind_options[]; /* ends with NULL */

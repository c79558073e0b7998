/*
 * "Did you mean": the nearest of many offered words.
 *
 *	struct suggestion s;
 *	suggestion_init(&s, "lst");
 *	for (…) suggestion_offer(&s, names[i]);
 *	if (s.best) …
 *
 * Near is an edit distance of at most a third of the word's length (letters
 * swapped, missing, added or changed); failing that, a word that contains the
 * one looked for. Only the first 128 bytes count, so that a suite of 20,000
 * long names answers at once.
 */
#pragma once

#include <stddef.h>

struct suggestion {
	const char *word;
	const char *best; /* NULL: nothing near; belongs to the caller */
	size_t distance;
};

void suggestion_init(struct suggestion *suggestion, const char *word);
void suggestion_offer(struct suggestion *suggestion, const char *candidate);

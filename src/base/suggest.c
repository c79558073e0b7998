#include "base/suggest.h"

#include <string.h>
#include <strings.h>

#include "base/macro.h"

#define LONGEST 128

static size_t smallest_of_three(size_t a, size_t b, size_t c)
{
	return MIN(MIN(a, b), c);
}

/* Optimal string alignment distance, letters without case. */
static size_t suggest_edit_distance(const char *a, const char *b)
{
	size_t n = strnlen(a, LONGEST), m = strnlen(b, LONGEST);
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t j = 0; j <= m; j++)
		last[j] = before[j] = j;
	for (size_t i = 1; i <= n; i++) {
		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t change =
				strncasecmp(&a[i - 1], &b[j - 1], 1) ? 1 : 0;
			now[j] = smallest_of_three(last[j] + 1, now[j - 1] + 1,
						   last[j - 1] + change);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = MIN(now[j], before[j - 2] + 1);
		}
		size_t *spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[m];
}

void suggestion_init(struct suggestion *suggestion, const char *word)
{
	size_t allowed = MAX(strnlen(word, LONGEST) / 3, (size_t)1);
	*suggestion = (struct suggestion){
		.word = word,
		.distance = allowed + 1,
	};
}

void suggestion_offer(struct suggestion *suggestion, const char *candidate)
{
	size_t n = strnlen(suggestion->word, LONGEST);
	size_t m = strnlen(candidate, LONGEST);
	/* The lengths' difference alone is a lower bound. */
	if ((n > m ? n - m : m - n) < suggestion->distance) {
		size_t d = suggest_edit_distance(suggestion->word, candidate);
		if (d < suggestion->distance) {
			suggestion->distance = d;
			suggestion->best = candidate;
			return;
		}
	}
	if (suggestion->best || n < 3)
		return;
	if (strcasestr(candidate, suggestion->word))
		suggestion->best = candidate;
}

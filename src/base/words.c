#include "base/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void words_free(struct words *words)
{
	for (size_t i = 0; i < words->n; i++)
		free(words->data[i]);
	vec_free(words);
}

/* Takes @word over; NULL: there was no memory for it. */
static struct err *words_take(struct words *words, char *word)
{
	struct err *err = word ? vec_reserve(words, words->n + 2) : err_nomem();
	if (err) {
		free(word);
		return err;
	}
	words->data[words->n++] = word;
	words->data[words->n] = NULL;
	return NULL;
}

struct err *words_add(struct words *words, const char *text)
{
	return words_take(words, strdup(text));
}

struct err *words_addf(struct words *words, const char *fmt, ...)
{
	char *word = NULL;
	va_list args;
	va_start(args, fmt);
	int n = vasprintf(&word, fmt, args);
	va_end(args);
	return words_take(words, n < 0 ? NULL : word);
}

struct err *words_add_all(struct words *words, char *const *from)
{
	for (size_t i = 0; from[i]; i++)
		TRY(words_add(words, from[i]));
	return NULL;
}

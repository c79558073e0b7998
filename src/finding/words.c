#include "finding/words.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"

/* Columns of a failure's message. */
#define MESSAGE_MAX ((size_t)160)

struct err *words_append(struct str *line, const char *text)
{
	return str_append_escaped(line, text, strlen(text));
}

struct err *words_append_count(struct str *line, uint64_t count)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu",
			 (unsigned long long)count);
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			TRY(str_append(line, ","));
		TRY(str_append_n(line, &digits[i], 1));
	}
	return NULL;
}

struct err *words_append_place(struct str *line, const char *file,
			       unsigned number)
{
	_cleanup_(freep) char *shown = NULL;
	TRY(path_display_short(file, &shown));
	TRY(words_append(line, shown));
	return number ? str_appendf(line, ":%u", number) : NULL;
}

const char *words_verb(enum outcome outcome)
{
	return outcome == OUTCOME_CRASH	    ? "crashes"
	       : outcome == OUTCOME_TIMEOUT ? "hangs"
					    : "fails";
}

/* A message of many lines as one, cut where it is long. */
static struct err *append_message(struct str *line, const char *message)
{
	size_t n = strlen(message), used = 0, i = 0;
	bool blank = true; /* none at the beginning */
	while (i < n && used < MESSAGE_MAX) {
		size_t length = str_utf8_length(message + i, n - i);
		if (!length)
			length = 1;
		if (strchr(" \t\r\n", message[i])) {
			if (!blank)
				TRY(str_append(line, " "));
			used += !blank;
			blank = true;
		} else {
			TRY(str_append_escaped(line, message + i, length));
			used++;
			blank = false;
		}
		i += length;
	}
	while (i < n && strchr(" \t\r\n", message[i]))
		i++;
	if (i < n)
		return str_append(line, "…");
	while (line->n && line->s[line->n - 1] == ' ')
		line->s[--line->n] = '\0';
	return NULL;
}

struct err *words_append_failure(struct str *line, enum outcome outcome,
				 const char *file, unsigned number,
				 const char *message)
{
	if (!file && !message)
		return NULL;
	TRY(str_append(line, words_verb(outcome)));
	if (file) {
		TRY(str_append(line, " at "));
		TRY(words_append_place(line, file, number));
	}
	if (!message)
		return NULL;
	TRY(str_append(line, ": "));
	return append_message(line, message);
}

/* How many of @n names a line has. */
static size_t count_shown(size_t n, size_t max)
{
	return n <= max + 1 ? n : max;
}

static struct err *append_rest(struct str *line, size_t n, size_t shown)
{
	return shown < n ? str_appendf(line, " and %zu more", n - shown) : NULL;
}

struct err *words_append_texts(struct str *line, const char *const *texts,
			       size_t n, size_t max)
{
	size_t shown = count_shown(n, max);
	for (size_t i = 0; i < shown; i++) {
		TRY(str_append(line, i ? ", " : ""));
		TRY(words_append(line, texts[i]));
	}
	return append_rest(line, n, shown);
}

struct err *words_append_tests(struct str *line, const struct roster *roster,
			       const size_t *tests, size_t n, size_t max)
{
	size_t shown = count_shown(n, max);
	for (size_t i = 0; i < shown; i++) {
		TRY(str_append(line, i ? ", " : ""));
		TRY(words_append(line, roster_name(roster, tests[i])));
	}
	return append_rest(line, n, shown);
}

struct err *words_append_pattern(struct str *line, const char *name)
{
	_cleanup_(str_freep) struct str pattern = STR_INIT;
	TRY(str_append_pattern(&pattern, name));
	return str_append_shell(line, pattern.s ? pattern.s : "");
}

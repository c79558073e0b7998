#include "base/regexes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

/*
 * regcomp() copies what an interval repeats: a{1,255}{1,255}{1,255} is 16
 * million letters, which takes gigabytes. Where copies can be empty, time and
 * memory grow with the square: (a*b*){1,1000} takes 0.7 s.
 */
#define REGEX_LETTERS_MAX ((uint64_t)20000)
#define REGEX_COPIES_MAX ((uint64_t)2000)
#define REGEX_DEPTH_MAX 200

struct regex_reader {
	const char *at;
	unsigned depth;
};

static uint64_t regex_read_letters(struct regex_reader *reader);

/* Behind "[": up to its end; one at the very beginning is a letter. */
static void regex_skip_bracket(struct regex_reader *reader)
{
	reader->at += *reader->at == '^';
	reader->at += *reader->at == ']';
	while (*reader->at && *reader->at != ']') {
		char kind = reader->at[1];
		if (reader->at[0] == '[' && kind && strchr(":.=", kind)) {
			const char end[] = { kind, ']', '\0' };
			const char *found = strstr(reader->at + 2, end);
			reader->at = found ? found + 1 : reader->at;
		}
		reader->at++;
	}
	reader->at += *reader->at == ']';
}

static uint64_t regex_read_one(struct regex_reader *reader)
{
	uint64_t n = 1;
	char c = *reader->at++;
	if (c == '[') {
		regex_skip_bracket(reader);
	} else if (c == '\\') {
		reader->at += *reader->at != '\0';
	} else if (c == '(' && reader->depth >= REGEX_DEPTH_MAX) {
		n = REGEX_LETTERS_MAX + 1;
	} else if (c == '(') {
		reader->depth++;
		n += regex_read_letters(reader);
		reader->depth--;
		reader->at += *reader->at == ')';
	}
	return n;
}

/* What follows it: how often it is copied. */
static uint64_t regex_read_copies(struct regex_reader *reader)
{
	uint64_t copies = 1;
	for (;; reader->at++) {
		if (*reader->at == '{') {
			char *end;
			uint64_t from = strtoul(reader->at + 1, &end, 10);
			uint64_t to =
				*end == ',' ? strtoul(end + 1, &end, 10) : from;
			if (*end != '}')
				return copies; /* letters, or an error */
			reader->at = end;
			uint64_t most = MAX(from, to);
			copies *=
				MIN(MAX(most, (uint64_t)1), REGEX_LETTERS_MAX);
			copies = MIN(copies, REGEX_LETTERS_MAX + 1);
		} else if (!*reader->at || !strchr("*+?", *reader->at)) {
			return copies;
		}
	}
}

/* Up to the end, or the parenthesis that closes: letters after copying. */
static uint64_t regex_read_letters(struct regex_reader *reader)
{
	uint64_t n = 0;
	while (*reader->at && (*reader->at != ')' || !reader->depth)) {
		uint64_t one = regex_read_one(reader);
		n += one * regex_read_copies(reader);
		n = MIN(n, REGEX_LETTERS_MAX + 1);
	}
	return n;
}

static bool regex_is_too_large(const char *expression)
{
	struct regex_reader reader = { .at = expression };
	uint64_t n = regex_read_letters(&reader);
	return n > REGEX_LETTERS_MAX ||
	       n > strlen(expression) + REGEX_COPIES_MAX;
}

struct err *regexes_add(struct regexes *regexes, const char *option,
			const char *const *expressions)
{
	for (size_t i = 0; expressions && expressions[i]; i++) {
		regex_t regex;
		if (regex_is_too_large(expressions[i]))
			return err_create(
				ERR_USAGE,
				"%s '%s' is too large when its repetitions are "
				"written out",
				option, expressions[i]);
		int code = regcomp(&regex, expressions[i],
				   REG_EXTENDED | REG_NOSUB);
		if (code) {
			char text[128];
			regerror(code, &regex, text, sizeof(text));
			return err_create(ERR_USAGE, "%s '%s': %s", option,
					  expressions[i], text);
		}
		struct err *err = vec_push(regexes, regex);
		if (err) {
			regfree(&regex);
			return err;
		}
	}
	return NULL;
}

void regexes_free(struct regexes *regexes)
{
	for (size_t i = 0; i < regexes->n; i++)
		regfree(&regexes->data[i]);
	vec_free(regexes);
}

bool regexes_match(const struct regexes *regexes, const char *text)
{
	for (size_t i = 0; i < regexes->n; i++) {
		if (!regexec(&regexes->data[i], text, 0, NULL, 0))
			return true;
	}
	return false;
}

#include "base/masked.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"
#include "base/str.h"

#define DIGITS "0123456789"
#define SECONDS_A_DAY 86400

size_t masked_date(const char *text, int64_t *ret_day)
{
	static const struct {
		size_t digits;
		int least, most;
	} parts[] = { { 4, 1970, 2999 }, { 2, 1, 12 }, { 2, 1, 31 } };
	int values[3];
	size_t at = 0;
	char between = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (i == 1 && text[at] && strchr("-_.", text[at]))
			between = text[at];
		if (i && between && text[at++] != between)
			return 0;
		values[i] = 0;
		for (size_t k = 0; k < parts[i].digits; k++) {
			if (!isdigit((unsigned char)text[at]))
				return 0;
			values[i] = values[i] * 10 + (text[at++] - '0');
		}
		if (values[i] < parts[i].least || values[i] > parts[i].most)
			return 0;
	}
	if (isdigit((unsigned char)text[at]))
		return 0;
	struct tm tm = { .tm_year = values[0] - 1900,
			 .tm_mon = values[1] - 1,
			 .tm_mday = values[2] };
	*ret_day = timegm(&tm) / SECONDS_A_DAY;
	return at;
}

bool masked_name(const char *root)
{
	size_t n = strlen(root);
	return strstr(root, MADE_UP_SHOWN) || strstr(root, MASK_PID) ||
	       strstr(root, MASK_DATE) ||
	       (n > 1 && !strcmp(root + n - 2, MASK_ANY)) ||
	       !strcmp(root, &MASK_ANY[1]);
}

const char *masked_long_number(const char *name, size_t *ret_n)
{
	for (const char *at = name; *at; at += *at != '\0') {
		size_t n = strspn(at, DIGITS);
		if (n >= MASK_LONG_NUMBER && n <= MASK_RANDOM_MAX) {
			*ret_n = n;
			return at;
		}
		at += n;
	}
	return NULL;
}

bool masked_fits(const char *masked, const char *path)
{
	while (*masked) {
		/* Any one name in the folder, and what is below. */
		if (!strcmp(masked, MASK_ANY))
			return path[0] == '/' && path[1];
		if (str_starts(masked, MADE_UP_SHOWN)) {
			size_t most = 0;
			while (most < MASK_RANDOM_MAX &&
			       (isalnum((unsigned char)path[most]) ||
				path[most] == '_'))
				most++;
			for (size_t n = MADE_UP; n <= most; n++) {
				if (masked_fits(masked + MADE_UP, path + n))
					return true;
			}
			return false;
		}
		if (str_starts(masked, MASK_PID) &&
		    isdigit((unsigned char)*path)) {
			path += strspn(path, DIGITS);
			masked += strlen(MASK_PID);
			continue;
		}
		int64_t day;
		size_t date = str_starts(masked, MASK_DATE)
				      ? masked_date(path, &day)
				      : 0;
		if (date) {
			path += date;
			masked += strlen(MASK_DATE);
			continue;
		}
		if (*masked != *path)
			return false;
		masked++;
		path++;
	}
	/* The same, or below. */
	return !*path || *path == '/';
}

/* ---- values ---- */

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 128;
}

/* The length of the number that @text begins with: sign, point, exponent. */
static size_t number_length(const char *text)
{
	size_t at = *text == '-' || *text == '+';
	if (!isdigit((unsigned char)text[at]))
		return 0;
	char *end;
	strtod(text, &end);
	size_t n = (size_t)(end - text);
	return is_word_byte(text[n]) ? 0 : n; /* "12ab" is a name */
}

/* A number, a word, or one byte between them. */
static size_t word_length(const char *text)
{
	size_t n = number_length(text);
	if (n)
		return n;
	while (is_word_byte(text[n]))
		n++;
	return n ? n : 1;
}

/* Words are those of both, one by one; false: they do not match. */
static struct err *mask_words(const char *text, const char *other,
			      struct str *ret, bool *ret_match)
{
	*ret_match = true;
	while (*text && *other) {
		size_t n = word_length(text), m = word_length(other);
		bool word = is_word_byte(text[n - 1]);
		if (n == m && !memcmp(text, other, n)) {
			TRY(str_append_n(ret, text, n));
		} else if (word && is_word_byte(other[m - 1])) {
			TRY(str_append(ret, MASK_DIFFERS));
		} else {
			break;
		}
		text += n;
		other += m;
	}
	*ret_match = !*text && !*other;
	return NULL;
}

/* What is left of them between the words at both ends that are equal. */
static struct err *mask_middle(const char *text, const char *other,
			       struct str *ret)
{
	size_t at = 0, end = strlen(text), other_end = strlen(other);
	while (text[at] && other[at]) {
		size_t n = word_length(text + at);
		if (n != word_length(other + at) ||
		    memcmp(text + at, other + at, n) != 0)
			break;
		at += n;
	}
	while (end > at && other_end > at &&
	       text[end - 1] == other[other_end - 1] &&
	       !is_word_byte(text[end - 1])) {
		end--;
		other_end--;
	}
	TRY(str_append_n(ret, text, at));
	TRY(str_append(ret, MASK_DIFFERS));
	return str_append(ret, text + end);
}

struct err *masked_differs(const char *text, const char *other, char **ret)
{
	_cleanup_(str_freep) struct str masked = STR_INIT;
	bool match = false;
	if (!strcmp(text, other)) {
		*ret = NULL;
		return NULL;
	}
	TRY(mask_words(text, other, &masked, &match));
	if (!match) {
		str_free(&masked);
		TRY(mask_middle(text, other, &masked));
	}
	*ret = str_take(&masked);
	return *ret ? NULL : err_nomem();
}

struct err *masked_replace(char **text, const char *other)
{
	char *masked = NULL;
	if (!*text || !other)
		return NULL;
	TRY(masked_differs(*text, other, &masked));
	if (!masked)
		return NULL;
	free(*text);
	*text = masked;
	return NULL;
}

#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void str_free(struct str *str)
{
	free(str->s);
	*str = (struct str)STR_INIT;
}

char *str_take(struct str *str)
{
	if (!str->s)
		return strdup("");
	str->n = str->cap = 0;
	return take_ptr(str->s);
}

static struct err *str_room(struct str *str, size_t more)
{
	return vec_grow_((void **)&str->s, &str->cap, str->n + more + 1, 1);
}

struct err *str_append_n(struct str *str, const char *text, size_t n)
{
	TRY(str_room(str, n));
	if (n)
		memcpy(str->s + str->n, text, n);
	str->n += n;
	str->s[str->n] = '\0';
	return NULL;
}

struct err *str_append(struct str *str, const char *text)
{
	return str_append_n(str, text, strlen(text));
}

struct err *str_appendf(struct str *str, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	int n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n < 0)
		return err_errno(errno, "cannot format '%s'", fmt);

	TRY(str_room(str, (size_t)n));
	va_start(args, fmt);
	vsnprintf(str->s + str->n, (size_t)n + 1, fmt, args);
	va_end(args);
	str->n += (size_t)n;
	return NULL;
}

struct err *str_format(char **ret, const char *fmt, ...)
{
	va_list args;
	char *text;
	va_start(args, fmt);
	int n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		return err_nomem();
	*ret = text;
	return NULL;
}

/* RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
size_t str_utf8_length(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	if (!n)
		return 0;
	if (p[0] < 0x80)
		return 1;

	size_t len;
	uint32_t c;
	if (p[0] >= 0xc2 && p[0] <= 0xdf) {
		len = 2;
		c = p[0] & 0x1f;
	} else if ((p[0] & 0xf0) == 0xe0) {
		len = 3;
		c = p[0] & 0x0f;
	} else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		len = 4;
		c = p[0] & 0x07;
	} else {
		return 0;
	}
	if (n < len)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if ((len == 3 && c < 0x800) || (len == 4 && c < 0x10000) ||
	    (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
		return 0;
	return len;
}

uint32_t str_code_point(const char *text, size_t length)
{
	const unsigned char *p = (const unsigned char *)text;
	uint32_t c = length > 1 ? p[0] & (0x7fu >> length) : p[0];
	for (size_t i = 1; i < length; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

bool str_misleads(const char *text, size_t length)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x7f, 0x9f },	      /* DEL, C1 */
		{ 0x61c, 0x61c },     /* direction */
		{ 0x200e, 0x200f },   /* direction */
		{ 0x2028, 0x202e },   /* ends of lines, direction */
		{ 0x2066, 0x206f },   /* direction, deprecated ones */
		{ 0xfeff, 0xfeff },   /* byte order mark */
		{ 0xfff9, 0xfffb },   /* annotations */
		{ 0xe0000, 0xe007f }, /* tags */
	};
	uint32_t c = str_code_point(text, length);
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		if (c >= ranges[i].first && c <= ranges[i].last)
			return length;
	}
	return false;
}

static struct err *append_clean(struct str *str, const char *text, size_t n,
				bool controls_too)
{
	for (size_t i = 0; i < n;) {
		size_t plain = i;
		while (plain < n && text[plain] >= ' ' && text[plain] <= '~')
			plain++;
		if (plain > i) {
			TRY(str_append_n(str, text + i, plain - i));
			i = plain;
			continue;
		}
		unsigned char c = (unsigned char)text[i];
		size_t len = str_utf8_length(text + i, n - i);
		bool control = c < 0x20 || str_misleads(text + i, len);
		if (len && !(control && controls_too)) {
			TRY(str_append_n(str, text + i, len));
			i += len;
			continue;
		}
		if (c == '\n')
			TRY(str_append(str, "\\n"));
		else if (c == '\t')
			TRY(str_append(str, "\\t"));
		for (size_t j = 0; c != '\n' && c != '\t' && j < MAX(len, 1UL);
		     j++)
			TRY(str_appendf(str, "\\x%02x",
					(unsigned char)text[i + j]));
		i += MAX(len, 1UL);
	}
	return n ? NULL : str_append_n(str, "", 0);
}

struct err *str_append_escaped(struct str *str, const char *text, size_t n)
{
	return append_clean(str, text, n, true);
}

struct err *str_append_utf8(struct str *str, const char *text, size_t n)
{
	return append_clean(str, text, n, false);
}

char *str_escape(const char *text)
{
	_cleanup_(str_freep) struct str str = STR_INIT;
	struct err *err = str_append_escaped(&str, text, strlen(text));
	if (err) {
		err_destroy(err);
		return NULL;
	}
	return str_take(&str);
}

char *str_utf8(const char *text, size_t n)
{
	_cleanup_(str_freep) struct str str = STR_INIT;
	struct err *err = str_append_utf8(&str, text, n);
	if (err) {
		err_destroy(err);
		return NULL;
	}
	return str_take(&str);
}

bool str_starts(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

bool str_ends(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);
	return n >= m && !memcmp(text + n - m, suffix, m);
}

bool str_glob(const char *pattern, const char *text)
{
	return fnmatch(pattern, text, 0) == 0;
}

bool str_to_u64(const char *text, int base, uint64_t *ret)
{
	if (*text < '0' || *text > 'z' || *text == '-' || *text == '+')
		return false;
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, base);
	if (errno || end == text || *end)
		return false;
	*ret = value;
	return true;
}

bool str_made_up(const char *text)
{
	bool lower = false, upper = false, digit = false;
	for (size_t i = 0; i < MADE_UP; i++) {
		lower |= islower((unsigned char)text[i]) != 0;
		upper |= isupper((unsigned char)text[i]) != 0;
		digit |= isdigit((unsigned char)text[i]) != 0;
	}
	return lower + upper + digit >= 2;
}

struct err *str_copy(const char *text, char **ret)
{
	char *copy = text ? strdup(text) : NULL;
	if (text && !copy)
		return err_nomem();
	*ret = copy;
	return NULL;
}

struct err *str_append_pattern(struct str *str, const char *text)
{
	for (const char *c = text; *c; c++) {
		if (strchr("*?[]\\!", *c))
			TRY(str_append(str, "\\"));
		TRY(str_append_n(str, c, 1));
	}
	return NULL;
}

struct err *str_append_shell(struct str *str, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-+=./:,@%";
	if (*word && word[strspn(word, safe)] == '\0')
		return str_append(str, word);
	TRY(str_append(str, "'"));
	for (const char *c = word; *c; c++)
		TRY(*c == '\'' ? str_append(str, "'\\''")
			       : str_append_n(str, c, 1));
	return str_append(str, "'");
}

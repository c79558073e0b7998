/*
 * Growable text, and the questions asked of text everywhere.
 *
 * A struct str is always NUL-terminated once something was appended; s is NULL
 * before. It may hold NUL bytes inside (n counts).
 *
 * Text of the tested program is hostile: before it reaches a terminal or a log
 * it goes through str_append_escaped(), before it reaches JSON through
 * str_append_utf8().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct str {
	char *s;
	size_t n;
	size_t cap;
};

#define STR_INIT                                                               \
	{                                                                      \
	}

void str_free(struct str *str);
static inline void str_freep(struct str *str)
{
	str_free(str);
}
/* Hands over the text ("" if nothing was appended); NULL: out of memory. */
char *str_take(struct str *str);

struct err *str_append(struct str *str, const char *text) _must_check_;
struct err *str_append_n(struct str *str, const char *text,
			 size_t n) _must_check_;
struct err *str_appendf(struct str *str, const char *fmt, ...)
	_printf_(2, 3) _must_check_;

/* A new string. */
struct err *str_format(char **ret, const char *fmt, ...)
	_printf_(2, 3) _must_check_;
/* A copy of @text; NULL stays NULL. */
struct err *str_copy(const char *text, char **ret) _must_check_;

/*
 * Control characters, others that mislead, and bytes that are not UTF-8 as \n,
 * \t, \xNN.
 */
struct err *str_append_escaped(struct str *str, const char *text,
			       size_t n) _must_check_;
/* Bytes that are not UTF-8 as \xNN, everything else as it is. */
struct err *str_append_utf8(struct str *str, const char *text,
			    size_t n) _must_check_;

/* The same as new strings; NULL: out of memory. */
char *str_escape(const char *text);
char *str_utf8(const char *text, size_t n);

/* Length of the valid UTF-8 sequence at @text, 0 if there is none. */
size_t str_utf8_length(const char *text, size_t n);

/* The character that such a sequence stands for. */
uint32_t str_code_point(const char *text, size_t length);
/*
 * Is this character, of @length bytes of UTF-8, one that makes a terminal or a
 * reader see something else: DEL, the C1 controls (U+009B begins a control
 * sequence), what changes the direction of writing (U+202E) or is not seen?
 */
bool str_misleads(const char *text, size_t length);

bool str_starts(const char *text, const char *prefix);
bool str_ends(const char *text, const char *suffix);
/* Shell glob over the whole name: '*' and '?' also match '/' and '.'. */
bool str_glob(const char *pattern, const char *text);
/* @text as a pattern for --tests and str_glob() that matches nothing else. */
struct err *str_append_pattern(struct str *str, const char *text) _must_check_;
/* A word for a shell: quoted where that is needed. */
struct err *str_append_shell(struct str *str, const char *word) _must_check_;

/* Whole-string numbers; false where it is not one or does not fit. */
bool str_to_u64(const char *text, int base, uint64_t *ret);

/*
 * Names that mkstemp(3) and the like complete: this many letters and digits are
 * random, and shown as this. Do these look random? At least two kinds of
 * characters must occur.
 */
#define MADE_UP 6
#define MADE_UP_SHOWN "XXXXXX"
bool str_made_up(const char *text);

#include "native/verdict_text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"

/* Lines that are looked at, of each text. */
#define LINES_MAX 4096

struct text_line {
	const char *text;
	size_t n;
};

struct text_lines {
	struct text_line all[LINES_MAX];
	size_t n;
};

static void text_lines_split(const char *text, struct text_lines *ret)
{
	ret->n = 0;
	while (*text && ret->n < LINES_MAX) {
		size_t n = strcspn(text, "\n");
		ret->all[ret->n++] = (struct text_line){ text, n };
		text += n + (text[n] == '\n');
	}
}

static bool text_line_same(struct text_line a, struct text_line b)
{
	return a.n == b.n && !memcmp(a.text, b.text, a.n);
}

static size_t text_digits(struct text_line line, size_t at)
{
	size_t n = 0;
	while (at + n < line.n && isdigit((unsigned char)line.text[at + n]))
		n++;
	return n;
}

/*
 * Are the two the same but for their numbers? Then *@ret is where the first
 * that differs is, in @b.
 */
static bool text_line_alike(struct text_line a, struct text_line b, size_t *ret)
{
	size_t i = 0, j = 0;
	bool differ = false;
	while (i < a.n && j < b.n) {
		size_t n = text_digits(a, i), m = text_digits(b, j);
		if (!n != !m)
			return false;
		if (!n && a.text[i] != b.text[j])
			return false;
		if (n && !differ &&
		    (n != m || memcmp(a.text + i, b.text + j, n) != 0)) {
			differ = true;
			*ret = j;
		}
		i += n ? n : 1;
		j += m ? m : 1;
	}
	return i == a.n && j == b.n && differ;
}

/* ---- words ---- */

static bool text_is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool text_word_is(const char *word, size_t n, const char *const *list)
{
	for (; *list; list++) {
		if (strlen(*list) == n && !strncasecmp(*list, word, n))
			return true;
	}
	return false;
}

static const char *const failed_words[] = {
	"fail", "failed", "fails", "failure", "failures", "failing", NULL,
};
/* With a number they are counted; without they are in many texts. */
static const char *const counted_words[] = {
	"error", "errors", "broken", "bad", "wrong", "incorrect", NULL,
};
/* "2 tests failed", "failed checks: 2". */
static const char *const unit_words[] = {
	"test",	 "tests",  "check",	"checks",     "case",  "cases",
	"suite", "suites", "assertion", "assertions", "count", "total",
	"unit",	 "have",   "has",	"were",	      "was",   NULL,
};
static const char *const negations[] = { "no", "zero", "without", "0", NULL };

static bool text_speaks_of_failure(const char *word, size_t n)
{
	return text_word_is(word, n, failed_words) ||
	       text_word_is(word, n, counted_words);
}

/* "run 1 failed 0": numbers follow their words. */
static bool text_names_before(struct text_line line, size_t at)
{
	while (at && strchr(" :=", line.text[at - 1]))
		at--;
	return at && text_is_word_char(line.text[at - 1]);
}

/* After the number: "1 failed", "1/7 tests failed", not "run: 1 failed: 0". */
static bool text_counts_after(struct text_line line, size_t at)
{
	bool named = text_names_before(line, at);
	at += text_digits(line, at);
	for (;;) {
		while (at < line.n && line.text[at] == ' ')
			at++;
		size_t of =
			line.n - at >= 3 && !memcmp(line.text + at, "of ", 3)
				? 3
				: at < line.n && line.text[at] == '/';
		if (of) {
			at += of;
			while (at < line.n && line.text[at] == ' ')
				at++;
			at += text_digits(line, at);
			continue;
		}
		size_t n = 0;
		while (at + n < line.n && text_is_word_char(line.text[at + n]))
			n++;
		if (!n)
			return false;
		const char *word = line.text + at;
		at += n;
		if (text_word_is(word, n, unit_words))
			continue;
		while (at < line.n && line.text[at] == ' ')
			at++;
		bool next = at < line.n &&
			    (line.text[at] == ':' || line.text[at] == '=' ||
			     (named && text_digits(line, at)));
		return !next && text_speaks_of_failure(word, n);
	}
}

/* Before it: "failed: 1", "Tests failed = 1", "failed tests (1". */
static bool text_counts_before(struct text_line line, size_t at)
{
	for (;;) {
		while (at && strchr(" :=(#\t", line.text[at - 1]))
			at--;
		size_t n = 0;
		while (n < at && text_is_word_char(line.text[at - n - 1]))
			n++;
		const char *word = line.text + at - n;
		if (!n)
			return false;
		if (!text_word_is(word, n, unit_words))
			return text_speaks_of_failure(word, n);
		at -= n;
	}
}

/* Is the number at @at that of failures? */
static bool text_counts_failures(struct text_line line, size_t at)
{
	size_t before = at;
	while (before && line.text[before - 1] == ' ')
		before--;
	/* The whole of which some failed. */
	if (before &&
	    (line.text[before - 1] == '/' ||
	     (before >= 2 && !memcmp(line.text + before - 2, "of", 2))))
		return false;
	return text_counts_after(line, at) || text_counts_before(line, at);
}

/* "failed: 0" */
static bool text_is_zero(struct text_line line, size_t at)
{
	while (at < line.n && strchr(" :=(#\t", line.text[at]))
		at++;
	size_t n = text_digits(line, at);
	return n == 1 && line.text[at] == '0';
}

/* Does it say by itself that something failed: "FAIL: name", "not ok 3"? */
static bool text_line_fails(struct text_line line)
{
	const char *last = NULL;
	size_t last_n = 0;
	for (size_t at = 0; at < line.n;) {
		size_t n = 0;
		while (at + n < line.n && text_is_word_char(line.text[at + n]))
			n++;
		const char *word = line.text + at;
		if (n && text_word_is(word, n, failed_words) &&
		    !(last && text_word_is(last, last_n, negations)) &&
		    !text_is_zero(line, at + n))
			return true;
		if (n == 2 && !strncasecmp(word, "ok", 2) && last_n == 3 &&
		    !strncasecmp(last, "not", 3))
			return true;
		if (n && !text_word_is(word, n, unit_words)) {
			last = word;
			last_n = n;
		}
		at += n ? n : 1;
	}
	return false;
}

static bool text_has_line(const struct text_lines *lines, struct text_line line)
{
	for (size_t i = 0; i < lines->n; i++) {
		if (text_line_same(lines->all[i], line))
			return true;
	}
	return false;
}

bool verdict_text_fails(const char *before, const char *after)
{
	static struct text_lines was, is;
	text_lines_split(before, &was);
	text_lines_split(after, &is);
	for (size_t i = 0; i < is.n; i++) {
		struct text_line line = is.all[i];
		bool counterpart = false;
		if (text_has_line(&was, line))
			continue;
		for (size_t j = 0; j < was.n && !counterpart; j++) {
			size_t at = 0;
			if (text_has_line(&is, was.all[j]) ||
			    !text_line_alike(was.all[j], line, &at))
				continue;
			counterpart = true;
			if (text_counts_failures(line, at))
				return true;
		}
		if (!counterpart && text_line_fails(line))
			return true;
	}
	return false;
}

bool verdict_text_counts(const char *before, const char *after)
{
	const struct text_line a = { before, strlen(before) };
	const struct text_line b = { after, strlen(after) };
	size_t at;
	return text_line_alike(a, b, &at);
}

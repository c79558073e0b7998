#include "repair/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"

#define SOURCE_BYTES_MAX ((size_t)8 << 20)
#define STATEMENTS_MAX 500

/* ---- reading ---- */

static bool is_cxx_name(const char *path)
{
	static const char *const ends[] = { ".cc",  ".cpp", ".cxx", ".C",
					    ".c++", ".hpp", ".hh",  ".hxx" };
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		if (str_ends(path, ends[i]))
			return true;
	}
	return false;
}

/* The end of the comment or literal that begins at @at; @at: none does. */
static size_t literal_end(const char *s, size_t n, size_t at)
{
	if (s[at] == '/' && at + 1 < n && s[at + 1] == '/') {
		while (at < n && s[at] != '\n')
			at += s[at] == '\\' && at + 1 < n ? 2 : 1;
		return MIN(at, n);
	}
	if (s[at] == '/' && at + 1 < n && s[at + 1] == '*') {
		const char *end = strstr(s + at + 2, "*/");
		return end ? (size_t)(end - s) + 2 : n;
	}
	/* 1'000'000 */
	if (s[at] == '\'' && at && isxdigit((unsigned char)s[at - 1]))
		return at;
	if (s[at] != '"' && s[at] != '\'')
		return at;
	if (s[at] == '"' && at && s[at - 1] == 'R' &&
	    (at < 2 || !source_is_word(s[at - 2]) ||
	     strchr("uUL8", s[at - 2]))) {
		size_t open = at + 1;
		while (open < n && s[open] != '(' && open - at < 18)
			open++;
		char end[24] = ")";
		memcpy(end + 1, s + at + 1, open - at - 1);
		end[open - at] = '"';
		const char *found = strstr(s + open, end);
		return found ? (size_t)(found - s) + strlen(end) : n;
	}
	char quote = s[at++];
	while (at < n && s[at] != quote && s[at] != '\n')
		at += s[at] == '\\' ? 2 : 1;
	return MIN(at + 1, n);
}

static void make_plain(struct source_file *source)
{
	const char *s = source->text;
	for (size_t i = 0; i < source->n;) {
		size_t end = literal_end(s, source->n, i);
		if (end == i) {
			source->plain[i] = s[i];
			i++;
			continue;
		}
		char with = s[i] == '/' ? ' ' : s[i];
		for (; i < end; i++)
			source->plain[i] = s[i] == '\n' ? '\n' : with;
	}
	source->plain[source->n] = '\0';
}

struct err *source_take(const char *path, const char *text, size_t n,
			struct source_file *ret)
{
	_cleanup_(source_freep) struct source_file source = {
		.n = n,
		.cxx = is_cxx_name(path),
	};
	source.text = strndup(text, n);
	source.plain = malloc(n + 1);
	source.path = strdup(path);
	if (!source.text || !source.plain || !source.path)
		return err_nomem();
	make_plain(&source);
	TRY(vec_push(&source.lines, 0));
	for (size_t i = 0; i + 1 < n; i++) {
		if (text[i] == '\n')
			TRY(vec_push(&source.lines, i + 1));
	}
	*ret = source;
	source = (struct source_file){};
	return NULL;
}

struct err *source_read(const char *path, struct source_file *ret)
{
	_cleanup_(freep) char *text = NULL;
	size_t n = 0;
	TRY(file_read(path, SOURCE_BYTES_MAX, &text, &n));
	if (strlen(text) != n)
		return err_create(ERR_SUITE, "'%s' is not a text", path);
	return source_take(path, text, n, ret);
}

void source_free(struct source_file *source)
{
	free(source->path);
	free(source->text);
	free(source->plain);
	vec_free(&source->lines);
	*source = (struct source_file){};
}

size_t source_line(const struct source_file *source, size_t at)
{
	size_t low = 0, high = source->lines.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (source->lines.data[middle] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : 0;
}

/* ---- structure ---- */

size_t source_skip_group(const struct source_file *source, size_t at,
			 size_t end)
{
	int depth = 0;
	for (; at < end; at++) {
		char c = source->plain[at];
		if (c == '(' || c == '{' || c == '[')
			depth++;
		else if (c == ')' || c == '}' || c == ']')
			depth--;
		if (depth <= 0)
			return at + 1;
	}
	return end;
}

bool source_body(const struct source_file *source, unsigned line,
		 struct source_span *ret)
{
	if (!line || line > source->lines.n)
		return false;
	size_t at = source->lines.data[line - 1];
	for (; at < source->n; at++) {
		char c = source->plain[at];
		if (c == '(') {
			at = source_skip_group(source, at, source->n) - 1;
		} else if (c == ';') {
			return false;
		} else if (c == '{') {
			size_t end = source_skip_group(source, at, source->n);
			ret->from = at + 1;
			ret->to = end - 1;
			return end > at + 1 && source->plain[end - 1] == '}';
		}
	}
	return false;
}

static size_t skip_space(const struct source_file *source, size_t at,
			 size_t end)
{
	while (at < end && isspace((unsigned char)source->plain[at]))
		at++;
	return at;
}

static bool word_at(const struct source_file *source, size_t at,
		    const char *word)
{
	size_t n = strlen(word);
	return at + n <= source->n && !strncmp(source->plain + at, word, n) &&
	       !source_is_word(source->plain[at + n]) &&
	       (!at || !source_is_word(source->plain[at - 1]));
}

static size_t statement_end(const struct source_file *source, size_t at,
			    size_t end);

/* if (…) …, for (…) …, else …, with what they control. */
static size_t control_end(const struct source_file *source, size_t at,
			  size_t end)
{
	size_t open = at;
	while (open < end && source_is_word(source->plain[open]))
		open++;
	open = skip_space(source, open, end);
	if (open < end && source->plain[open] == '(')
		open = skip_space(source, source_skip_group(source, open, end),
				  end);
	size_t next = statement_end(source, open, end);
	size_t after = skip_space(source, next, end);
	bool more =
		word_at(source, at, "if")    ? word_at(source, after, "else")
		: word_at(source, at, "try") ? word_at(source, after, "catch")
		: word_at(source, at, "do")  ? word_at(source, after, "while")
					     : false;
	return more ? control_end(source, after, end) : next;
}

static size_t statement_end(const struct source_file *source, size_t at,
			    size_t end)
{
	static const char *const controls[] = {
		"if", "for", "while", "switch", "do", "else", "try", "catch"
	};
	at = skip_space(source, at, end);
	for (size_t i = 0; i < ARRAY_SIZE(controls); i++) {
		if (word_at(source, at, controls[i]))
			return control_end(source, at, end);
	}
	if (at < end && source->plain[at] == '{')
		return source_skip_group(source, at, end);
	while (at < end && source->plain[at] != ';') {
		char c = source->plain[at];
		at = c == '(' || c == '{' || c == '['
			     ? source_skip_group(source, at, end)
			     : at + 1;
		/* A macro with a block and no semicolon: SECTION("x") {…} */
		if (c == '{') {
			size_t next = skip_space(source, at, end);
			if (next >= end || (source->plain[next] != ';' &&
					    source->plain[next] != '.' &&
					    source->plain[next] != ',' &&
					    source->plain[next] != '('))
				return at;
		}
	}
	return MIN(at + 1, end);
}

struct err *source_statements(const struct source_file *source,
			      struct source_span body, struct source_spans *ret)
{
	size_t at = skip_space(source, body.from, body.to);
	while (at < body.to && ret->n < STATEMENTS_MAX) {
		if (source->plain[at] == '#') {
			at = source->lines.data[MIN(source_line(source, at) + 1,
						    source->lines.n - 1)];
			if (at < body.from)
				break;
			at = skip_space(source, at, body.to);
			continue;
		}
		size_t end = statement_end(source, at, body.to);
		TRY(vec_push(ret, (struct source_span){ at, end }));
		at = skip_space(source, MAX(end, at + 1), body.to);
	}
	return NULL;
}

/* "type name", "struct x *p = …": a word follows a word or stars. */
bool source_is_declaration(const struct source_file *source,
			   struct source_span statement)
{
	static const char *const others[] = { "return", "goto",	 "delete",
					      "throw",	"case",	 "else",
					      "do",	"using", "co_await" };
	size_t at = statement.from, words = 0;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (word_at(source, at, others[i]))
			return false;
	}
	while (at < statement.to) {
		at = skip_space(source, at, statement.to);
		char c = source->plain[at];
		if (source_is_word(c)) {
			words++;
			while (at < statement.to &&
			       source_is_word(source->plain[at]))
				at++;
		} else if ((c == '*' || c == '&') && words) {
			at++;
		} else if (c == '<' && words == 1) {
			while (at < statement.to && source->plain[at] != '>')
				at++;
			at++;
		} else if (c == ':' && source->plain[at + 1] == ':') {
			at += 2;
			words -= words > 0;
		} else {
			break;
		}
	}
	return words >= 2;
}

char *source_flat(const struct source_file *source, struct source_span span)
{
	_cleanup_(str_freep) struct str flat = STR_INIT;
	bool blank = false;
	for (size_t i = span.from; i < span.to; i++) {
		bool comment =
			source->text[i] != ' ' && source->plain[i] == ' ';
		if (comment || isspace((unsigned char)source->plain[i])) {
			blank = flat.n > 0;
			continue;
		}
		struct err *err = blank ? str_append(&flat, " ") : NULL;
		if (!err)
			err = str_append_n(&flat, source->text + i, 1);
		if (err) {
			err_destroy(err);
			return NULL;
		}
		blank = false;
		/* A literal as it is. */
		if (source->plain[i] == '"' || source->plain[i] == '\'') {
			size_t end = literal_end(source->text, source->n, i);
			err = str_append_n(&flat, source->text + i + 1,
					   end - i - 1);
			i = end - 1;
			if (err) {
				err_destroy(err);
				return NULL;
			}
		}
	}
	return str_take(&flat);
}

struct err *source_inner_calls(const struct source_file *source,
			       struct source_span statement, struct strv *ret)
{
	size_t open = statement.from;
	while (open < statement.to && source->plain[open] != '(')
		open++;
	for (size_t at = open + 1; at + 1 < statement.to; at++) {
		char c = source->plain[at];
		if (!(isalpha((unsigned char)c) || c == '_') ||
		    source_is_word(source->plain[at - 1]))
			continue;
		size_t end = at;
		while (end < statement.to &&
		       (source_is_word(source->plain[end]) ||
			strchr(":.", source->plain[end]) ||
			(source->plain[end] == '-' &&
			 source->plain[end + 1] == '>') ||
			(source->plain[end] == '>' &&
			 source->plain[end - 1] == '-')))
			end++;
		if (end >= statement.to || source->plain[end] != '(')
			continue;
		end = source_skip_group(source, end, statement.to);
		while (end < statement.to &&
		       (source->plain[end] == '.' ||
			(source->plain[end] == '-' &&
			 source->plain[end + 1] == '>'))) {
			while (end < statement.to && source->plain[end] != '(')
				end++;
			if (end < statement.to)
				end = source_skip_group(source, end,
							statement.to);
		}
		TRY(strv_take(ret, source_flat(source, (struct source_span){
							       at, end })));
		at = end;
	}
	return NULL;
}

/* ---- literals ---- */

static bool strv_has(const struct strv *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++) {
		if (!strcmp(list->data[i], text))
			return true;
	}
	return false;
}

static struct err *add_once(struct strv *list, char *text)
{
	if (text && strv_has(list, text)) {
		free(text);
		return NULL;
	}
	return strv_take(list, text);
}

struct err *source_literals(const struct source_file *source,
			    struct source_span span, struct strv *texts,
			    struct strv *numbers)
{
	const char *s = source->plain;
	for (size_t at = span.from; at < span.to; at++) {
		size_t end = at;
		if (s[at] == '"') {
			end = literal_end(source->text, source->n, at);
			TRY(add_once(texts,
				     strndup(source->text + at, end - at)));
		} else if (isdigit((unsigned char)s[at]) &&
			   !source_is_word(s[at - 1])) {
			while (end < span.to &&
			       (source_is_word(s[end]) || s[end] == '.'))
				end++;
			size_t from = at;
			if (at && s[at - 1] == '-' && at >= 2 &&
			    strchr("(,= ", s[at - 2]))
				from--;
			TRY(add_once(numbers,
				     strndup(source->text + from, end - from)));
		}
		at = MAX(end, at + 1) - 1;
	}
	return NULL;
}

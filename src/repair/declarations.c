/* What a file declares, for a file that is to call the same functions. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "repair/source.h"

/* Headers that make tests: slow to compile, and no test is to be made. */
static const char *const frameworks[] = {
	"gtest/",      "gmock/",	  "catch2/",  "catch.hpp", "doctest",
	"boost/test/", "check.h",	  "cmocka.h", "unity.h",   "CUnit/",
	"CppUTest",    "criterion/",	  "munit.h",  "utest.h",   "greatest.h",
	"acutest.h",   "tinytest",	  "clar.h",   "clar_",	   "QtTest",
	"QTest",       "unity_fixture.h",
};

static bool is_framework_include(const char *line)
{
	const char *at = line + 1;
	while (isspace((unsigned char)*at))
		at++;
	if (!str_starts(at, "include"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(frameworks); i++) {
		if (strstr(at, frameworks[i]))
			return true;
	}
	return false;
}

static size_t line_end(const struct source_file *source, size_t at)
{
	while (at < source->n && source->text[at] != '\n')
		at++;
	return at;
}

/* A preprocessor line with those that continue it, as one. */
static struct err *add_directive(const struct source_file *source, size_t *at,
				 struct strv *ret)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	bool more = true;
	while (more && *at < source->n) {
		size_t end = line_end(source, *at), stop = end;
		more = stop > *at && source->text[stop - 1] == '\\';
		TRY(str_append_n(&line, source->text + *at, stop - *at - more));
		*at = MIN(end + 1, source->n);
	}
	if (is_framework_include(line.s ? line.s : "#"))
		return NULL;
	return strv_take(ret, str_take(&line));
}

static bool begins_with(const char *text, const char *word)
{
	size_t n = strlen(word);
	return !strncmp(text, word, n) && !isalnum((unsigned char)text[n]) &&
	       text[n] != '_';
}

/* Without "static" and what stands before it that a declaration may not have. */
static const char *skip_storage(const char *text)
{
	static const char *const words[] = { "static", "inline", "extern",
					     "constexpr" };
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			if (begins_with(text, words[i])) {
				text += strlen(words[i]);
				text += strspn(text, " ");
				again = true;
			}
		}
	}
	return text;
}

/* "void f(int a)" has two words before its bracket, TEST(a, b) only one. */
static bool is_function_head(const char *head)
{
	size_t words = 0;
	for (const char *at = head; *at && *at != '('; at++) {
		bool word = isalnum((unsigned char)*at) || *at == '_';
		bool before = at > head && (isalnum((unsigned char)at[-1]) ||
					    at[-1] == '_' || at[-1] == ':');
		words += word && !before;
	}
	return words >= 2 && strchr(head, '(') && !strchr(head, '=') &&
	       !strstr(head, "::");
}

static struct err *add_definition_head(const char *flat, struct strv *ret)
{
	_cleanup_(freep) char *head = strdup(flat);
	if (!head)
		return err_nomem();
	char *brace = strchr(head, '{');
	if (brace)
		*brace = '\0';
	size_t n = strlen(head);
	while (n && head[n - 1] == ' ')
		head[--n] = '\0';
	const char *plain = skip_storage(head);
	return is_function_head(plain) ? strv_addf(ret, "%s;", plain) : NULL;
}

/* "static int x[2] = {1, 2};" is elsewhere: "extern int x[2];" */
static struct err *add_variable_head(const char *flat, struct strv *ret)
{
	_cleanup_(freep) char *head = strdup(skip_storage(flat));
	if (!head)
		return err_nomem();
	head[strcspn(head, "={;")] = '\0';
	size_t n = strlen(head);
	while (n && head[n - 1] == ' ')
		head[--n] = '\0';
	return strchr(head, ' ') || strchr(head, '*')
		       ? strv_addf(ret, "extern %s;", head)
		       : NULL;
}

static struct err *add_item(const struct source_file *source,
			    struct source_span span, struct strv *ret)
{
	static const char *const whole[] = { "typedef",	     "using",
					     "template",     "class",
					     "enum",	     "_Static_assert",
					     "static_assert" };
	_cleanup_(freep) char *flat = source_flat(source, span);
	if (!flat)
		return err_nomem();
	size_t n = strlen(flat);
	bool closed = n && flat[n - 1] == ';';
	bool braces = strchr(flat, '{');
	if (!n || str_starts(flat, "extern \""))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		if (begins_with(flat, whole[i]))
			return strv_add(ret, flat);
	}
	/* A struct's definition, not a variable or function of one. */
	if ((begins_with(flat, "struct") || begins_with(flat, "union")) &&
	    closed && (!braces || str_ends(flat, "};")) && !strchr(flat, '='))
		return strv_add(ret, flat);
	if (!closed)
		return add_definition_head(flat, ret);
	size_t paren = strcspn(flat, "("), equals = strcspn(flat, "={");
	if (paren < equals && is_function_head(skip_storage(flat))) {
		const char *plain = skip_storage(flat);
		return strv_add(ret, plain);
	}
	if (paren < equals)
		return NULL; /* a macro's */
	return add_variable_head(flat, ret);
}

/* The brace of "namespace x {" or of "extern "C" {"; 0: it is neither. */
static size_t scope_brace(const struct source_file *source, size_t at)
{
	const char *plain = source->plain + at;
	if (begins_with(plain, "inline"))
		plain += strlen("inline") + strspn(plain + 6, " \t\n");
	if (!begins_with(plain, "namespace") &&
	    !(begins_with(plain, "extern") &&
	      strchr("\"", plain[6 + strspn(plain + 6, " \t")])))
		return 0;
	size_t n = strcspn(plain, "{;=(");
	return plain[n] == '{' ? (size_t)(plain - source->plain) + n : 0;
}

/* From @at to the end of what stands at the top level there. */
static size_t item_end(const struct source_file *source, size_t at)
{
	int depth = 0;
	bool equals = false, record = false, bracket = false;
	size_t begin = at;
	for (; at < source->n; at++) {
		char c = source->plain[at];
		if (c == '{' && !depth) {
			record = begins_with(source->plain + begin, "struct") ||
				 begins_with(source->plain + begin, "class") ||
				 begins_with(source->plain + begin, "union") ||
				 begins_with(source->plain + begin, "enum") ||
				 begins_with(source->plain + begin, "typedef");
			/* Without a bracket it is no function: "x y{1};" */
			record = equals ||
				 (!bracket &&
				  (record || !scope_brace(source, begin)));
		}
		depth += c == '{' || c == '(' || c == '[';
		depth -= c == '}' || c == ')' || c == ']';
		bracket |= c == '(';
		equals |= c == '=' && !depth;
		if ((c == ';' && depth <= 0) ||
		    (c == '}' && depth <= 0 && !record))
			return at + 1;
	}
	return source->n;
}

/* What stands around an item: "namespace a { namespace b { ", and " } }". */
struct item_scope {
	const char *before, *after;
	int depth;
};

/* Deeper ones are left out. */
#define SCOPES_MAX 20

/* Those of @items, each in its scope. */
static struct err *add_scoped(const struct item_scope *scope,
			      const struct strv *items, struct strv *ret)
{
	for (size_t i = 0; i < items->n; i++) {
		bool include = str_starts(items->data[i], "#");
		if (include && !strstr(items->data[i], "include"))
			TRY(strv_add(ret, items->data[i]));
		else
			TRY(strv_addf(ret, "%s%s%s%s%s", scope->before,
				      include && *scope->before ? "\n" : "",
				      items->data[i],
				      include && *scope->before ? "\n" : "",
				      scope->after));
	}
	return NULL;
}

static struct err *declare_items(const struct source_file *source,
				 struct source_span span,
				 const struct item_scope *scope,
				 struct strv *ret);

/* What is in it, with its head in front of each. */
static struct err *declare_scope(const struct source_file *source, size_t at,
				 size_t brace, size_t end,
				 const struct item_scope *outer,
				 struct strv *ret)
{
	_cleanup_(freep) char *head =
		source_flat(source, (struct source_span){ at, brace });
	_cleanup_(freep) char *before = NULL, *after = NULL;
	if (!head)
		return err_nomem();
	/* What has no name is as good as static: routines_find_static(). */
	bool unnamed = !strcmp(head, "namespace");
	TRY(str_format(&before, "%s%s%s", outer->before, unnamed ? "" : head,
		       unnamed ? "" : " { "));
	TRY(str_format(&after, "%s%s", unnamed ? "" : " }", outer->after));
	const struct item_scope scope = { before, after, outer->depth + 1 };
	if (scope.depth > SCOPES_MAX)
		return NULL;
	TRY(declare_items(
		source,
		(struct source_span){ brace + 1, MAX(end, brace + 2) - 1 },
		&scope, ret));
	/* A test in it says its names without it. */
	if (unnamed || !str_starts(head, "namespace"))
		return NULL;
	return strv_addf(ret, "%susing %s;%s", outer->before, head,
			 outer->after);
}

static struct err *declare_items(const struct source_file *source,
				 struct source_span span,
				 const struct item_scope *scope,
				 struct strv *ret)
{
	size_t at = span.from;
	while (at < span.to) {
		_cleanup_(strv_freep) struct strv items = {};
		while (at < span.to &&
		       (isspace((unsigned char)source->plain[at]) ||
			source->plain[at] == ';'))
			at++;
		if (at >= span.to)
			break;
		if (source->plain[at] == '#') {
			TRY(add_directive(source, &at, &items));
			TRY(add_scoped(scope, &items, ret));
			continue;
		}
		size_t end = MIN(item_end(source, at), span.to);
		size_t brace = scope_brace(source, at);
		if (brace && brace < end) {
			TRY(declare_scope(source, at, brace, end, scope, ret));
			at = end;
			continue;
		}
		/* Directives in the middle of it end it. */
		size_t hash = at;
		while (hash < end && !(source->plain[hash] == '\n' &&
				       source->plain[hash + 1] == '#'))
			hash++;
		struct source_span item = { at, MIN(end, hash) };
		if (hash >= end || !memchr(source->plain + at, '{', hash - at))
			TRY(add_item(source, item, &items));
		else
			item.to = end;
		TRY(add_scoped(scope, &items, ret));
		at = MAX(item.to, at + 1);
	}
	return NULL;
}

struct err *source_declarations(const struct source_file *source,
				struct strv *ret)
{
	static const struct item_scope none = { "", "", 0 };
	return declare_items(source, (struct source_span){ 0, source->n },
			     &none, ret);
}

static size_t find_item(const struct source_file *source,
			struct source_span span, size_t wanted, int depth)
{
	size_t at = span.from;
	while (at < span.to && at <= wanted) {
		if (isspace((unsigned char)source->plain[at]) ||
		    source->plain[at] == ';') {
			at++;
			continue;
		}
		if (source->plain[at] == '#') {
			bool more = true;
			while (more && at < source->n) {
				size_t end = line_end(source, at);
				more = end > at &&
				       source->text[end - 1] == '\\';
				at = MIN(end + 1, source->n);
			}
			continue;
		}
		size_t end = MIN(item_end(source, at), span.to);
		size_t brace = scope_brace(source, at);
		if (wanted < end && brace && brace < end && depth < SCOPES_MAX)
			return find_item(source,
					 (struct source_span){ brace + 1, end },
					 wanted, depth + 1);
		if (wanted < end)
			return at;
		at = MAX(end, at + 1);
	}
	return wanted;
}

size_t source_item_start(const struct source_file *source, size_t at)
{
	return find_item(source, (struct source_span){ 0, source->n }, at, 0);
}

struct err *source_prototype(const struct source_file *source, size_t item,
			     char **ret)
{
	size_t end = item_end(source, item);
	_cleanup_(freep) char *flat =
		source_flat(source, (struct source_span){ item, end });
	if (!flat)
		return err_nomem();
	flat[strcspn(flat, "{")] = '\0';
	for (size_t n = strlen(flat); n && flat[n - 1] == ' ';)
		flat[--n] = '\0';
	return is_function_head(skip_storage(flat))
		       ? str_format(ret, "%s;", flat)
		       : NULL;
}

bool source_includes(const struct source_file *source, const char *name)
{
	for (size_t i = 0; i < source->lines.n; i++) {
		size_t from = source->lines.data[i];
		size_t end = line_end(source, from);
		const char *line = source->text + from;
		size_t n = strlen(name);
		if (*line != '#' || !strstr(line, "include"))
			continue;
		for (size_t at = from; at + n < end; at++) {
			const char *here = source->text + at;
			if (!strncmp(here, name, n) &&
			    strchr("\"</", here[-1]) && strchr("\">", here[n]))
				return true;
		}
	}
	return false;
}

#include "repair/spelling.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "base/str.h"

#define NAMES_MAX 64
#define NAME_SIZE 64

/* ---- results ---- */

static const struct {
	const char *framework, *before, *after;
} checks[] = {
	{ "gtest", "EXPECT_EQ(", ", 0);" },
	{ "catch2", "CHECK(", " == 0);" },
	{ "doctest", "CHECK(", " == 0);" },
	{ "boost", "BOOST_CHECK_EQUAL(", ", 0);" },
	{ "check", "ck_assert_int_eq(", ", 0);" },
	{ "cmocka", "assert_int_equal(", ", 0);" },
	{ "cunit", "CU_ASSERT_EQUAL(", ", 0);" },
	{ "glib", "g_assert_cmpint(", ", ==, 0);" },
	{ "unity", "TEST_ASSERT_EQUAL_INT(0, ", ");" },
	{ "cpputest", "CHECK_EQUAL(0, ", ");" },
	{ "qtest", "QCOMPARE(", ", 0);" },
	{ "criterion", "cr_expect(", " == 0);" },
	{ "clar", "cl_assert(", " == 0);" },
	{ "munit", "munit_assert_int(", ", ==, 0);" },
	{ "utest", "EXPECT_EQ(", ", 0);" },
};

struct macro_use {
	char name[NAME_SIZE];
	size_t times;
};

static bool says_check(const char *name)
{
	static const char *const words[] = { "check", "assert", "expect",
					     "require", "verify" };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasestr(name, words[i]))
			return true;
	}
	return false;
}

/* Does the bracket at @at hold one argument that compares? */
static bool takes_condition(const struct source_file *source, size_t at)
{
	size_t end = source_skip_group(source, at, source->n), depth = 0;
	bool compares = false;
	for (size_t i = at; i < end; i++) {
		char c = source->plain[i];
		depth += strchr("([{", c) && c;
		depth -= strchr(")]}", c) && c && depth;
		if (c == ',' && depth == 1)
			return false;
		compares |=
			(c == '=' || c == '!') && source->plain[i + 1] == '=';
	}
	return compares;
}

static void note_use(struct macro_use *uses, size_t *n, const char *name,
		     size_t length)
{
	size_t i = 0;
	while (i < *n && (strncmp(uses[i].name, name, length) != 0 ||
			  uses[i].name[length]))
		i++;
	if (i == *n) {
		if (*n == NAMES_MAX || length >= sizeof(uses[i].name))
			return;
		memcpy(uses[i].name, name, length);
		uses[i].name[length] = '\0';
		uses[(*n)++].times = 0;
	}
	uses[i].times++;
}

/* What this file writes around a condition, most often; "": nothing. */
static void find_own_check(const struct source_file *source,
			   char ret[NAME_SIZE])
{
	struct macro_use uses[NAMES_MAX] = {};
	size_t n = 0, best = 0;
	const char *plain = source->plain;
	for (size_t at = 0; at < source->n; at++) {
		size_t end = at;
		if (!source_is_word(plain[at]))
			continue;
		while (end < source->n && source_is_word(plain[end]))
			end++;
		char name[NAME_SIZE] = "";
		bool fits = end - at < sizeof(name);
		size_t line = source->lines.data[source_line(source, at)];
		if (fits)
			memcpy(name, plain + at, end - at);
		if (fits && plain[end] == '(' && plain[line] != '#' &&
		    says_check(name) && takes_condition(source, end))
			note_use(uses, &n, name, end - at);
		at = end;
	}
	*ret = '\0';
	for (size_t i = 0; i < n; i++) {
		if (uses[i].times <= best)
			continue;
		best = uses[i].times;
		memcpy(ret, uses[i].name, NAME_SIZE);
	}
}

struct err *spelling_check(const struct source_file *source,
			   const char *framework, const char *call, char **ret)
{
	char own[NAME_SIZE];
	for (size_t i = 0; framework && i < ARRAY_SIZE(checks); i++) {
		if (!strcmp(checks[i].framework, framework))
			return str_format(ret, "%s%s%s", checks[i].before, call,
					  checks[i].after);
	}
	find_own_check(source, own);
	return *own ? str_format(ret, "%s(%s == 0);", own, call)
		    : str_format(ret, "if (%s != 0) abort();", call);
}

/* ---- names ---- */

/* Is there such a word that no "::" stands in front of? */
static bool writes_plainly(const struct source_file *source, const char *name,
			   size_t n)
{
	const char *plain = source->plain;
	for (const char *at = plain; (at = strstr(at, name)); at++) {
		if (at > plain && (source_is_word(at[-1]) || at[-1] == ':'))
			continue;
		if (!source_is_word(at[n]))
			return true;
	}
	return false;
}

static bool file_writes(const struct source_file *source, const char *code)
{
	size_t n = 0;
	while (source_is_word(code[n]))
		n++;
	_cleanup_(freep) char *name = strndup(code, n);
	return name && n && writes_plainly(source, name, n);
}

/* "courier" of "using namespace courier;", from *@at on; NULL: no more. */
static char *next_namespace(const struct source_file *source, size_t *at)
{
	static const char words[] = "using namespace ";
	const char *found = strstr(source->plain + *at, words);
	if (!found)
		return NULL;
	const char *name = found + strlen(words);
	*at = (size_t)(name - source->plain);
	return strndup(name, strcspn(name, "; \t\n"));
}

/* Every "NAME::" outside of literals goes, if what follows is written plainly. */
static struct err *drop_namespace(const struct source_file *source,
				  const char *name, const char *code,
				  char **ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	size_t n = strlen(name);
	bool quoted = false;
	for (const char *at = code; *at; at++) {
		bool begins = at == code ||
			      (!source_is_word(at[-1]) && at[-1] != ':');
		if (*at == '"' && (at == code || at[-1] != '\\'))
			quoted = !quoted;
		if (!quoted && begins && n && !strncmp(at, name, n) &&
		    !strncmp(at + n, "::", 2) &&
		    file_writes(source, at + n + 2))
			at += n + 2;
		TRY(str_append_n(&text, at, 1));
	}
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

struct err *spelling_names(const struct source_file *source, const char *code,
			   char **ret)
{
	_cleanup_(freep) char *now = NULL;
	size_t at = 0;
	TRY(str_copy(code, &now));
	for (int i = 0; source->cxx && *code && i < NAMES_MAX; i++) {
		_cleanup_(freep) char *name = next_namespace(source, &at);
		char *shorter = NULL;
		if (!name)
			break;
		TRY(drop_namespace(source, name, now, &shorter));
		free(now);
		now = shorter;
	}
	*ret = take_ptr(now);
	return NULL;
}

/* ---- headers ---- */

static const char *const c_headers[] = { "assert", "ctype",  "errno",  "fenv",
					 "locale", "math",   "signal", "stdio",
					 "stdlib", "string", "time" };

struct err *spelling_include(const struct source_file *source, const char *line,
			     char **ret)
{
	const char *open = strpbrk(line, "\"<");
	_cleanup_(freep) char *name = open ? strdup(open + 1) : NULL;
	_cleanup_(freep) char *other = NULL;
	bool other_way = false;
	if (!name)
		return NULL;
	name[strcspn(name, "\">")] = '\0';
	for (size_t i = 0; source->cxx && i < ARRAY_SIZE(c_headers); i++) {
		_cleanup_(freep) char *cxx = NULL;
		size_t n = strlen(c_headers[i]);
		TRY(str_format(&cxx, "c%s", c_headers[i]));
		other_way |= source_includes(source, cxx);
		if (!strncmp(name, c_headers[i], n) && !strcmp(name + n, ".h"))
			other = take_ptr(cxx);
	}
	if (source_includes(source, path_base(name)) ||
	    (other && source_includes(source, other)))
		return NULL;
	return other && other_way ? str_format(ret, "#include <%s>", other)
				  : str_copy(line, ret);
}

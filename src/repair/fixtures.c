#include "repair/fixtures.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

#define NAME_MAX_ 128
#define ARGUMENTS_MAX 8

/* ---- words and functions ---- */

/* A word of the file, as a text; false: none, or a very long one. */
static bool take_word(const struct source_file *source, size_t at,
		      char ret[NAME_MAX_])
{
	size_t n = 0;
	while (at + n < source->n && source_is_word(source->plain[at + n]))
		n++;
	if (!n || n >= NAME_MAX_)
		return false;
	memcpy(ret, source->plain + at, n);
	ret[n] = '\0';
	return true;
}

/* The next place of @word in [*@at, end); *@at is behind it then. */
static bool next_word(const struct source_file *source, size_t *at, size_t end,
		      const char *word, size_t *ret)
{
	size_t n = strlen(word);
	while (*at + n <= end) {
		const char *found =
			memmem(source->plain + *at, end - *at, word, n);
		if (!found)
			return false;
		size_t place = (size_t)(found - source->plain);
		*at = place + n;
		if (source_is_word(source->plain[place + n]) ||
		    (place && source_is_word(source->plain[place - 1])))
			continue;
		*ret = place;
		return true;
	}
	return false;
}

/* The body of what is called @name and defined within @span. */
static bool find_function_body(const struct source_file *source,
			       struct source_span span, const char *name,
			       struct source_fixture *ret)
{
	size_t at = span.from, place;
	while (next_word(source, &at, span.to, name, &place)) {
		size_t open = at;
		while (open < span.to &&
		       isspace((unsigned char)source->plain[open]))
			open++;
		if (open >= span.to || source->plain[open] != '(')
			continue;
		size_t brace = source_skip_group(source, open, span.to);
		/* "const override", ": member(1)"; not the rest of a call. */
		while (brace < span.to &&
		       !strchr("{;,)=", source->plain[brace]))
			brace = source->plain[brace] == '('
					? source_skip_group(source, brace,
							    span.to)
					: brace + 1;
		if (brace >= span.to || source->plain[brace] != '{')
			continue;
		size_t end = source_skip_group(source, brace, span.to);
		ret->body = (struct source_span){ brace + 1, end - 1 };
		ret->name = (struct source_span){ place, at };
		return end > brace + 1;
	}
	return false;
}

/* Arguments of the call whose bracket is at @open: where each begins. */
static size_t split_arguments(const struct source_file *source, size_t open,
			      size_t *ret)
{
	size_t end = source_skip_group(source, open, source->n), n = 0;
	bool first = true;
	for (size_t at = open + 1; at + 1 < end && n < ARGUMENTS_MAX; at++) {
		char c = source->plain[at];
		if (first && !isspace((unsigned char)c)) {
			ret[n++] = at;
			first = false;
		}
		if (c == ',')
			first = true;
		else if (c == '(' || c == '{' || c == '[')
			at = source_skip_group(source, at, end) - 1;
	}
	return n;
}

/* ---- by name ---- */

static bool is_fixture_name(const char *at)
{
	static const char *const names[] = { "setup",	 "set_up",
					     "SetUp",	 "setUp",
					     "teardown", "tear_down",
					     "TearDown", "tearDown" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);
		if (!strncmp(at, names[i], n)) {
			while (source_is_word(at[n]))
				n++;
			return at[n] == '(';
		}
	}
	return false;
}

bool fixture_next(const struct source_file *source, size_t *at,
		  struct source_fixture *ret)
{
	for (; *at < source->n; ++*at) {
		struct source_span found;
		if (!is_fixture_name(source->plain + *at))
			continue;
		size_t line = source_line(source, *at);
		if (!source_body(source, (unsigned)line + 1, &found) ||
		    source_line(source, found.from) > line + 2)
			continue;
		ret->body = found;
		ret->name = (struct source_span){ *at, *at };
		*at = found.to;
		return true;
	}
	return false;
}

/* ---- of a class ---- */

static const char *const befores[] = { "SetUp", "setup", "setUp" };
static const char *const afters[] = { "TearDown", "teardown", "tearDown" };

/* The braces of "class NAME … {", "struct NAME {" or "TEST_GROUP(NAME) {". */
static bool find_class(const struct source_file *source, const char *name,
		       struct source_span *ret)
{
	size_t at = 0, place;
	while (next_word(source, &at, source->n, name, &place)) {
		size_t before = place;
		while (before && strchr(" \t\n(", source->plain[before - 1]))
			before--;
		size_t from = before;
		while (from && source_is_word(source->plain[from - 1]))
			from--;
		char word[NAME_MAX_];
		if (!take_word(source, from, word) ||
		    (strcmp(word, "class") != 0 &&
		     strcmp(word, "struct") != 0 &&
		     !str_starts(word, "TEST_GROUP")))
			continue;
		size_t brace = at;
		while (brace < source->n &&
		       !strchr("{;=(", source->plain[brace]))
			brace++;
		if (brace >= source->n || source->plain[brace] != '{')
			continue;
		*ret = (struct source_span){
			brace + 1, source_skip_group(source, brace, source->n)
		};
		return true;
	}
	return false;
}

static bool find_member(const struct source_file *source, const char *class,
			bool before, struct source_fixture *ret)
{
	struct source_span body;
	if (!find_class(source, class, &body))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(befores); i++) {
		if (find_function_body(source, body,
				       before ? befores[i] : afters[i], ret))
			return true;
	}
	/* A constructor; what has a "~" in front is the destructor. */
	struct source_span rest = body;
	while (find_function_body(source, rest, class, ret)) {
		bool ends = ret->name.from &&
			    source->plain[ret->name.from - 1] == '~';
		if (ends != before)
			return true;
		rest.from = ret->body.to;
	}
	return false;
}

/* ---- as registered ---- */

static bool take_function(const struct source_file *source, size_t argument,
			  struct source_fixture *ret)
{
	char name[NAME_MAX_];
	const struct source_span all = { 0, source->n };
	return take_word(source, argument, name) && strcmp(name, "NULL") != 0 &&
	       find_function_body(source, all, name, ret);
}

/* Where functions stand that register a test: places of the arguments. */
struct registration {
	const char *call;
	size_t test, before, after; /* 0: it has none */
};

static const struct registration registrations[] = {
	{ "cmocka_unit_test_setup_teardown", 1, 2, 3 },
	{ "cmocka_unit_test_setup", 1, 2, 0 },
	{ "cmocka_unit_test_teardown", 1, 0, 2 },
	{ "cmocka_unit_test_prestate_setup_teardown", 1, 2, 3 },
	{ "g_test_add", 5, 4, 6 },
};

static bool find_registered(const struct source_file *source, const char *test,
			    bool before, struct source_fixture *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(registrations); i++) {
		const struct registration *row = &registrations[i];
		size_t wanted = before ? row->before : row->after;
		size_t at = 0, place;
		while (wanted &&
		       next_word(source, &at, source->n, row->call, &place)) {
			size_t arguments[ARGUMENTS_MAX];
			size_t n = split_arguments(source, at, arguments);
			char word[NAME_MAX_];
			if (source->plain[at] == '(' && n >= wanted &&
			    n >= row->test &&
			    take_word(source, arguments[row->test - 1], word) &&
			    !strcmp(word, test))
				return take_function(
					source, arguments[wanted - 1], ret);
		}
	}
	return false;
}

/* Check: the fixture is that of the test case that the test was added to. */
static bool find_checked(const struct source_file *source, const char *test,
			 bool before, struct source_fixture *ret)
{
	size_t at = 0, place;
	char group[NAME_MAX_], word[NAME_MAX_];
	while (next_word(source, &at, source->n, "tcase_add_test", &place)) {
		size_t arguments[ARGUMENTS_MAX];
		if (split_arguments(source, at, arguments) != 2 ||
		    !take_word(source, arguments[1], word) ||
		    strcmp(word, test) != 0 ||
		    !take_word(source, arguments[0], group))
			continue;
		size_t other = 0;
		while (next_word(source, &other, source->n,
				 "tcase_add_checked_fixture", &place)) {
			if (split_arguments(source, other, arguments) == 3 &&
			    take_word(source, arguments[0], word) &&
			    !strcmp(word, group))
				return take_function(
					source, arguments[before ? 1 : 2], ret);
		}
	}
	return false;
}

/* ---- all of it ---- */

/* From behind what stands before it to its brace. */
static size_t test_head(const struct source_file *source,
			struct source_span test)
{
	size_t at = test.from;
	int depth = 0;
	while (at > 1) {
		char c = source->plain[at - 2];
		depth += c == ')';
		depth -= c == '(';
		if (!depth && strchr(";}{", c))
			break;
		at--;
	}
	return at - 1;
}

bool fixture_of(const struct source_file *source, struct source_span test,
		bool before, struct source_fixture *ret)
{
	size_t from = test_head(source, test), arguments[ARGUMENTS_MAX];
	size_t open = from;
	char word[NAME_MAX_];
	while (open < test.from && source->plain[open] != '(')
		open++;
	if (open >= test.from)
		return false;
	size_t n = split_arguments(source, open, arguments);
	for (size_t i = 0; i < n; i++) {
		if (take_word(source, arguments[i], word) &&
		    find_member(source, word, before, ret))
			return true;
	}
	/* A function, or one that a macro makes of its argument. */
	size_t name = open;
	while (name > from && !source_is_word(source->plain[name - 1]))
		name--;
	while (name > from && source_is_word(source->plain[name - 1]))
		name--;
	if (!take_word(source, name, word))
		return false;
	if (!strcmp(word, "START_TEST") && n)
		take_word(source, arguments[0], word);
	if (find_registered(source, word, before, ret) ||
	    find_checked(source, word, before, ret))
		return true;
	const struct source_span all = { 0, source->n };
	return memmem(source->plain, source->n, "TEST_ASSERT", 11) &&
	       find_function_body(source, all, before ? "setUp" : "tearDown",
				  ret);
}

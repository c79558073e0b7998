#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static void test_append(void **state)
{
	(void)state;
	_cleanup_(str_freep) struct str str = STR_INIT;
	assert_null(str.s);
	assert_ok(str_append(&str, "one"));
	assert_ok(str_appendf(&str, " %s %d", "two", 3));
	assert_ok(str_append_n(&str, "\0x", 2));
	assert_int_equal(str.n, 11);
	assert_memory_equal(str.s, "one two 3\0x", 12);

	char *taken = str_take(&str);
	assert_string_equal(taken, "one two 3");
	free(taken);
	assert_null(str.s);
	taken = str_take(&str);
	assert_string_equal(taken, "");
	free(taken);
}

static void escaped(const char *in, size_t n, const char *out)
{
	_cleanup_(str_freep) struct str str = STR_INIT;
	assert_ok(str_append_escaped(&str, in, n));
	assert_string_equal(str.s, out);
}

static void test_escape(void **state)
{
	(void)state;
	escaped("", 0, "");
	escaped("plain", 5, "plain");
	escaped("a\nb\tc\r\x1b[2J\x7f", 11, "a\\nb\\tc\\x0d\\x1b[2J\\x7f");
	escaped("a\0b", 3, "a\\x00b");
	escaped("gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f");
	/* U+009B is the one-character form of ESC [. */
	escaped("\xc2\x9b", 2, "\\xc2\\x9b");
	escaped("\xff\xc3", 2, "\\xff\\xc3");
	/* What would make a reader see something else. */
	escaped("a\u202eb\u2069", 8, "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa9");
	escaped("\u061c", 2, "\\xd8\\x9c");
	escaped("\u200f", 3, "\\xe2\\x80\\x8f");
	escaped("\u2028", 3, "\\xe2\\x80\\xa8");
	escaped("\U000e0041", 4, "\\xf3\\xa0\\x81\\x81");
	/* And what stands beside it in Unicode. */
	escaped("\u00a0\u061b\u200d\u2010\u2027\u202f", 16,
		"\u00a0\u061b\u200d\u2010\u2027\u202f");
	escaped("\u2060\u2070\U0001f600", 10, "\u2060\u2070\U0001f600");
}

static void test_utf8(void **state)
{
	(void)state;
	_cleanup_(freep) char *text = str_utf8("a\n\xff\xe2\x82\xac", 6);
	assert_string_equal(text, "a\n\\xff\xe2\x82\xac");
}

static void test_utf8_length(void **state)
{
	(void)state;
	// clang-format off
	static const struct {
		const char *text;
		size_t n, length;
	} cases[] = {
		{ "", 0, 0 },
		{ "a", 1, 1 },
		{ "\xc3\xbc", 2, 2 },
		{ "\xc3", 1, 0 },			/* cut off */
		{ "\xe2\x82\xac", 3, 3 },
		{ "\xe2\x82", 2, 0 },
		{ "\xf0\x9f\x98\x80", 4, 4 },
		{ "\x80", 1, 0 },			/* continuation */
		{ "\xc0\x80", 2, 0 },			/* overlong */
		{ "\xc1\xbf", 2, 0 },
		{ "\xe0\x9f\xbf", 3, 0 },
		{ "\xf0\x8f\xbf\xbf", 4, 0 },
		{ "\xed\xa0\x80", 3, 0 },		/* surrogate */
		{ "\xf4\x90\x80\x80", 4, 0 },		/* above U+10FFFF */
		{ "\xf5\x80\x80\x80", 4, 0 },
	};
	// clang-format on
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(str_utf8_length(cases[i].text, cases[i].n),
				 cases[i].length);
}

static void test_starts_ends(void **state)
{
	(void)state;
	assert_true(str_starts("polygraph", "poly"));
	assert_true(str_starts("x", ""));
	assert_false(str_starts("po", "poly"));
	assert_true(str_ends("order.txt", ".txt"));
	assert_true(str_ends("x", ""));
	assert_false(str_ends("xt", ".txt"));
}

static void test_glob(void **state)
{
	(void)state;
	assert_true(str_glob("Suite.*", "Suite.Name/0"));
	assert_true(str_glob("*", "a/b.c"));
	assert_true(str_glob("t?st", "t/st"));
	assert_true(str_glob("[ab]x", "bx"));
	assert_false(str_glob("Suite", "Suite.Name"));
	assert_false(str_glob("suite.*", "Suite.Name"));
	assert_true(str_glob("*", ".hidden"));
}

static void test_numbers(void **state)
{
	(void)state;
	uint64_t value = 5;
	assert_true(str_to_u64("18446744073709551615", 10, &value));
	assert_int_equal(value, UINT64_MAX);
	assert_true(str_to_u64("0", 10, &value));
	assert_int_equal(value, 0);
	assert_true(str_to_u64("ff", 16, &value));
	assert_int_equal(value, 255);

	value = 5;
	static const char *const bad[] = {
		"", "-1", "+1", " 1", "1 ", "1x", "0x1", "18446744073709551616"
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(str_to_u64(bad[i], 10, &value));
	assert_int_equal(value, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_utf8_length),
		cmocka_unit_test(test_starts_ends),
		cmocka_unit_test(test_glob),
		cmocka_unit_test(test_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* base/globs.h. */
#include "unit.h"

#include "base/globs.h"
#include "base/str.h"

static void test_match(void **state _unused_)
{
	static const char *const globs[] = { "test_*", "!test_util_*", "check",
					     "!*_slow", NULL };
	assert_true(globs_match(globs, "test_a"));
	assert_true(globs_match(globs, "check"));
	assert_false(globs_match(globs, "checks"));
	assert_false(globs_match(globs, "test_util_a"));
	assert_false(globs_match(globs, "test_a_slow"));
	assert_false(globs_match(globs, "!test_util_"));
	assert_true(globs_include(globs, "test_util_a"));
	assert_true(globs_exclude(globs, "very_slow"));
	assert_false(globs_exclude(globs, "test_a"));
}

static void test_none(void **state _unused_)
{
	static const char *const globs[] = { NULL };
	assert_false(globs_match(globs, "test_a"));
	assert_false(globs_exclude(globs, "test_a"));
}

static void test_describe(void **state _unused_)
{
	static const char *const globs[] = { "a*", "!b\n", NULL };
	_cleanup_(str_freep) struct str text = STR_INIT;
	assert_ok(globs_describe(globs, &text));
	assert_string_equal(text.s, "'a*', '!b\\n'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_describe),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

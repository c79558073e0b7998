#include "unit.h"

#include "native/verdict_text.h"

/* What a runner prints without and with a value that a test might have left. */
static void test_fails(void **state)
{
	(void)state;
	static const char *const said[][2] = {
		{ "Tests failed: 0\n", "Tests failed: 1\n" },
		{ "0 failed\n", "1 failed\n" },
		{ "0 of 7 tests failed\n", "1 of 7 tests failed\n" },
		{ "0/7 failed\n", "1/7 failed\n" },
		{ "run: 7, failures: 0\n", "run: 7, failures: 1\n" },
		{ "7 run 0 failed\n", "7 run 2 failed\n" },
		{ "run 7 failed 0\n", "run 7 failed 1\n" },
		{ "errors = 0\n", "errors = 16\n" },
		{ "all passed\n", "FAILED\n" },
		{ "", "Tests failed: 1\n" },
		{ "ok 1 - a\n", "not ok 1 - a\n" },
		{ "a... ok\nb... ok\n", "a... FAIL\nb... ok\n" },
		{ "total failures (0)\n", "total failures (1)\n" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		if (!verdict_text_fails(said[i][0], said[i][1]))
			fail_msg("not a failure: %s", said[i][1]);
		assert_false(verdict_text_fails(said[i][0], said[i][0]));
	}
}

static void test_counts(void **state)
{
	(void)state;
	static const char *const said[][2] = {
		{ "Tests run: 0, failed: 0\n", "Tests run: 1, failed: 0\n" },
		{ "run 0 checks 0 failed 0\n", "run 0 checks 1 failed 0\n" },
		{ "0 of 7 tests failed\n", "0 of 8 tests failed\n" },
		{ "0/7 failed\n", "0/8 failed\n" },
		{ "7 passed, 0 failed\n", "8 passed, 0 failed\n" },
		{ "took 12 ms\n", "took 13 ms\n" },
		{ "all 3 checks passed\n", "all 4 checks passed\n" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		if (verdict_text_fails(said[i][0], said[i][1]))
			fail_msg("a failure: %s", said[i][1]);
		assert_true(verdict_text_counts(said[i][0], said[i][1]));
		assert_false(verdict_text_counts(said[i][0], said[i][0]));
	}
}

/* Other words than before, and none of failure. */
static void test_neither(void **state)
{
	(void)state;
	static const char *const said[][2] = {
		{ "done\n", "running test_parse_error\ndone\n" },
		{ "done\n", "no failures\ndone\n" },
		{ "done\n", "Tests failed: 0\ndone\n" },
		{ "done\n", "0 tests failed\ndone\n" },
		{ "done\n", "test_fail_early... ok\ndone\n" },
		{ "done\n", "" },
		{ "", "\n\n\xff\xfe" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(said); i++) {
		if (verdict_text_fails(said[i][0], said[i][1]))
			fail_msg("a failure: %s", said[i][1]);
		assert_false(verdict_text_counts(said[i][0], said[i][1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fails),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_neither),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

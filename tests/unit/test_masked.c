#include "unit.h"

#include <string.h>

#include "base/masked.h"

static void test_name(void **state)
{
	(void)state;
	assert_true(masked_name("/tmp/fileXXXXXX"));
	assert_true(masked_name("log.PID"));
	assert_true(masked_name("/var/DATE/log"));
	assert_true(masked_name("/tmp/*"));
	assert_true(masked_name("*"));
	assert_false(masked_name("/tmp/file"));
	assert_false(masked_name("a*"));
}

static void test_fits(void **state)
{
	(void)state;
	assert_true(masked_fits("/tmp/file", "/tmp/file"));
	assert_true(masked_fits("/tmp/file", "/tmp/file/below"));
	assert_false(masked_fits("/tmp/file", "/tmp/files"));
	assert_true(masked_fits("/tmp/fileXXXXXX.txt", "/tmp/filea1B2_3.txt"));
	assert_false(masked_fits("/tmp/fileXXXXXX.txt", "/tmp/filea1B.txt"));
	assert_true(masked_fits("/tmp/junitXXXXXX/a",
				"/tmp/junit1234567890123456789/a"));
	assert_true(masked_fits("log.PID", "log.4711"));
	assert_false(masked_fits("log.PID", "log.x"));
	assert_true(masked_fits("log-DATE", "log-2026-11-16"));
	assert_true(masked_fits("log-DATE", "log-20261116"));
	assert_false(masked_fits("log-DATE", "log-2026-13-16"));
	assert_true(masked_fits("/tmp/*", "/tmp/any"));
	assert_false(masked_fits("/tmp/*", "/tmp"));
}

static void test_long_number(void **state)
{
	(void)state;
	size_t n = 0;
	const char *name = "a1b1234567890123456789.tmp";
	assert_ptr_equal(masked_long_number(name, &n), name + 3);
	assert_int_equal(n, 19);
	assert_null(masked_long_number("log.1700000000000", &n));
	assert_null(masked_long_number("123456789012345678901", &n));
	assert_null(masked_long_number("", &n));
}

static void test_date(void **state)
{
	(void)state;
	int64_t day = 0;
	assert_int_equal(masked_date("1970-01-02.log", &day), 10);
	assert_int_equal(day, 1);
	assert_int_equal(masked_date("19700103", &day), 8);
	assert_int_equal(day, 2);
	assert_int_equal(masked_date("1970-01_02", &day), 0);
	assert_int_equal(masked_date("197001021", &day), 0);
}

static void expect_masked(const char *text, const char *other,
			  const char *expected)
{
	_cleanup_(freep) char *masked = NULL;
	assert_ok(masked_differs(text, other, &masked));
	if (!expected)
		assert_null(masked);
	else
		assert_string_equal(masked, expected);
}

static void test_differs(void **state)
{
	(void)state;
	expect_masked("83", "83", NULL);
	expect_masked("83", "241", "…");
	expect_masked("-5", "7", "…");
	expect_masked("-5", "-7", "…");
	expect_masked("0.25", "11.5", "…");
	expect_masked("1e9", "0.5", "…");
	/* mkstemp(3): any six letters, also those that are equal by chance. */
	expect_masked("\"/tmp/a.XyZ123\"", "\"/tmp/a.XqR523\"", "\"/tmp/a.…\"");
	/* The more of it is equal, the more is shown, but whole words only. */
	expect_masked("pid 123 at 0x7ffe port 80", "pid 9 at 0x7fff port 80",
		      "pid … at … port 80");
	expect_masked("{1, 2, 3}", "{1, 5}", "{1, …}");
	expect_masked("\"\"", "\"abc\"", "\"…\"");
	expect_masked("a", "", "…");
	expect_masked("", "a", "…");
	/* What was masked stays as it is. */
	expect_masked("pid …", "pid 12", "pid …");
	_cleanup_(freep) char *text = strdup("pid 1");
	assert_ok(masked_replace(&text, "pid 1"));
	assert_string_equal(text, "pid 1");
	assert_ok(masked_replace(&text, "pid 2"));
	assert_string_equal(text, "pid …");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name),	    cmocka_unit_test(test_fits),
		cmocka_unit_test(test_long_number), cmocka_unit_test(test_date),
		cmocka_unit_test(test_differs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

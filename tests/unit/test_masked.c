#include "unit.h"

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
	assert_true(masked_fits("log.PID", "log.4711"));
	assert_false(masked_fits("log.PID", "log.x"));
	assert_true(masked_fits("log-DATE", "log-2026-11-16"));
	assert_true(masked_fits("log-DATE", "log-20261116"));
	assert_false(masked_fits("log-DATE", "log-2026-13-16"));
	assert_true(masked_fits("/tmp/*", "/tmp/any"));
	assert_false(masked_fits("/tmp/*", "/tmp"));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_date),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

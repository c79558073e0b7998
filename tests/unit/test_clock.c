#include "unit.h"

#include <string.h>

#include "base/clock.h"

static void test_parse(void **state)
{
	(void)state;
	// clang-format off
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {
		{ "30", 30 * NS_PER_S },
		{ "30s", 30 * NS_PER_S },
		{ "1.5s", 1500 * NS_PER_MS },
		{ "500ms", 500 * NS_PER_MS },
		{ "20us", 20 * NS_PER_US },
		{ "10m", 600 * NS_PER_S },
		{ "10min", 600 * NS_PER_S },
		{ "2h", 7200 * NS_PER_S },
	};
	// clang-format on
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t ns = 0;
		assert_ok(duration_parse(cases[i].text, &ns));
		assert_int_equal(ns, cases[i].ns);
	}
}

static void test_parse_refuses(void **state)
{
	(void)state;
	static const char *const bad[] = { "",	  "s",	 "-1s", "1 s",	"1x",
					   "nan", "inf", "0",	"1e30h" };
	uint64_t ns = 7;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_err(duration_parse(bad[i], &ns), ERR_USAGE,
			   "is not a duration");
	assert_int_equal(ns, 7);
}

static void formatted(uint64_t ns, const char *out)
{
	char text[16];
	duration_format(ns, text);
	assert_string_equal(text, out);
	assert_true(strlen(text) < 15);
}

static void test_format(void **state)
{
	(void)state;
	formatted(0, "0 µs");
	formatted(12 * NS_PER_US, "12 µs");
	formatted(3400 * NS_PER_US, "3.4 ms");
	formatted(1250 * NS_PER_MS, "1.25 s");
	formatted(3600 * NS_PER_S, "3600 s");
	formatted(UINT64_MAX, "18446744074 s");
}

static void test_now_goes_forward(void **state)
{
	(void)state;
	uint64_t before = clock_now();
	assert_true(clock_now() >= before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_refuses),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_now_goes_forward),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

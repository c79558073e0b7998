//@ points shared count=5 flags="-lcmocka"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "note.h"

static int setup(void **state)
{
	(void)state;
	note("setup");
	return 0;
}
static int teardown(void **state)
{
	(void)state;
	note("teardown");
	return 0;
}
static void with_one(void **state)
{
	(void)state;
	note("body");
}
static void with_fails(void **state)
{
	(void)state;
	note("body");
	assert_true(0);
}
static void setup_only_one(void **state)
{
	(void)state;
	note("body");
}
static void teardown_only_one(void **state)
{
	(void)state;
	note("body");
}
static void plain_one(void **state)
{
	(void)state;
	note("body");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(with_one, setup, teardown),
		cmocka_unit_test_setup_teardown(with_fails, setup, teardown),
		cmocka_unit_test_setup(setup_only_one, setup),
		cmocka_unit_test(plain_one),
		cmocka_unit_test_teardown(teardown_only_one, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

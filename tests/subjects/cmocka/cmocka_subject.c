// cmocka: two groups with group fixtures, one without, fixtures per test, mocks, skipping.
// The arguments are cmocka's own filters: a pattern of the tests to run, one of those to leave out.
//
//@ subject framework=cmocka lang=c header=cmocka.h packages="libcmocka-dev"
//@ variant shared libs="-lcmocka"
//@ variant new uses=cmocka-new

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

static void passes(void **state) //@ test plain/passes pass
{
	(void)state;
	assert_int_equal(2 + 2, 4);
}

static void fails(void **state) //@ test plain/fails fail
{
	(void)state;
	assert_string_equal("a", "b"); //@ fails plain/fails
}

static void fails_flatly(void **state) //@ test plain/fails_flatly fail
{
	(void)state;
	fail_msg("%s", "a message"); //@ fails plain/fails_flatly
}

static void skips(void **state) //@ test plain/skips skip
{
	(void)state;
	skip();
}

static int mocked(void)
{
	return mock_type(int);
}

static void uses_mock(void **state) //@ test plain/uses_mock pass
{
	(void)state;
	will_return(mocked, 7);
	assert_int_equal(mocked(), 7);
}

static void leaves_mock_value(void **state) //@ test plain/leaves_mock_value fail
{
	(void)state;
	will_return(mocked, 7);
}

static int group_live, test_live;

static int group_setup(void **state)
{
	(void)state;
	group_live++;
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	group_live--;
	return 0;
}

static int test_setup(void **state)
{
	test_live++;
	*state = &test_live;
	return 0;
}

static int test_teardown(void **state)
{
	(void)state;
	test_live--;
	return 0;
}

static int broken_setup(void **state)
{
	(void)state;
	return -1;
}

static void fixture_one(void **state) //@ test "with fixtures/fixture_one" pass
{
	assert_ptr_equal(*state, &test_live);
	assert_int_equal(group_live, 1);
	assert_int_equal(test_live, 1);
}

static void fixture_fails(void **state) //@ test "with fixtures/fixture_fails" fail
{
	(void)state;
	assert_int_equal(test_live, 2); //@ fails "with fixtures/fixture_fails"
}

static void fixture_two(void **state) //@ test "with fixtures/fixture_two" pass
{
	(void)state;
	assert_int_equal(group_live, 1);
	assert_int_equal(test_live, 1);
}

static void after_broken_setup(void **state) //@ test "with fixtures/after_broken_setup" fail
{
	(void)state;
}

// Tests whose outcome tells the order they ran in.
static int written;

static void reader(void **state) //@ test "with fixtures/reader" pass after="with fixtures/writer:fail"
{
	(void)state;
	assert_false(written); //@ fails "with fixtures/reader"
}

static void writer(void **state) //@ test "with fixtures/writer" pass
{
	(void)state;
	written = 1;
}

// Tests that do not come back.
static void never_segfault(void **state) //@ test no_return/never_segfault crash
{
	volatile int *volatile null = NULL;
	(void)state;
	*null = 1;
}

static void never_aborts(void **state) //@ test no_return/never_aborts crash
{
	(void)state;
	abort();
}

static void never_exits(void **state) //@ test no_return/never_exits crash
{
	(void)state;
	exit(0);
}

static void never_hangs(void **state) //@ test no_return/never_hangs timeout
{
	(void)state;
	for (;;)
		pause();
}

static void comes_afterwards(void **state) //@ test no_return/comes_afterwards pass
{
	(void)state;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest plain[] = {
		cmocka_unit_test(passes),	 cmocka_unit_test(fails),     cmocka_unit_test(fails_flatly),
		cmocka_unit_test(skips),	 cmocka_unit_test(uses_mock), cmocka_unit_test(leaves_mock_value),
	};
	const struct CMUnitTest fixtures[] = {
		cmocka_unit_test_setup_teardown(fixture_one, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(fixture_fails, test_setup, test_teardown),
		cmocka_unit_test_setup_teardown(fixture_two, test_setup, test_teardown),
		cmocka_unit_test_setup(after_broken_setup, broken_setup),
		cmocka_unit_test(reader),
		cmocka_unit_test(writer),
	};
	const struct CMUnitTest no_return[] = {
		cmocka_unit_test(never_segfault), cmocka_unit_test(never_aborts),		cmocka_unit_test(never_exits),
		cmocka_unit_test(never_hangs),    cmocka_unit_test(comes_afterwards),
	};
	int failed = 0;

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	if (argc > 2)
		cmocka_set_skip_filter(argv[2]);
	failed += cmocka_run_group_tests(plain, NULL, NULL);
	failed += cmocka_run_group_tests_name("with fixtures", fixtures, group_setup, group_teardown);
	failed += cmocka_run_group_tests(no_return, NULL, NULL);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

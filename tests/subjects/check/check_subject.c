// Check: two suites, several cases, checked and unchecked fixtures, loops, expected signals and exits.
//
//@ subject framework=check lang=c header=check.h packages="check libsubunit-dev"
//@ variant static libs="-lcheck -lsubunit -lrt -lm -pthread"
//@ variant shared uses=check-shared

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(passes) //@ test core/plain/passes pass
{
	ck_assert_int_eq(2 + 2, 4);
}
END_TEST

START_TEST(fails) //@ test core/plain/fails fail
{
	ck_assert_str_eq("a", "b"); //@ fails core/plain/fails
}
END_TEST

static void check_in_helper(int value)
{
	ck_assert_msg(value < 10, "value is %d", value); //@ fails core/plain/fails_in_helper
}

START_TEST(fails_in_helper) //@ test core/plain/fails_in_helper fail
{
	check_in_helper(3);
	check_in_helper(11);
}
END_TEST

START_TEST(fails_flatly) //@ test core/plain/fails_flatly fail
{
	ck_abort_msg("a message"); //@ fails core/plain/fails_flatly
}
END_TEST

// The loop variable is named _i by the framework.
//@ test core/loops/small:0 pass
//@ test core/loops/small:1 pass
//@ test core/loops/small:2 fail
START_TEST(small)
{
	ck_assert_int_lt(_i, 2); //@ fails core/loops/small:2
}
END_TEST

//@ test core/loops/offset:5 pass
//@ test core/loops/offset:6 pass
START_TEST(offset)
{
	ck_assert_int_ge(_i, 5);
}
END_TEST

static int checked, unchecked;

static void unchecked_setup(void)
{
	unchecked++;
}
static void unchecked_teardown(void)
{
	unchecked--;
}
static void checked_setup(void)
{
	checked++;
}
static void checked_teardown(void)
{
	checked--;
}

START_TEST(fixture_one) //@ test fixtures/both/fixture_one pass
{
	ck_assert_int_eq(unchecked, 1);
	ck_assert_int_eq(checked, 1);
}
END_TEST

START_TEST(fixture_fails) //@ test fixtures/both/fixture_fails fail
{
	ck_assert_int_eq(unchecked, 1);
	ck_assert_int_eq(checked, 2); //@ fails fixtures/both/fixture_fails
}
END_TEST

START_TEST(fixture_two) //@ test fixtures/both/fixture_two pass
{
	ck_assert_int_eq(unchecked, 1);
	ck_assert_int_eq(checked, 1);
}
END_TEST

START_TEST(no_fixture) //@ test fixtures/none/no_fixture pass
{
	ck_assert_int_eq(unchecked, 0);
	ck_assert_int_eq(checked, 0);
}
END_TEST

static void failing_setup(void)
{
	ck_abort_msg("set-up fails"); //@ fails fixtures/broken/after_failing_setup
}

START_TEST(after_failing_setup) //@ test fixtures/broken/after_failing_setup fail
{
}
END_TEST

START_TEST(expects_signal) //@ test expected/signals/expects_signal pass
{
	raise(SIGUSR1);
}
END_TEST

START_TEST(expects_segfault) //@ test expected/signals/expects_segfault pass
{
	volatile int *volatile null = NULL;
	*null = 1;
}
END_TEST

START_TEST(signal_missing) //@ test expected/signals/signal_missing fail
{
}
END_TEST

START_TEST(expects_exit) //@ test expected/exits/expects_exit pass
{
	exit(3);
}
END_TEST

// Zero is the exit status that a test is allowed unless it says otherwise.
START_TEST(exits_with_zero) //@ test expected/exits/exits_with_zero pass
{
	exit(0);
}
END_TEST

START_TEST(exit_missing) //@ test expected/exits/exit_missing fail
{
}
END_TEST

// Tests whose outcome tells the order they ran in, where they share a process.
static int written;
START_TEST(reader) //@ test order/order/reader pass after=order/order/writer:fail
{
	ck_assert_int_eq(written, 0); //@ fails order/order/reader
}
END_TEST

START_TEST(writer) //@ test order/order/writer pass
{
	written = 1;
}
END_TEST

// Tests that do not come back.
START_TEST(segfault) //@ test no_return/no_return/segfault crash
{
	volatile int *volatile null = NULL;
	*null = 1;
}
END_TEST

START_TEST(aborts) //@ test no_return/no_return/aborts crash
{
	abort();
}
END_TEST

START_TEST(exits) //@ test no_return/no_return/exits crash
{
	exit(1);
}
END_TEST

START_TEST(hangs) //@ test no_return/no_return/hangs timeout
{
	for (;;)
		pause();
}
END_TEST

START_TEST(comes_afterwards) //@ test no_return/no_return/comes_afterwards pass
{
}
END_TEST

static Suite *core_suite(void)
{
	Suite *suite = suite_create("core");
	TCase *plain = tcase_create("plain");
	tcase_add_test(plain, passes);
	tcase_add_test(plain, fails);
	tcase_add_test(plain, fails_in_helper);
	tcase_add_test(plain, fails_flatly);
	suite_add_tcase(suite, plain);

	TCase *loops = tcase_create("loops");
	tcase_add_loop_test(loops, small, 0, 3);
	tcase_add_loop_test(loops, offset, 5, 7);
	suite_add_tcase(suite, loops);
	return suite;
}

static Suite *fixtures_suite(void)
{
	Suite *suite = suite_create("fixtures");
	TCase *both = tcase_create("both");
	tcase_add_unchecked_fixture(both, unchecked_setup, unchecked_teardown);
	tcase_add_checked_fixture(both, checked_setup, checked_teardown);
	tcase_add_test(both, fixture_one);
	tcase_add_test(both, fixture_fails);
	tcase_add_test(both, fixture_two);
	suite_add_tcase(suite, both);

	TCase *none = tcase_create("none");
	tcase_add_test(none, no_fixture);
	suite_add_tcase(suite, none);

	TCase *broken = tcase_create("broken");
	tcase_add_checked_fixture(broken, failing_setup, NULL);
	tcase_add_test(broken, after_failing_setup);
	suite_add_tcase(suite, broken);
	return suite;
}

static Suite *expected_suite(void)
{
	Suite *suite = suite_create("expected");
	TCase *signals = tcase_create("signals");
	tcase_add_test_raise_signal(signals, expects_signal, SIGUSR1);
	tcase_add_test_raise_signal(signals, expects_segfault, SIGSEGV);
	tcase_add_test_raise_signal(signals, signal_missing, SIGUSR1);
	suite_add_tcase(suite, signals);

	TCase *exits_case = tcase_create("exits");
	tcase_add_exit_test(exits_case, expects_exit, 3);
	tcase_add_test(exits_case, exits_with_zero);
	tcase_add_exit_test(exits_case, exit_missing, 3);
	suite_add_tcase(suite, exits_case);
	return suite;
}

static Suite *order_suite(void)
{
	Suite *suite = suite_create("order");
	TCase *order = tcase_create("order");
	tcase_add_test(order, reader);
	tcase_add_test(order, writer);
	suite_add_tcase(suite, order);
	return suite;
}

static Suite *no_return_suite(void)
{
	Suite *suite = suite_create("no_return");
	TCase *no_return = tcase_create("no_return");
	tcase_set_timeout(no_return, 1);
	tcase_add_test(no_return, segfault);
	tcase_add_test(no_return, aborts);
	tcase_add_test(no_return, exits);
	tcase_add_test(no_return, hangs);
	tcase_add_test(no_return, comes_afterwards);
	suite_add_tcase(suite, no_return);
	return suite;
}

int main(void)
{
	SRunner *runner = srunner_create(core_suite());
	srunner_add_suite(runner, fixtures_suite());
	srunner_add_suite(runner, expected_suite());
	srunner_add_suite(runner, order_suite());
	srunner_add_suite(runner, no_return_suite());
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

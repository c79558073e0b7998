// Criterion: fixtures of suites and tests, parameters, theories, expected signals and exit statuses, time limits,
// redirected streams. Criterion gives each test a process of its own; here they run in one.
//
//@ subject framework=criterion lang=c header=criterion/criterion.h packages="libcriterion-dev"
//@ variant shared libs="-lcriterion"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <criterion/redirect.h>
#include <criterion/theories.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

Test(plain, passes) //@ test plain::passes pass
{
	cr_assert_eq(2 + 2, 4);
}

Test(plain, wrong) //@ test plain::wrong fail
{
	cr_expect_str_eq("a", "b"); //@ fails plain::wrong
	cr_expect(0);
}

Test(plain, leaves) //@ test plain::leaves fail
{
	cr_assert_fail("a message"); //@ fails plain::leaves
	abort();
}

static void check_in_helper(int value)
{
	cr_assert_lt(value, 10); //@ fails plain::in_helper
}

Test(plain, in_helper) //@ test plain::in_helper fail
{
	check_in_helper(3);
	check_in_helper(11);
}

Test(plain, skips) //@ test plain::skips skip
{
	cr_skip_test("not today");
	abort();
}

Test(plain, switched_off, .disabled = true) //@ test plain::switched_off skip
{
	abort();
}

Test(plain, logs) //@ test plain::logs pass
{
	cr_log_info("a message to the runner");
}

static int live, suite_live;

static void set_up(void)
{
	live++;
}

static void tear_down(void)
{
	live--;
}

static void set_up_suite(void)
{
	cr_assert_eq(live, 0);
	suite_live++;
}

static void tear_down_suite(void)
{
	cr_assert_eq(live, 0);
	suite_live--;
}

TestSuite(fixture, .init = set_up_suite, .fini = tear_down_suite);

Test(fixture, one, .init = set_up, .fini = tear_down) //@ test fixture::one pass
{
	cr_assert_eq(live, 1);
	cr_assert_eq(suite_live, 1);
}

Test(fixture, two, .init = set_up, .fini = tear_down) //@ test fixture::two fail
{
	cr_assert_eq(live, 2); //@ fails fixture::two
}

Test(fixture, three) //@ test fixture::three pass
{
	cr_assert_eq(live, 0);
	cr_assert_eq(suite_live, 1);
}

static void set_up_fails(void)
{
	cr_assert(0); //@ fails fixture::set_up_fails
}

// Criterion aborts there.
Test(fixture, set_up_fails, .init = set_up_fails) //@ test fixture::set_up_fails crash
{
}

ParameterizedTestParameters(params, numbers)
{
	int *numbers = cr_malloc(3 * sizeof(*numbers));
	for (int i = 0; i < 3; i++)
		numbers[i] = i + 1;
	return cr_make_param_array(int, numbers, 3);
}

//@ test params::numbers pass
//@ test params::numbers#2 fail
//@ test params::numbers#3 pass
ParameterizedTest(int *number, params, numbers)
{
	cr_assert_neq(*number, 2); //@ fails params::numbers#2
}

TheoryDataPoints(theory, holds) = {
	DataPoints(int, 1, 2, 3),
	DataPoints(int, -1, 5),
};

Theory((int a, int b), theory, holds) //@ test theory::holds pass
{
	cr_assume(b > 0);
	cr_assert_eq(a + b - b, a);
}

TheoryDataPoints(theory, does_not) = {
	DataPoints(int, 1, 2, 3),
};

Theory((int a), theory, does_not) //@ test theory::does_not fail
{
	cr_assert_neq(a, 2); //@ fails theory::does_not
}

// Tests that expect to be ended.
Test(ended, by_signal, .signal = SIGSEGV) //@ test ended::by_signal pass ends
{
	raise(SIGSEGV);
}

Test(ended, by_other_signal, .signal = SIGSEGV) //@ test ended::by_other_signal fail ends
{
	raise(SIGILL);
}

Test(ended, not_by_signal, .signal = SIGSEGV) //@ test ended::not_by_signal fail
{
}

Test(ended, by_status, .exit_code = 3) //@ test ended::by_status pass ends
{
	exit(3);
}

Test(ended, by_other_status) //@ test ended::by_other_status fail ends
{
	exit(4);
}

Test(ended, well) //@ test ended::well pass ends
{
	exit(0);
}

Test(ended, by_time, .timeout = 0.2) //@ test ended::by_time timeout
{
	for (;;)
		pause();
}

// The library can redirect a stream only once in a process: the test's process ends with it.
Test(streams, one) //@ test streams::one pass ends
{
	cr_redirect_stdout();
	printf("one");
	fflush(stdout);
	cr_assert_stdout_eq_str("one");
}

Test(streams, two) //@ test streams::two pass ends
{
	cr_redirect_stdout();
	printf("two");
	fflush(stdout);
	cr_assert_stdout_eq_str("two");
}

// Standard input is redirected from the beginning.
Test(streams, input) //@ test streams::input pass ends
{
	FILE *input = cr_get_redirected_stdin();
	fputs("three", input);
	fclose(input);
	char text[8] = "";
	cr_assert_eq(fread(text, 1, sizeof(text), stdin), 5);
}

// Tests whose outcome tells the order they ran in; in Criterion's own processes it does not.
static int written;

Test(order, reader) //@ test order::reader pass after=order::writer:fail
{
	cr_assert_eq(written, 0); //@ fails order::reader
}

Test(order, writer) //@ test order::writer pass
{
	written = 1;
}

// Tests that do not come back.
Test(gone, segfault) //@ test gone::segfault crash
{
	volatile int *volatile null = NULL;
	*null = 1;
}

Test(gone, aborts) //@ test gone::aborts crash
{
	abort();
}

Test(gone, last) //@ test gone::last pass
{
}

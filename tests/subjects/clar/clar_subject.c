// clar: fixtures of a suite, clean-ups of a test, suites with several initialisers, skipping, a suite that is left out.
// One file is all suites: see harness.py.
//
//@ subject framework=clar lang=c
//@ variant 2020 uses=clar-2020
//@ variant 2024 uses=clar-2024

#include "clar.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

// Tests that do not come back.
void test_ends__after_all(void) //@ test ends::after_all pass
{
}

void test_ends__by_exit(void) //@ test ends::by_exit crash
{
	exit(0);
}

void test_ends__by_hanging(void) //@ test ends::by_hanging timeout
{
	for (;;)
		pause();
}

void test_ends__by_signal(void) //@ test ends::by_signal crash
{
	raise(SIGSEGV);
}

void test_excluded__never(void)
{
	cl_fail("it is left out");
}

static int live, cleaned;

void test_fixtures__initialize(void)
{
	live++;
}

void test_fixtures__cleanup(void)
{
	live--;
	cleaned++;
}

void test_fixtures__one(void) //@ test fixtures::one pass
{
	cl_assert_equal_i(live, 1);
}

void test_fixtures__fails(void) //@ test fixtures::fails fail
{
	cl_assert_equal_i(live, 2); //@ fails fixtures::fails
}

void test_fixtures__two(void) //@ test fixtures::two pass
{
	cl_assert_equal_i(live, 1);
}

static void put_back(void *number)
{
	*(int *)number = 0;
}

static int borrowed;

void test_local__fails(void) //@ test local::fails fail
{
	cl_set_cleanup(put_back, &borrowed);
	borrowed = 1;
	cl_assert_(!borrowed, "with a message"); //@ fails local::fails
}

void test_local__passes(void) //@ test local::passes pass
{
	cl_assert(!borrowed);
}

// A name with an underscore in it: a suite in a suite.
static int written;

void test_nested_order__reader(void) //@ test nested::order::reader pass after=nested::order::writer:fail
{
	cl_assert(!written); //@ fails nested::order::reader
}

void test_nested_order__writer(void) //@ test nested::order::writer pass
{
	written = 1;
}

void test_outcomes__passes(void) //@ test outcomes::passes pass
{
	cl_assert_equal_s("same", "same");
	cl_must_pass(0);
}

void test_outcomes__fails(void) //@ test outcomes::fails fail
{
	cl_assert_equal_s("one", "two"); //@ fails outcomes::fails
}

void test_outcomes__fails_and_goes_on(void) //@ test outcomes::fails_and_goes_on fail
{
	cl_check(1 == 2); //@ fails outcomes::fails_and_goes_on
	cl_check(1 == 3);
}

void test_outcomes__warns(void) //@ test outcomes::warns fail
{
	cl_warning("an error, too"); //@ fails outcomes::warns
}

void test_outcomes__skips(void) //@ test outcomes::skips skip
{
	cl_skip();
}

static int size;

void test_variants__initialize_large(void)
{
	size = 1000;
}

void test_variants__initialize_small(void)
{
	size = 1;
}

void test_variants__is_large(void) //@ test "variants (large)::is_large" pass //@ test "variants (small)::is_large" fail
{
	cl_assert(size > 10); //@ fails "variants (small)::is_large"
}

void test_variants__is_some(void) //@ test "variants (large)::is_some" pass //@ test "variants (small)::is_some" pass
{
	cl_assert(size > 0);
}

// A clean-up that fails ends the program.
void test_wrong__cleanup(void)
{
	cl_fail("a clean-up");
}

void test_wrong__at_the_end(void) //@ test wrong::at_the_end crash
{
}

int main(int argc, char **argv)
{
	return clar_test(argc, argv);
}

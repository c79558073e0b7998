// CUnit: suites with and without fixtures, fatal and other assertions, inactive tests, names with spaces.
// With arguments, only the tests named there (Suite/Test) run.
//
//@ subject framework=cunit lang=c header=CUnit/Basic.h packages="libcunit1-dev"
//@ variant static libs="-l:libcunit.a"
//@ variant shared libs="-lcunit"

#include <CUnit/Basic.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void passes(void) //@ test plain/passes pass
{
	CU_ASSERT_EQUAL(2 + 2, 4);
}

static void fails_and_goes_on(void) //@ test plain/fails_and_goes_on fail
{
	CU_ASSERT_STRING_EQUAL("a", "b"); //@ fails plain/fails_and_goes_on
	CU_ASSERT(0);
}

static void fails_fatally(void) //@ test plain/fails_fatally fail
{
	CU_ASSERT_FATAL(1 == 2); //@ fails plain/fails_fatally
	abort();
}

static void fails_flatly(void) //@ test plain/fails_flatly fail
{
	CU_FAIL("a message"); //@ fails plain/fails_flatly
}

static void spaces(void) //@ test "plain/a name with spaces" pass
{
	CU_PASS("fine");
}

static void inactive(void) //@ test plain/inactive skip
{
	CU_FAIL("an inactive test has run");
}

static int suite_live, test_live;

static int suite_init(void)
{
	suite_live++;
	return 0;
}

static int suite_clean(void)
{
	suite_live--;
	return 0;
}

static void test_init(void)
{
	test_live++;
}

static void test_clean(void)
{
	test_live--;
}

static void fixture_one(void) //@ test "with fixtures/fixture_one" pass
{
	CU_ASSERT_EQUAL(suite_live, 1);
	CU_ASSERT_EQUAL(test_live, 1);
}

static void fixture_fails(void) //@ test "with fixtures/fixture_fails" fail
{
	CU_ASSERT_EQUAL_FATAL(test_live, 2); //@ fails "with fixtures/fixture_fails"
}

static void fixture_two(void) //@ test "with fixtures/fixture_two" pass
{
	CU_ASSERT_EQUAL(suite_live, 1);
	CU_ASSERT_EQUAL(test_live, 1);
}

// Tests whose outcome tells the order they ran in.
static int written;

static void reader(void) //@ test order/reader pass after=order/writer:fail
{
	CU_ASSERT_FALSE(written); //@ fails order/reader
}

static void writer(void) //@ test order/writer pass
{
	written = 1;
}

// Tests that do not come back.
static void segfault(void) //@ test no_return/segfault crash
{
	volatile int *volatile null = NULL;
	*null = 1;
}

static void aborts(void) //@ test no_return/aborts crash
{
	abort();
}

static void exits(void) //@ test no_return/exits crash
{
	exit(0);
}

static void hangs(void) //@ test no_return/hangs timeout
{
	for (;;)
		pause();
}

static void comes_afterwards(void) //@ test no_return/comes_afterwards pass
{
	CU_PASS("fine");
}

static char **wanted_names;

static CU_pTest add(CU_pSuite suite, const char *name, CU_TestFunc function)
{
	char full[200];
	snprintf(full, sizeof(full), "%s/%s", suite->pName, name);
	int wanted = !*wanted_names;
	for (char **it = wanted_names; *it; it++)
		wanted |= strcmp(*it, full) == 0;
	return wanted ? CU_add_test(suite, name, function) : NULL;
}

int main(int argc, char **argv)
{
	(void)argc;
	wanted_names = argv + 1;
	if (CU_initialize_registry() != CUE_SUCCESS)
		return CU_get_error();
	CU_set_fail_on_inactive(CU_FALSE);

	CU_pSuite plain = CU_add_suite("plain", NULL, NULL);
	add(plain, "passes", passes);
	add(plain, "fails_and_goes_on", fails_and_goes_on);
	add(plain, "fails_fatally", fails_fatally);
	add(plain, "fails_flatly", fails_flatly);
	add(plain, "a name with spaces", spaces);
	CU_pTest test = add(plain, "inactive", inactive);
	if (test)
		CU_set_test_active(test, CU_FALSE);

	CU_pSuite fixtures = CU_add_suite_with_setup_and_teardown("with fixtures", suite_init, suite_clean, test_init, test_clean);
	add(fixtures, "fixture_one", fixture_one);
	add(fixtures, "fixture_fails", fixture_fails);
	add(fixtures, "fixture_two", fixture_two);

	CU_pSuite order = CU_add_suite("order", NULL, NULL);
	add(order, "reader", reader);
	add(order, "writer", writer);

	CU_pSuite no_return = CU_add_suite("no_return", NULL, NULL);
	add(no_return, "segfault", segfault);
	add(no_return, "aborts", aborts);
	add(no_return, "exits", exits);
	add(no_return, "hangs", hangs);
	add(no_return, "comes_afterwards", comes_afterwards);

	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	unsigned failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

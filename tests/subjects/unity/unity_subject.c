// Unity, with the runner written by hand, and (variant "generated") with the run_test function that Unity's script puts
// into the runners it writes. With arguments, only the tests named there run.
//
//@ subject framework=unity lang=c packages="dpkg-dev"
//@ variant static uses=unity
//@ variant shared uses=unity-shared
//@ variant generated uses=unity cflags="-DOWN_RUN_TEST"

#include "unity.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int live;

void setUp(void)
{
	live++;
}

void tearDown(void)
{
	live--;
}

static void test_passes(void) //@ test test_passes pass
{
	TEST_ASSERT_EQUAL_INT(4, 2 + 2);
}

static void test_fails(void) //@ test test_fails fail
{
	TEST_ASSERT_EQUAL_STRING("a", "b"); //@ fails test_fails
}

static void test_fails_flatly(void) //@ test test_fails_flatly fail
{
	TEST_FAIL_MESSAGE("a message"); //@ fails test_fails_flatly
}

static void check_in_helper(int value)
{
	TEST_ASSERT_LESS_THAN(10, value); //@ fails test_fails_in_helper
}

static void test_fails_in_helper(void) //@ test test_fails_in_helper fail
{
	check_in_helper(3);
	check_in_helper(11);
}

static void test_ignored(void) //@ test test_ignored skip
{
	TEST_IGNORE();
}

static void test_ignored_with_message(void) //@ test test_ignored_with_message skip
{
	TEST_IGNORE_MESSAGE("not today");
}

static void test_leaves_early(void) //@ test test_leaves_early pass
{
	TEST_PASS();
	TEST_FAIL();
}

static void test_fixture_one(void) //@ test test_fixture_one pass
{
	TEST_ASSERT_EQUAL_INT(1, live);
}

static void test_fixture_two(void) //@ test test_fixture_two pass
{
	TEST_ASSERT_EQUAL_INT(1, live);
}

// Tests whose outcome tells the order they ran in.
static int written;

static void test_order_reader(void) //@ test test_order_reader pass after=test_order_writer:fail
{
	TEST_ASSERT_FALSE(written); //@ fails test_order_reader
}

static void test_order_writer(void) //@ test test_order_writer pass
{
	written = 1;
}

// Tests that do not come back.
static void test_segfault(void) //@ test test_segfault crash
{
	volatile int *volatile null = NULL;
	*null = 1;
}

static void test_aborts(void) //@ test test_aborts crash
{
	abort();
}

static void test_exits(void) //@ test test_exits crash
{
	exit(0);
}

static void test_hangs(void) //@ test test_hangs timeout
{
	for (;;)
		pause();
}

static void test_comes_afterwards(void) //@ test test_comes_afterwards pass
{
}

static char **wanted_names;

static int wanted(const char *name)
{
	if (!*wanted_names)
		return 1;
	for (char **it = wanted_names; *it; it++)
		if (strcmp(*it, name) == 0)
			return 1;
	return 0;
}

#ifdef OWN_RUN_TEST
static void run_test(UnityTestFunction function, const char *name, UNITY_LINE_TYPE line)
{
	Unity.CurrentTestName = name;
	Unity.CurrentTestLineNumber = line;
	Unity.NumberOfTests++;
	UNITY_CLR_DETAILS();
	if (TEST_PROTECT()) {
		setUp();
		function();
	}
	if (TEST_PROTECT())
		tearDown();
	UnityConcludeTest();
}
#undef RUN_TEST
#define RUN_TEST(test) run_test(test, #test, __LINE__)
#endif

#define RUN(test)             \
	if (wanted(#test))    \
		RUN_TEST(test)

int main(int argc, char **argv)
{
	(void)argc;
	wanted_names = argv + 1;
	UNITY_BEGIN();
	RUN(test_passes);
	RUN(test_fails);
	RUN(test_fails_flatly);
	RUN(test_fails_in_helper);
	RUN(test_ignored);
	RUN(test_ignored_with_message);
	RUN(test_leaves_early);
	RUN(test_fixture_one);
	RUN(test_fixture_two);
	RUN(test_order_reader);
	RUN(test_order_writer);
	RUN(test_segfault);
	RUN(test_aborts);
	RUN(test_exits);
	RUN(test_hangs);
	RUN(test_comes_afterwards);
	return UNITY_END();
}

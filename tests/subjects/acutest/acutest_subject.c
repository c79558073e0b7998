// acutest: TEST_INIT and TEST_FINI around each test, TEST_CASE inside, TEST_ASSERT that leaves the test. An old copy and
// a new one; for tests that are skipped, which only the new one has, see acutest_skips.
//
//@ subject framework=acutest lang=c packages="dpkg-dev"
//@ variant old uses=acutest-nng
//@ variant new uses=acutest-neomutt

static void set_up(void);
static void tear_down(void);
#define TEST_INIT set_up()
#define TEST_FINI tear_down()
#include "acutest.h"

#include <stdlib.h>
#include <unistd.h>

static int live;

static void set_up(void)
{
	live++;
}

static void tear_down(void)
{
	live--;
}

static void passes(void) //@ test plain/passes pass
{
	TEST_CHECK(2 + 2 == 4);
}

static void fails(void) //@ test plain/wrong fail
{
	TEST_CHECK(1 == 1);
	TEST_CHECK(1 == 2); //@ fails plain/wrong
	TEST_MSG("said %d", 1);
	TEST_CHECK(1 == 3);
}

static void in_case(void) //@ test plain/in_case fail
{
	for (int i = 0; i < 5; i++) {
		TEST_CASE("a round");
		TEST_CHECK_(i < 3, "%d is small", i); //@ fails plain/in_case
	}
}

static void check_in_helper(int value)
{
	TEST_CHECK(value < 10); //@ fails plain/in_helper
}

static void in_helper(void) //@ test plain/in_helper fail
{
	check_in_helper(3);
	check_in_helper(11);
}

static void leaves(void) //@ test plain/leaves fail
{
	TEST_ASSERT(live == 7); //@ fails plain/leaves
	abort();
}

static void says_failed(void) //@ test plain/says_failed pass
{
	puts("acutest_subject.c:1: this is not a check... failed");
}

static void many_checks(void) //@ test plain/many_checks pass
{
	for (int i = 0; i < 20000; i++)
		TEST_CHECK(i >= 0);
}

static void fixture_one(void) //@ test fixture/one pass
{
	TEST_CHECK(live == 1);
}

static void fixture_two(void) //@ test fixture/two pass
{
	TEST_CHECK(live == 1);
}

// Tests whose outcome tells the order they ran in.
static int written;

static void reader(void) //@ test order/reader pass after=order/writer:fail
{
	TEST_CHECK(!written); //@ fails order/reader
}

static void writer(void) //@ test order/writer pass
{
	written = 1;
}

// Tests that do not come back.
static void segfault(void) //@ test gone/segfault crash
{
	volatile int *volatile null = NULL;
	*null = 1;
}

static void aborts(void) //@ test gone/aborts crash
{
	abort();
}

// By default each test has a process of its own, and its exit status counts.
static void leaves_well(void) //@ test gone/leaves_well pass ends
{
	exit(0);
}

static void hangs(void) //@ test gone/hangs timeout
{
	for (;;)
		pause();
}

static void comes_afterwards(void) //@ test gone/comes_afterwards pass
{
}

TEST_LIST = {
	{"plain/passes", passes},
	{"plain/wrong", fails},
	{"plain/in_case", in_case},
	{"plain/in_helper", in_helper},
	{"plain/leaves", leaves},
	{"plain/says_failed", says_failed},
	{"plain/many_checks", many_checks},
	{"fixture/one", fixture_one},
	{"fixture/two", fixture_two},
	{"order/reader", reader},
	{"order/writer", writer},
	{"gone/segfault", segfault},
	{"gone/aborts", aborts},
	{"gone/leaves_well", leaves_well},
	{"gone/hangs", hangs},
	{"gone/comes_afterwards", comes_afterwards},
	{NULL, NULL},
};

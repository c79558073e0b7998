// greatest: suites with and without fixtures, tests with arguments, tests that main() runs, skipping, longjmp.
//
//@ subject framework=greatest lang=c
//@ variant 1.3 uses=greatest-1.3
//@ variant 1.4 uses=greatest-1.4
//@ variant 1.5 uses=greatest-1.5

#define GREATEST_USE_LONGJMP 1
#include "greatest.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

// Tests that do not come back.
TEST by_signal(void) //@ test ends/by_signal crash
{
	raise(SIGSEGV);
	PASS();
}

TEST by_exit(void) //@ test ends/by_exit crash
{
	exit(0);
}

TEST by_hanging(void) //@ test ends/by_hanging timeout
{
	for (;;)
		pause();
	PASS();
}

SUITE(ends)
{
	RUN_TEST(by_signal);
	RUN_TEST(by_exit);
	RUN_TEST(by_hanging);
}

TEST passes(void) //@ test plain/passes pass //@ test passes pass
{
	ASSERT_EQ(2 + 2, 4);
	PASS();
}

TEST fails(void) //@ test plain/fails fail
{
	ASSERT_EQm("with a message", 1, 2); //@ fails plain/fails
	PASS();
}

static void fail_deep(void)
{
	FAIL_WITH_LONGJMPm("from deep"); //@ fails plain/jumps
}

TEST jumps(void) //@ test plain/jumps fail
{
	fail_deep();
	PASS();
}

TEST skips(void) //@ test plain/skips skip
{
	SKIPm("for a reason");
}

SUITE(plain)
{
	RUN_TEST(passes);
	RUN_TEST(fails);
	RUN_TEST(jumps);
	RUN_TEST(skips);
}

static int live;

static void set_up(void *data)
{
	live += *(int *)data;
}

static void tear_down(void *data)
{
	live -= *(int *)data;
}

TEST one(void) //@ test fixture/one pass
{
	ASSERT_EQ(live, 1);
	PASS();
}

TEST fails_with_fixture(void) //@ test fixture/fails_with_fixture fail
{
	ASSERT_EQ(live, 2); //@ fails fixture/fails_with_fixture
	PASS();
}

TEST two(void) //@ test fixture/two pass
{
	ASSERT_EQ(live, 1);
	PASS();
}

TEST without(void) //@ test fixture/without pass
{
	ASSERT_EQ(live, 0);
	PASS();
}

SUITE(fixture)
{
	static int by = 1;
	RUN_TEST(without);
	SET_SETUP(set_up, &by);
	SET_TEARDOWN(tear_down, &by);
	RUN_TEST(one);
	RUN_TEST(fails_with_fixture);
	RUN_TEST(two);
}

//@ test numbers/is_small pass
//@ test numbers/is_small#2 pass
//@ test numbers/is_small#3 fail
TEST is_small(int number)
{
	ASSERT(number < 2); //@ fails numbers/is_small#3
	PASS();
}

SUITE(numbers)
{
	for (int i = 0; i < 3; i++)
		RUN_TESTp(is_small, i);
}

// Tests whose outcome tells the order they ran in.
static int written;

TEST reader(void) //@ test order/reader pass after=order/writer:fail
{
	ASSERT_FALSE(written); //@ fails order/reader
	PASS();
}

TEST writer(void) //@ test order/writer pass
{
	written = 1;
	PASS();
}

SUITE(order)
{
	RUN_TEST(reader);
	RUN_TEST(writer);
}

TEST last(void) //@ test last pass
{
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(ends);
	RUN_SUITE(plain);
	RUN_SUITE(fixture);
	RUN_SUITE(numbers);
	RUN_SUITE(order);
	RUN_TEST(passes);
	RUN_TEST(last);
	GREATEST_MAIN_END();
}

// utest.h: tests in sets, with fixtures, with a number; expectations and assertions.
//
//@ subject framework=utest lang=c
//@ variant suitesparse uses=utest-suitesparse

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "utest.h"

UTEST_MAIN()

UTEST(suite_plain, passes) //@ test suite_plain.passes pass
{
	ASSERT_EQ(2 + 2, 4);
}

UTEST(suite_plain, fails) //@ test suite_plain.fails fail
{
	EXPECT_EQ(1, 2); //@ fails suite_plain.fails
	ASSERT_TRUE(0);
}

UTEST(suite_plain, compares_texts) //@ test suite_plain.compares_texts fail
{
	ASSERT_STREQ("one", "two"); //@ fails suite_plain.compares_texts
}

UTEST(suite_plain, clears_errno) //@ test suite_plain.clears_errno pass
{
	ASSERT_EQ(0, errno);
	errno = ENOENT;
}

static int live;

struct suite_object {
	int number;
};

UTEST_F_SETUP(suite_object)
{
	utest_fixture->number = 7;
	live++;
	ASSERT_TRUE(1);
}

UTEST_F_TEARDOWN(suite_object)
{
	live--;
	ASSERT_EQ(live, 0);
}

UTEST_F(suite_object, one) //@ test suite_object.one pass
{
	ASSERT_EQ(7, utest_fixture->number);
	ASSERT_EQ(1, live);
}

UTEST_F(suite_object, fails) //@ test suite_object.fails fail
{
	ASSERT_EQ(8, utest_fixture->number); //@ fails suite_object.fails
}

UTEST_F(suite_object, two) //@ test suite_object.two pass
{
	ASSERT_EQ(1, live);
}

struct suite_numbered {
	size_t number;
};

UTEST_I_SETUP(suite_numbered)
{
	utest_fixture->number = utest_index;
	ASSERT_TRUE(1);
}

UTEST_I_TEARDOWN(suite_numbered)
{
	ASSERT_TRUE(utest_fixture->number == utest_index);
}

//@ test suite_numbered.is_small/0 pass
//@ test suite_numbered.is_small/1 pass
//@ test suite_numbered.is_small/2 fail
UTEST_I(suite_numbered, is_small, 3)
{
	ASSERT_LT(utest_fixture->number, 2u); //@ fails suite_numbered.is_small/2
}

// Tests whose outcome tells the order they ran in.
static int written;

UTEST(suite_order, reader) //@ test suite_order.reader pass after=suite_order.writer:fail
{
	ASSERT_FALSE(written); //@ fails suite_order.reader
}

UTEST(suite_order, writer) //@ test suite_order.writer pass
{
	written = 1;
	ASSERT_TRUE(written);
}

// Tests that do not come back.
UTEST(ends, by_signal) //@ test ends.by_signal crash
{
	raise(SIGSEGV);
	ASSERT_TRUE(1);
}

UTEST(ends, by_exit) //@ test ends.by_exit crash
{
	exit(0);
	ASSERT_TRUE(1);
}

UTEST(ends, by_hanging) //@ test ends.by_hanging timeout
{
	for (;;)
		pause();
	ASSERT_TRUE(1);
}

UTEST(suite_after, that) //@ test suite_after.that pass
{
	ASSERT_TRUE(1);
}

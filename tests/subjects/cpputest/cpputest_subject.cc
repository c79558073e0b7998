// CppUTest: groups with set-up and tear-down, ignored tests, leak detection.
//
//@ subject framework=cpputest lang=c++ header=CppUTest/TestHarness.h packages="libcpputest-dev"
//@ variant static libs="-lCppUTest -pthread"

#include <CppUTest/CommandLineTestRunner.h>
#include <CppUTest/TestHarness.h>

#include <cstdlib>
#include <stdexcept>

#include <unistd.h>

TEST_GROUP(Plain){};

TEST(Plain, Passes) //@ test Plain.Passes pass
{
	LONGS_EQUAL(4, 2 + 2);
}

TEST(Plain, Fails) //@ test Plain.Fails fail
{
	STRCMP_EQUAL("a", "b"); //@ fails Plain.Fails
}

TEST(Plain, FailsFlatly) //@ test Plain.FailsFlatly fail
{
	FAIL("a message"); //@ fails Plain.FailsFlatly
}

static void check_in_helper(int value)
{
	CHECK(value < 10); //@ fails Plain.FailsInHelper
}

TEST(Plain, FailsInHelper) //@ test Plain.FailsInHelper fail
{
	check_in_helper(3);
	check_in_helper(11);
}

IGNORE_TEST(Plain, Ignored) //@ test Plain.Ignored skip
{
	FAIL("an ignored test has run");
}

TEST(Plain, Leaks) //@ test Plain.Leaks fail //@ fails Plain.Leaks
{
	char *volatile leak = new char[100];
	(void)leak;
}

static int live;

TEST_GROUP(Fixture)
{
	int *number;
	void setup() override
	{
		live++;
		number = new int(5);
	}
	void teardown() override
	{
		live--;
		delete number;
	}
};

TEST(Fixture, One) //@ test Fixture.One pass
{
	LONGS_EQUAL(1, live);
	LONGS_EQUAL(5, *number);
}

TEST(Fixture, Fails) //@ test Fixture.Fails fail
{
	LONGS_EQUAL(2, live); //@ fails Fixture.Fails
}

TEST(Fixture, Two) //@ test Fixture.Two pass
{
	LONGS_EQUAL(1, live);
}

// Tests whose outcome tells the order they ran in.
static bool written;

TEST_GROUP(Order){};

TEST(Order, Reader) //@ test Order.Reader pass after=Order.Writer:fail
{
	CHECK_FALSE(written); //@ fails Order.Reader
}

TEST(Order, Writer) //@ test Order.Writer pass
{
	written = true;
}

// Tests that do not come back.
TEST_GROUP(NoReturn){};

TEST(NoReturn, Segfault) //@ test NoReturn.Segfault crash
{
	volatile int *volatile null = nullptr;
	*null = 1;
}

TEST(NoReturn, Abort) //@ test NoReturn.Abort crash
{
	abort();
}

TEST(NoReturn, Exit) //@ test NoReturn.Exit crash
{
	exit(0);
}

// CppUTest 4.0 catches only its own exceptions: the process ends in std::terminate.
TEST(NoReturn, Throws) //@ test NoReturn.Throws crash
{
	throw std::runtime_error("nobody catches this");
}

TEST(NoReturn, Hang) //@ test NoReturn.Hang timeout
{
	for (;;)
		pause();
}

TEST(NoReturn, ComesAfterwards) //@ test NoReturn.ComesAfterwards pass
{
}

int main(int argc, char **argv)
{
	return CommandLineTestRunner::RunAllTests(argc, argv);
}

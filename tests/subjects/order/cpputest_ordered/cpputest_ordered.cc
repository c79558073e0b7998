// CppUTest: tests with a level come by level, after all tests without one.
//
//@ subject framework=cpputest lang=c++ header=CppUTestExt/OrderedTest.h
//@ variant plain cflags="-DCPPUTEST_MEM_LEAK_DETECTION_DISABLED" libs="-lCppUTestExt -lCppUTest -pthread" quick=gcc-O0
//@ run default

#include <CppUTest/CommandLineTestRunner.h>
#include <CppUTest/TestHarness.h>
#include <CppUTestExt/OrderedTest.h>

static int steps;

TEST_GROUP(Ordered){};

TEST(Ordered, Begins)
{
	LONGS_EQUAL(0, steps);
}

TEST_ORDERED(Ordered, First, 1)
{
	steps = 1;
}

TEST_ORDERED(Ordered, Second, 2)
{
	LONGS_EQUAL(1, steps);
}

int main(int argc, char **argv)
{
	return CommandLineTestRunner::RunAllTests(argc, argv);
}

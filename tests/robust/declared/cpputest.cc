// Tests with levels, defined in no order, among others.
#include <CppUTest/CommandLineTestRunner.h>
#include <CppUTest/TestHarness.h>
#include <CppUTestExt/OrderedTest.h>

TEST_GROUP(Levels) {};
TEST_ORDERED(Levels, third, 7) {}
TEST(Levels, free_one) {}
TEST_ORDERED(Levels, first, -2) {}
TEST_ORDERED(Levels, second, 5) {}
TEST_ORDERED(Levels, second_too, 5) {}

int main(int argc, char **argv)
{
	return CommandLineTestRunner::RunAllTests(argc, argv);
}

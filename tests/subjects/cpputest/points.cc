//@ points static count=3 flags="-std=c++17 -lCppUTest -pthread" folded=yes
#include <CppUTest/CommandLineTestRunner.h>
#include <CppUTest/TestHarness.h>

#include "note.h"

TEST_GROUP(With)
{
	void setup() override { note("setup"); }
	void teardown() override { note("teardown"); }
};
TEST(With, One) { note("body"); }
TEST(With, Fails)
{
	note("body");
	FAIL("no");
}

TEST_GROUP(Plain){};
TEST(Plain, One) { note("body"); }

int main(int argc, char **argv)
{
	return CommandLineTestRunner::RunAllTests(argc, argv);
}

//@ restore header=CppUTest/TestHarness.h flags="-lCppUTest -lpthread"
#include "stock.h"

#include <CppUTest/CommandLineTestRunner.h>
#include <CppUTest/TestHarness.h>
/* Its leak detection would call what stays a leak. */
TEST_GROUP(small) { void setup() { MemoryLeakWarningPlugin::turnOffNewDeleteOverloads(); } };
TEST(small, victim) { CHECK(passes()); }
TEST(small, pollute) { CHECK(pollutes()); }
int main(int argc, char **argv)
{
	MemoryLeakWarningPlugin::turnOffNewDeleteOverloads();
	return CommandLineTestRunner::RunAllTests(argc, argv);
}

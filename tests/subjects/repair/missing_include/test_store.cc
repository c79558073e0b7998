// The function is declared in a header that the test does not include.
//
//@ subject framework=cpputest lang=c++ header=CppUTest/TestHarness.h packages="libcpputest-dev"
//@ variant static libs="-lCppUTest -pthread" quick=gcc-O0

#include "store.h"

#include <CppUTest/CommandLineTestRunner.h>
#include <CppUTest/TestHarness.h>

TEST_GROUP(Store){};

TEST(Store, Puts)
{
	CHECK(store_put(4) > 0);
}

TEST(Store, IsEmpty) //@ mend Store.IsEmpty function=store_wipe added="store_wipe();" also="#include \"store_admin.h\""
{
	LONGS_EQUAL(0, store_count());
}

int main(int argc, char **argv)
{
	return CommandLineTestRunner::RunAllTests(argc, argv);
}

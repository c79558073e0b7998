// GoogleTest: what is the framework's own is left out, and said; variables of the project are not, whatever their names,
// their types, and the folder that they are in.
//
//@ subject framework=gtest lang=c++ header=gtest/gtest.h
//@ variant plain libs="-lgtest -lgtest_main -pthread" builds=gcc-O0,clang-O2 quick=gcc-O0
//@ variant bundled uses=gtest-old builds=gcc-O2 quick=no
//@ variant new uses=gtest-new builds=gcc-O0 quick=no
//@ says "variables of GoogleTest"

#include <gtest/gtest.h>

#include <string>

int global_counter;
int cm_state;
int UnityAssets;
int __reserved;
struct TestResult {
	int n;
} last_result;
namespace app::testing {
int level;
}

TEST(Names, Global) //@ pollutes Names.Global global_counter global_counter before=0 after=1
{
	global_counter++;
}

TEST(Names, Prefix) //@ pollutes Names.Prefix cm_state cm_state
{
	cm_state++;
}

TEST(Names, Unity) //@ pollutes Names.Unity UnityAssets UnityAssets
{
	UnityAssets++;
}

TEST(Names, Reserved) //@ pollutes Names.Reserved __reserved __reserved
{
	__reserved++;
}

TEST(Names, Type) //@ pollutes Names.Type last_result last_result.n
{
	last_result.n++;
}

TEST(Names, Namespace) //@ pollutes Names.Namespace app::testing::level app::testing::level
{
	app::testing::level++;
}

// What the framework keeps: results, properties, traces, flags.
TEST(Framework, Counts) //@ clean Framework.Counts
{
	EXPECT_EQ(1, 1);
	RecordProperty("key", "value");
	SCOPED_TRACE("a trace");
	EXPECT_TRUE(true);
}

TEST(Framework, Flag) //@ clean Framework.Flag
{
	::testing::GTEST_FLAG(print_time) = !::testing::GTEST_FLAG(print_time);
}

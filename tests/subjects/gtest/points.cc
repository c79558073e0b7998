//@ points static count=6 flags="-std=c++17 -lgtest_main -lgtest -pthread" folded=yes
#include <gtest/gtest.h>

#include "note.h"

class With : public testing::Test {
protected:
	void SetUp() override { note("setup"); }
	void TearDown() override { note("teardown"); }
};

TEST_F(With, One) { note("body"); }
TEST_F(With, Fails)
{
	note("body");
	ASSERT_TRUE(false);
}
TEST(Plain, One) { note("body"); }

/* The fixture is not the first base: its functions are called through thunks. */
struct Other {
	virtual ~Other() {}
	virtual void other() {}
	long data = 0;
};
class Second : public Other, public testing::Test {
protected:
	void SetUp() override { note("setup"); }
	void TearDown() override { note("teardown"); }
};
TEST_F(Second, One) { note("body"); }

class Values : public testing::TestWithParam<int> {
protected:
	void SetUp() override { note("setup"); }
	void TearDown() override { note("teardown"); }
};
TEST_P(Values, One) { note("body"); }
INSTANTIATE_TEST_SUITE_P(Some, Values, testing::Values(1, 2));

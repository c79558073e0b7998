//@ restore header=gtest/gtest.h flags="-lgtest -lpthread"
#define FILLED_BY_SET_UP
#include "stock.h"

#include <gtest/gtest.h>
class small : public testing::Test {
protected:
	static void SetUpTestSuite() { prepare(); }
};
TEST_F(small, victim) { EXPECT_TRUE(passes()); }
TEST_F(small, pollute) { EXPECT_TRUE(pollutes()); }
int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}

// Suites, typed and with values, and suites of death tests, which the framework runs first.
#include <gtest/gtest.h>

TEST(Plain, One) {}
TEST(Other, One) {}
TEST(Plain, Two) {}
TEST(PlainDeathTest, One) {}
TEST(DeathTestOfName, One) {}

class Values : public testing::TestWithParam<int> {};
TEST_P(Values, One) {}
TEST_P(Values, Two) {}
INSTANTIATE_TEST_SUITE_P(Some, Values, testing::Values(1, 2));

template <class T> class TypedDeathTest : public testing::Test {};
using types = testing::Types<char, int>;
TYPED_TEST_SUITE(TypedDeathTest, types);
TYPED_TEST(TypedDeathTest, One) {}

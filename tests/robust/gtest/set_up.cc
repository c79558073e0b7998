// Set-ups above the fixture that skip or fail: of the whole program (GLOBAL=) and of one suite (SUITE=).
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace {

bool says(const char *who, const char *what)
{
	const char *word = getenv(who);
	return word && !strcmp(word, what);
}

class Global : public ::testing::Environment {
	void SetUp() override
	{
		if (says("GLOBAL", "skip"))
			GTEST_SKIP() << "the machine is not for this";
		if (says("GLOBAL", "fail"))
			FAIL() << "the machine is broken";
	}
};

class Suite : public ::testing::Test {
protected:
	static void SetUpTestSuite()
	{
		if (says("SUITE", "skip"))
			GTEST_SKIP() << "the suite is not for this";
		if (says("SUITE", "fail"))
			FAIL() << "the suite is broken";
	}
};

TEST_F(Suite, One) {}
TEST_F(Suite, Two) { FAIL(); }
TEST(Other, One) {}
TEST(Other, Two) { FAIL(); }

} // namespace

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	testing::AddGlobalTestEnvironment(new Global);
	return RUN_ALL_TESTS();
}

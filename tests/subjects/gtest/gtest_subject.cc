// GoogleTest: plain, parametrised, typed and type-parametrised tests, fixtures of both levels, death tests.
//
//@ subject framework=gtest lang=c++ header=gtest/gtest.h packages="libgtest-dev libgmock-dev"
//@ variant static libs="-lgtest_main -lgtest -pthread"
//@ variant shared uses=gtest-shared
//@ variant old uses=gtest-old
//@ variant new uses=gtest-new
//@ variant lto uses=gtest-lto builds=gcc-O0,gcc-O2

#include <gtest/gtest.h>

#include <gtest/gtest-spi.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

TEST(Plain, Passes) //@ test Plain.Passes pass
{
	EXPECT_EQ(4, 2 + 2);
}

TEST(Plain, FailsFatally) //@ test Plain.FailsFatally fail
{
	int four = 4;
	ASSERT_EQ(5, four) << "two lines\nof message"; //@ fails Plain.FailsFatally
	EXPECT_TRUE(false) << "not reached";
}

TEST(Plain, FailsAndGoesOn) //@ test Plain.FailsAndGoesOn fail
{
	EXPECT_STREQ("a", "b"); //@ fails Plain.FailsAndGoesOn
	EXPECT_TRUE(false) << "the second failure";
}

void check_in_helper(int value)
{
	ASSERT_LT(value, 10); //@ fails Plain.FailsInHelper
}

TEST(Plain, FailsInHelper) //@ test Plain.FailsInHelper fail
{
	check_in_helper(3);
	check_in_helper(11);
}

TEST(Plain, Throws) //@ test Plain.Throws fail
{
	throw std::runtime_error("nobody catches this");
}

TEST(Plain, ThrowsAnInt) //@ test Plain.ThrowsAnInt fail
{
	throw 42;
}

TEST(Plain, Skips) //@ test Plain.Skips skip
{
	GTEST_SKIP() << "not today";
}

TEST(Plain, DISABLED_NotRun) //@ test Plain.DISABLED_NotRun skip
{
	FAIL() << "a disabled test has run";
}

TEST(DISABLED_Whole, NotRun) //@ test DISABLED_Whole.NotRun skip
{
	FAIL() << "a test of a disabled suite has run";
}

// The fixtures of both levels must have run exactly once around each test.
class Fixture : public ::testing::Test {
protected:
	static void SetUpTestSuite() { suite_level = new std::vector<std::string>{"suite"}; }
	static void TearDownTestSuite()
	{
		delete suite_level;
		suite_level = nullptr;
	}

	Fixture() { constructed++; }
	~Fixture() override { constructed--; }
	void SetUp() override
	{
		set_up++;
		if (suite_level)
			suite_level->push_back("test");
	}
	void TearDown() override
	{
		set_up--;
		suite_level->pop_back();
	}
	void ready()
	{
		ASSERT_NE(nullptr, suite_level);
		ASSERT_EQ(2u, suite_level->size());
		ASSERT_EQ(1, constructed);
		ASSERT_EQ(1, set_up);
	}

	static std::vector<std::string> *suite_level;
	static int constructed, set_up;
};
std::vector<std::string> *Fixture::suite_level;
int Fixture::constructed, Fixture::set_up;

TEST_F(Fixture, First) { ready(); }  //@ test Fixture.First pass
TEST_F(Fixture, Second) { ready(); } //@ test Fixture.Second pass
TEST_F(Fixture, Fails)		     //@ test Fixture.Fails fail
{
	ready();
	FAIL(); //@ fails Fixture.Fails
}
TEST_F(Fixture, Last) { ready(); } //@ test Fixture.Last pass

class SkippedBySetUp : public ::testing::Test {
	void SetUp() override { GTEST_SKIP() << "set-up says no"; }
};
TEST_F(SkippedBySetUp, Body) { FAIL(); } //@ test SkippedBySetUp.Body skip

class FailsInSetUp : public ::testing::Test {
	void SetUp() override { FAIL() << "set-up fails"; } //@ fails FailsInSetUp.Body
};
TEST_F(FailsInSetUp, Body) {} //@ test FailsInSetUp.Body fail

class FailsInTearDown : public ::testing::Test {
	void TearDown() override { ADD_FAILURE() << "tear-down fails"; } //@ fails FailsInTearDown.Body
};
TEST_F(FailsInTearDown, Body) {} //@ test FailsInTearDown.Body fail

// Failures that a test intercepts, to check that they are reported, are not its own.
TEST(Intercepted, NonFatally) //@ test Intercepted.NonFatally pass
{
	EXPECT_NONFATAL_FAILURE(ADD_FAILURE() << "on purpose", "on purpose");
}
TEST(Intercepted, Fatally) //@ test Intercepted.Fatally pass
{
	EXPECT_FATAL_FAILURE(FAIL() << "on purpose", "on purpose");
}
TEST(Intercepted, OnAllThreads) //@ test Intercepted.OnAllThreads pass
{
	EXPECT_NONFATAL_FAILURE_ON_ALL_THREADS(ADD_FAILURE() << "on purpose", "on purpose");
}
TEST(Intercepted, BeforeItsOwn) //@ test Intercepted.BeforeItsOwn fail
{
	EXPECT_NONFATAL_FAILURE(ADD_FAILURE() << "on purpose", "on purpose");
	ADD_FAILURE() << "its own"; //@ fails Intercepted.BeforeItsOwn
}
TEST(Intercepted, BeforeACrash) //@ test Intercepted.BeforeACrash crash
{
	EXPECT_NONFATAL_FAILURE(ADD_FAILURE() << "on purpose", "on purpose");
	abort();
}

// Value-parametrised.
class Numbers : public ::testing::TestWithParam<int> {};

//@ test Small/Numbers.AreBelowFive/0 pass
//@ test Small/Numbers.AreBelowFive/1 pass
//@ test Mixed/Numbers.AreBelowFive/one pass
//@ test Mixed/Numbers.AreBelowFive/seven fail
TEST_P(Numbers, AreBelowFive)
{
	EXPECT_LT(GetParam(), 5); //@ fails Mixed/Numbers.AreBelowFive/seven
}
//@ test Small/Numbers.ArePositive/0 pass
//@ test Small/Numbers.ArePositive/1 pass
//@ test Mixed/Numbers.ArePositive/one pass
//@ test Mixed/Numbers.ArePositive/seven pass
TEST_P(Numbers, ArePositive)
{
	EXPECT_GT(GetParam(), 0);
}
INSTANTIATE_TEST_SUITE_P(Small, Numbers, ::testing::Values(1, 2));
INSTANTIATE_TEST_SUITE_P(Mixed, Numbers, ::testing::Values(1, 7),
			 [](const ::testing::TestParamInfo<int> &info) {
				 return std::string(info.param == 1 ? "one" : "seven");
			 });

// Typed.
template <typename T> class Typed : public ::testing::Test {};
using Types = ::testing::Types<char, int>;
TYPED_TEST_SUITE(Typed, Types);

//@ test Typed/0.IsWide fail
//@ test Typed/1.IsWide pass
TYPED_TEST(Typed, IsWide)
{
	EXPECT_GE(sizeof(TypeParam), 4u); //@ fails Typed/0.IsWide
}
//@ test Typed/0.IsZero pass
//@ test Typed/1.IsZero pass
TYPED_TEST(Typed, IsZero)
{
	EXPECT_EQ(TypeParam(), 0);
}

// Type-parametrised.
template <typename T> class TypeParametrised : public ::testing::Test {};
TYPED_TEST_SUITE_P(TypeParametrised);

//@ test My/TypeParametrised/0.IsDefault pass
//@ test My/TypeParametrised/1.IsDefault pass
TYPED_TEST_P(TypeParametrised, IsDefault)
{
	EXPECT_EQ(TypeParam(), TypeParam());
}
REGISTER_TYPED_TEST_SUITE_P(TypeParametrised, IsDefault);
using MyTypes = ::testing::Types<int, std::string>;
INSTANTIATE_TYPED_TEST_SUITE_P(My, TypeParametrised, MyTypes);

// Death tests: the fast style forks, the threadsafe one starts the executable again.
TEST(FastDeathTest, Dies) //@ test FastDeathTest.Dies pass
{
	EXPECT_DEATH(abort(), "");
	EXPECT_EXIT(exit(3), ::testing::ExitedWithCode(3), "");
}
TEST(FastDeathTest, Survives) //@ test FastDeathTest.Survives fail
{
	EXPECT_DEATH((void)getpid(), ""); //@ fails FastDeathTest.Survives
}
TEST(ThreadsafeDeathTest, Dies) //@ test ThreadsafeDeathTest.Dies pass
{
	::testing::FLAGS_gtest_death_test_style = "threadsafe";
	EXPECT_DEATH(abort(), "");
}

// Tests whose outcome tells the order they ran in.
bool written;
TEST(Order, Reader) //@ test Order.Reader pass after=Order.Writer:fail
{
	EXPECT_FALSE(written); //@ fails Order.Reader
}
TEST(Order, Writer) //@ test Order.Writer pass
{
	written = true;
}

// Tests that do not come back.
TEST(NoReturn, Segfault) //@ test NoReturn.Segfault crash
{
	volatile int *volatile null = nullptr;
	*null = 1;
}
TEST(NoReturn, Abort) //@ test NoReturn.Abort crash
{
	abort();
}
TEST(NoReturn, Exit) //@ test NoReturn.Exit crash
{
	exit(0);
}
TEST(NoReturn, Hang) //@ test NoReturn.Hang timeout
{
	for (;;)
		pause();
}
TEST(NoReturn, ComesAfterwards) //@ test NoReturn.ComesAfterwards pass
{
	SUCCEED();
}

} // namespace

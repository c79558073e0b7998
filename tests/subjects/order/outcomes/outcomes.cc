// GoogleTest: tests that always fail, are disabled or skip themselves: none of them is order-dependent.
//
//@ subject framework=gtest lang=c++ header=gtest/gtest.h
//@ variant plain libs="-lgtest -lgtest_main -pthread" quick=gcc-O0

#include <gtest/gtest.h>

static int busy;
static int disabled_ran;
static int half;

TEST(Outcomes, Innocent)
{
	EXPECT_EQ(1, 1);
}

TEST(Outcomes, AlwaysFails) //@ order fail Outcomes.AlwaysFails
{
	EXPECT_EQ(busy, 100);
}

TEST(Outcomes, IsBusy)
{
	busy = 1;
}

// Skipping is as good as passing: where it does not run there is nothing to be wrong.
TEST(Outcomes, SkipsWhenBusy)
//@ order pass Outcomes.SkipsWhenBusy
//@ order skip Outcomes.IsBusy Outcomes.SkipsWhenBusy
{
	if (busy)
		GTEST_SKIP() << "busy";
	EXPECT_EQ(busy, 0);
}

// Would be a polluter, if it ran.
TEST(Outcomes, DISABLED_Pollutes)
{
	disabled_ran = 1;
}

TEST(Outcomes, DisabledDidNotRun)
{
	EXPECT_EQ(disabled_ran, 0);
}

TEST(Outcomes, DISABLED_Fails)
{
	EXPECT_EQ(half, 1000);
}

TEST(Outcomes, AlwaysSkips)
{
	GTEST_SKIP();
}

// Skips alone, fails after: a victim all the same.
TEST(Outcomes, SkipsOrFails) //@ victim Outcomes.SkipsOrFails polluters=Outcomes.DoesHalf polluted=half
{
	if (!half)
		GTEST_SKIP() << "nothing to look at";
	EXPECT_EQ(half, 2);
}

TEST(Outcomes, DoesHalf)
{
	half = 1;
}

TEST(Outcomes, AlwaysFailsAndPollutes)
{
	half = 0;
	FAIL();
}

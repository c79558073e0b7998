// GoogleTest: tests that depend on what is not compared, as it belongs to the framework or changes all the time. It is tried
// where nothing else makes the difference.
//
//@ subject framework=gtest lang=c++ header=gmock/gmock.h
//@ variant plain libs="-lgmock -lgtest -lgtest_main -pthread" builds=gcc-O0,clang-O2 quick=gcc-O0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <string>

static volatile double three = 3;
static int theme;

TEST(Flags, SetsVerbose)
{
	::testing::GMOCK_FLAG(verbose) = "error";
}

//@ victim Flags.ReadsVerbose polluters=Flags.SetsVerbose polluted="testing::FLAGS_gmock_verbose[abi:cxx11]"
TEST(Flags, ReadsVerbose)
{
	EXPECT_EQ(std::string(::testing::GMOCK_FLAG(verbose)), "warning");
}

TEST(Flags, SetsWhatNobodyReads)
{
	::testing::GTEST_FLAG(stack_trace_depth) = 7;
}

TEST(Floats, Divides)
{
	volatile double third = 1 / three;
	(void)third;
}

//@ victim Floats.AreExact polluters=Floats.Divides polluted=floating-point-exceptions
TEST(Floats, AreExact)
{
	EXPECT_FALSE(std::fetestexcept(FE_INEXACT));
}

// The twin: what is compared explains it, and nothing else is named.
TEST(Own, SetsTheme)
{
	theme = 1;
	::testing::GTEST_FLAG(stack_trace_depth) = 8;
}

TEST(Own, ReadsTheme) //@ victim Own.ReadsTheme polluters=Own.SetsTheme polluted=theme
{
	EXPECT_EQ(theme, 0);
}

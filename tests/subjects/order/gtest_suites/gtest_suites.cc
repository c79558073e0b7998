// GoogleTest: suites with set-up of their own. Their tests may come in any order, and the suites may; a suite is not
// taken apart unless --any-order asks for it.
//
//@ subject framework=gtest lang=c++ header=gtest/gtest.h
//@ variant plain libs="-lgtest -lgtest_main -pthread" quick=gcc-O0
//@ run any-order --any-order

#include <gtest/gtest.h>

#include <string>
#include <vector>

static std::vector<std::string> *table; // shared by the tests of one suite
static bool in_use;			// while that suite runs
static int theme;

class Table : public testing::Test {
protected:
	static void SetUpTestSuite()
	{
		table = new std::vector<std::string>{ "head" };
		in_use = true;
	}
	static void TearDownTestSuite()
	{
		delete table;
		table = nullptr;
		in_use = false;
	}
};

TEST_F(Table, HasHead)
{
	EXPECT_EQ(table->at(0), "head");
}

TEST_F(Table, HasOneRow) //@ victim Table.HasOneRow polluters=Table.AddsRow
//@ cleaned Table.HasOneRow after=Table.AddsRow by=Table.RemovesRow in=default
{
	EXPECT_EQ(table->size(), 1u);
}

TEST_F(Table, AddsRow)
{
	table->push_back("row");
}

TEST_F(Table, FindsRow) //@ brittle Table.FindsRow setters=Table.AddsRow
{
	ASSERT_GE(table->size(), 2u);
	EXPECT_EQ(table->at(1), "row");
}

TEST_F(Table, RemovesRow)
{
	table->resize(1);
}

// Other suites come before or after the whole of it: what it made is gone by then.

TEST(Idle, TableIsNotThere)
{
	EXPECT_EQ(table, nullptr);
	EXPECT_FALSE(in_use);
}

TEST(Idle, Innocent)
{
	EXPECT_EQ(2, 1 + 1);
}

TEST(Theme, IsPlain) //@ victim Theme.IsPlain polluters=Colours.AreSet polluted=theme
{
	EXPECT_EQ(theme, 0);
}

TEST(Theme, Innocent)
{
	EXPECT_EQ(3, 1 + 2);
}

TEST(Colours, AreSet)
{
	theme = 2;
}

TEST(Colours, AreThere)
{
	EXPECT_GE(theme, 0);
}

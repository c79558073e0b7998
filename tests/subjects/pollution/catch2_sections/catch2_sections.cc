// Catch2: sections, generators, and what the framework keeps for itself.
//
//@ subject framework=catch2 lang=c++ header=catch2/catch.hpp
//@ variant plain builds=gcc-O0
//@ variant optimised builds=clang-O2

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <string>
#include <vector>

std::vector<std::string> history;
int calls;

TEST_CASE("sections leave something") //@ pollutes "sections leave something" history ... effect=accumulates
{
	SECTION("one")
	{
		history.push_back("one");
	}
	SECTION("two")
	{
		history.push_back("two");
	}
	REQUIRE(!history.empty());
}

TEST_CASE("sections put back") //@ clean "sections put back"
{
	auto saved = history;
	SECTION("cleared")
	{
		history.clear();
		CHECK(history.empty());
	}
	SECTION("grown")
	{
		history.resize(100);
		CHECK(history.size() == 100);
	}
	history = saved;
}

TEST_CASE("assertions and messages") //@ clean "assertions and messages"
{
	INFO("a message that is kept until it is not needed");
	CAPTURE(history.size());
	for (int i = 0; i < 50; i++)
		CHECK(i < 50);
	REQUIRE_THROWS_AS(history.at(1000000), std::out_of_range);
}

TEST_CASE("generators") //@ clean "generators"
{
	auto number = GENERATE(1, 2, 3);
	REQUIRE(number > 0);
}

struct Fixture {
	Fixture()
	{
		calls = 5;
	}
	~Fixture()
	{
		calls = 0;
	}
};

TEST_CASE_METHOD(Fixture, "a fixture puts back") //@ clean "a fixture puts back"
{
	calls++;
	REQUIRE(calls == 6);
}

TEST_CASE("a counter") //@ pollutes "a counter" calls calls before=0 after=1 effect=accumulates
{
	calls++;
	SUCCEED();
}

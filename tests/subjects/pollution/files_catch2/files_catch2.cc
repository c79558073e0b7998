// Catch2: each section runs the test case again, on files and process state, too.
//
//@ subject framework=catch2 lang=c++ header=catch2/catch.hpp where=file
//@ variant plain builds=gcc-O0

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

TEST_CASE("sections leave files") //@ pollutes "sections leave files" one.txt one.txt before=absent //@ pollutes "sections leave files" two.txt two.txt before=absent
{
	SECTION("one")
	{
		std::ofstream("one.txt") << "one";
	}
	SECTION("two")
	{
		std::ofstream("two.txt") << "two";
	}
	REQUIRE(true);
}

TEST_CASE("one section puts back what the other left") //@ clean "one section puts back what the other left"
{
	SECTION("leaves")
	{
		std::ofstream("shortly.txt") << "one";
		setenv("SHORTLY", "1", 1);
	}
	SECTION("puts back")
	{
		fs::remove("shortly.txt");
		unsetenv("SHORTLY");
	}
	REQUIRE(true);
}

TEST_CASE("leaves a variable") //@ pollutes "leaves a variable" environment[LEFT] environment[LEFT] where=process before=unset after="\"1\""
{
	setenv("LEFT", "1", 1);
	REQUIRE(true);
}

// Catch2: what is the framework's own is left out, and said; variables of the project are not, whatever their names and
// the folder that they are in.
//
//@ subject framework=catch2 lang=c++ header=catch2/catch.hpp
//@ variant plain builds=gcc-O0 quick=gcc-O0
//@ variant optimised builds=clang-O2
//@ says "variables of Catch2"

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

int global_counter;
int cm_state;
struct TestResult {
	int n;
} last_result;
namespace app::Catch {
int level;
}

TEST_CASE("global") //@ pollutes global global_counter global_counter before=0 after=1
{
	global_counter++;
}

TEST_CASE("prefix") //@ pollutes prefix cm_state cm_state
{
	cm_state++;
}

TEST_CASE("type") //@ pollutes type last_result last_result.n
{
	last_result.n++;
}

TEST_CASE("namespace") //@ pollutes namespace app::Catch::level app::Catch::level
{
	app::Catch::level++;
}

TEST_CASE("counts") //@ clean counts
{
	INFO("what the framework keeps");
	CHECK(1 == 1);
	SECTION("one")
	{
		CHECK(true);
	}
	SECTION("two")
	{
		CHECK(true);
	}
}

// Catch2: tests that fail when they run a second time in the same process, or only a third time.
//
//@ subject framework=catch2 lang=c++ header=catch2/catch.hpp
//@ variant plain builds=gcc-O0
//@ variant optimised builds=clang-O2 quick=clang-O2

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>

static std::set<std::string> names;
static std::unique_ptr<int> owner;
static int third;
static int shared_count;

static void register_name(const std::string &name)
{
	if (!names.insert(name).second)
		throw std::runtime_error("registered twice: " + name);
}

TEST_CASE("innocent")
{
	CHECK(1 + 1 == 2);
}

//@ non-idempotent "registers a name" polluted=names
TEST_CASE("registers a name")
{
	register_name("a");
}

// The first two times all is well: nothing that the search tries runs it three times.
//@ order pass "the third time fails" "the third time fails"
//@ order fail "the third time fails" "the third time fails" "the third time fails"
TEST_CASE("the third time fails")
{
	CHECK(++third < 3);
}

TEST_CASE("registers another name and takes it back")
{
	register_name("b");
	names.erase("b");
}

//@ non-idempotent "moves out" polluted=owner
TEST_CASE("moves out")
{
	CHECK(!owner);
	owner = std::make_unique<int>(4);
}

// Both fail the second time, whichever of them was the first: each is a victim of the other, and non-idempotent.
//@ victim "counts to one" twice=yes polluters="counts to one as well"
TEST_CASE("counts to one")
{
	CHECK(++shared_count == 1);
}

//@ victim "counts to one as well" twice=yes polluters="counts to one"
TEST_CASE("counts to one as well")
{
	CHECK(++shared_count == 1);
}

// The twin: a victim that passes as often as it runs, unless another test came before.
static int mood;

//@ victim "expects no mood" twice=no polluters="has a mood" polluted=mood
TEST_CASE("expects no mood")
{
	CHECK(mood == 0);
}

TEST_CASE("has a mood")
{
	mood = 1;
	CHECK(mood == 1);
}

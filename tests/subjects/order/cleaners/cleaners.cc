// doctest: tests that undo what others left: for every polluter, for one of them only, in two steps; polluters that undo
// one another.
//
//@ subject framework=doctest lang=c++ header=doctest/doctest.h
//@ variant plain quick=clang-O2

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <map>
#include <string>

static std::map<std::string, int> registry;
static bool frozen;
static unsigned parity;
static int valve, leak;

TEST_CASE("innocent")
{
	CHECK(std::string("a") + "b" == "ab");
}

TEST_CASE("adds")
{
	registry["a"] = 1;
}

//@ victim "registry is empty" polluters="adds|adds and freezes" polluted=registry
//@ cleaned "registry is empty" after="adds" by="clears"
//@ cleaned "registry is empty" after="adds and freezes" by="thaws and clears"
//@ order fail "adds and freezes" "clears" "registry is empty"
TEST_CASE("registry is empty")
{
	CHECK(registry.empty());
}

// It clears, but fails in between: a victim of the same is no cleaner.
//@ victim "starts empty, then clears" polluters="adds|adds and freezes" polluted=registry
//@ cleaned "starts empty, then clears" after="adds" by="clears"
//@ order fail "adds" "starts empty, then clears"
//@ order pass "adds" "starts empty, then clears" "registry is empty"
TEST_CASE("starts empty, then clears")
{
	CHECK(registry.empty());
	registry.clear();
}

TEST_CASE("clears")
{
	if (!frozen)
		registry.clear();
}

TEST_CASE("adds and freezes")
{
	registry["b"] = 2;
	frozen = true;
}

// Clears only what is frozen, so it is no cleaner for the other one.
TEST_CASE("thaws and clears")
{
	if (frozen)
		registry.clear();
	frozen = false;
}

// Each is undone by the other, and by itself.
TEST_CASE("toggles")
{
	parity ^= 1;
}

//@ victim "parity is even" polluters="toggles|toggles again" polluted=parity
//@ cleaned "parity is even" after="toggles" by="toggles?|toggles again"
//@ cleaned "parity is even" after="toggles again" by="toggles|toggles again?"
//@ order pass "toggles" "toggles again" "parity is even"
//@ order pass "toggles" "toggles" "parity is even"
TEST_CASE("parity is even")
{
	CHECK(parity == 0);
}

TEST_CASE("toggles again")
{
	parity ^= 1;
}

// Two are needed to undo it.
TEST_CASE("leaks")
{
	leak = 1;
}

TEST_CASE("closes the valve")
{
	valve = 1;
}

//@ victim "is dry" polluters="leaks" polluted=leak
//@ cleaned "is dry" after="leaks" by="closes the valve,mops?"
//@ order pass "leaks" "closes the valve" "mops" "is dry"
TEST_CASE("is dry")
{
	CHECK(leak == 0);
}

TEST_CASE("mops")
{
	if (valve)
		leak = 0;
}

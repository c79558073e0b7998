// Catch2 2.x and (variant "library") 3.x: sections, generators, tags, hidden tests, templates, fixtures, odd names.
//
//@ subject framework=catch2 lang=c++ header=catch2/catch.hpp packages="catch2"
//@ variant header
//@ variant library uses=catch2-library sources=catch2_subject.cc

#include <catch2/catch.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace {

TEST_CASE("passes") //@ test passes pass
{
	CHECK(2 + 2 == 4);
}

TEST_CASE("fails with REQUIRE", "[fatal]") //@ test "fails with REQUIRE" fail
{
	int four = 4;
	REQUIRE(four == 5); //@ fails "fails with REQUIRE"
	CHECK(false);
}

TEST_CASE("fails with CHECK", "[check][tag two]") //@ test "fails with CHECK" fail
{
	CHECK(std::string("a") == "b"); //@ fails "fails with CHECK"
	CHECK(false);
}

TEST_CASE("fails with FAIL") //@ test "fails with FAIL" fail
{
	FAIL("a message\nof two lines"); //@ fails "fails with FAIL"
}

TEST_CASE("throws at once") //@ test "throws at once" fail //@ fails "throws at once"
{
	throw std::runtime_error("nobody catches this");
}

TEST_CASE("throws in an assertion") //@ test "throws in an assertion" fail
{
	std::string text("short");
	CHECK(text.at(9) == 'x'); //@ fails "throws in an assertion"
}

TEST_CASE("sections run one by one") //@ test "sections run one by one" pass
{
	int value = 1;
	SECTION("first")
	{
		value++;
		CHECK(value == 2);
		SECTION("nested") { CHECK(value == 2); }
	}
	SECTION("second") { CHECK(value == 1); }
}

TEST_CASE("one section fails") //@ test "one section fails" fail
{
	SECTION("good") { CHECK(true); }
	SECTION("bad") { CHECK(false); } //@ fails "one section fails"
	SECTION("good again") { CHECK(true); }
}

TEST_CASE("generator") //@ test generator fail
{
	int value = GENERATE(1, 2, 3);
	CHECK(value != 2); //@ fails generator
}

TEST_CASE("hidden by a tag", "[.][slow]") //@ test "hidden by a tag" skip hidden
{
	FAIL("a hidden test has run");
}

TEST_CASE("may fail", "[!mayfail]") //@ test "may fail" pass
{
	CHECK(false);
}

TEST_CASE("should fail", "[!shouldfail]") //@ test "should fail" pass
{
	CHECK(false);
}

TEST_CASE("should fail but passes", "[!shouldfail]") //@ test "should fail but passes" fail
{
	CHECK(true);
}

struct Fixture {
	static int live;
	Fixture() { live++; }
	~Fixture() { live--; }
};
int Fixture::live;

TEST_CASE_METHOD(Fixture, "fixture one") //@ test "fixture one" pass
{
	CHECK(live == 1);
}
TEST_CASE_METHOD(Fixture, "fixture fails") //@ test "fixture fails" fail
{
	REQUIRE(live == 2); //@ fails "fixture fails"
}
TEST_CASE_METHOD(Fixture, "fixture two") //@ test "fixture two" pass
{
	CHECK(live == 1);
}

//@ test "template - char" fail
//@ test "template - int" pass
TEMPLATE_TEST_CASE("template", "", char, int)
{
	CHECK(sizeof(TestType) >= 4); //@ fails "template - char"
}

SCENARIO("a scenario") //@ test "Scenario: a scenario" pass
{
	GIVEN("a number")
	{
		int number = 1;
		WHEN("it grows")
		{
			number++;
			THEN("it is two") { CHECK(number == 2); }
		}
	}
}

TEST_CASE("quotes \"double\" and 'single'") //@ test "quotes \"double\" and 'single'" pass
{
	CHECK(true);
}
TEST_CASE("comma, [bracket] * star \\ backslash") //@ test "comma, [bracket] * star \\ backslash" pass
{
	CHECK(true);
}
TEST_CASE("Übergröße ✓ 検査") //@ test "Übergröße ✓ 検査" pass
{
	CHECK(true);
}
TEST_CASE("~tilde first") //@ test "~tilde first" pass
{
	CHECK(true);
}
// Longer than a short string of any standard library, and than a line of a terminal.
//@ test "a very long name that goes on and on, for the sake of those who store names in short buffers, and then goes on a little" pass
TEST_CASE("a very long name that goes on and on, for the sake of those who store names in short buffers, and then goes on a little")
{
	CHECK(true);
}

// Tests whose outcome tells the order they ran in.
bool written;
TEST_CASE("order: reader") //@ test "order: reader" pass after="order: writer:fail"
{
	CHECK(!written); //@ fails "order: reader"
}
TEST_CASE("order: writer") //@ test "order: writer" pass
{
	written = true;
	CHECK(written);
}

// Tests that do not come back.
TEST_CASE("no return: segfault") //@ test "no return: segfault" crash
{
	volatile int *volatile null = nullptr;
	*null = 1;
}
TEST_CASE("no return: abort") //@ test "no return: abort" crash
{
	abort();
}
TEST_CASE("no return: exit") //@ test "no return: exit" crash
{
	exit(0);
}
TEST_CASE("no return: hang") //@ test "no return: hang" timeout
{
	for (;;)
		pause();
}
TEST_CASE("comes afterwards") //@ test "comes afterwards" pass
{
	CHECK(true);
}

} // namespace

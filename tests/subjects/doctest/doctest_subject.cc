// doctest: suites, subcases, decorators, fixtures, templates, odd names.
//
//@ subject framework=doctest lang=c++ header=doctest/doctest.h packages="doctest-dev"
//@ variant header
//@ variant new uses=doctest-new builds=gcc-O0,gcc-O2

#include <doctest/doctest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace {

TEST_CASE("passes") //@ test passes pass
{
	CHECK(2 + 2 == 4);
}

TEST_SUITE_BEGIN("failures");

TEST_CASE("fails with REQUIRE") //@ test "fails with REQUIRE" fail
{
	int four = 4;
	REQUIRE(four == 5); //@ fails "fails with REQUIRE"
	CHECK(false);
}

TEST_CASE("fails with CHECK") //@ test "fails with CHECK" fail
{
	CHECK(std::string("a") == "b"); //@ fails "fails with CHECK"
	CHECK(false);
}

TEST_CASE("fails with FAIL") //@ test "fails with FAIL" fail
{
	FAIL("a message"); //@ fails "fails with FAIL"
}

TEST_CASE("throws at once") //@ test "throws at once" fail
{
	throw std::runtime_error("nobody catches this");
}

TEST_CASE("throws in an assertion") //@ test "throws in an assertion" fail
{
	std::string text("short");
	CHECK(text.at(9) == 'x'); //@ fails "throws in an assertion"
}

TEST_CASE("warning only") //@ test "warning only" pass
{
	WARN(false);
}

TEST_SUITE_END();

TEST_CASE("subcases run one by one") //@ test "subcases run one by one" pass
{
	int value = 1;
	SUBCASE("first")
	{
		value++;
		CHECK(value == 2);
		SUBCASE("nested") { CHECK(value == 2); }
	}
	SUBCASE("second") { CHECK(value == 1); }
}

TEST_CASE("one subcase fails") //@ test "one subcase fails" fail
{
	SUBCASE("good") { CHECK(true); }
	SUBCASE("bad") { CHECK(false); } //@ fails "one subcase fails"
	SUBCASE("good again") { CHECK(true); }
}

TEST_SUITE("decorators")
{
	TEST_CASE("skipped" * doctest::skip()) //@ test skipped skip hidden
	{
		FAIL("a skipped test has run");
	}
	TEST_CASE("may fail" * doctest::may_fail()) //@ test "may fail" pass
	{
		CHECK(false);
	}
	TEST_CASE("should fail" * doctest::should_fail()) //@ test "should fail" pass
	{
		CHECK(false);
	}
	TEST_CASE("should fail but passes" * doctest::should_fail()) //@ test "should fail but passes" fail
	{
		CHECK(true);
	}
	TEST_CASE("two failures wanted" * doctest::expected_failures(2)) //@ test "two failures wanted" pass
	{
		CHECK(false);
		CHECK(1 == 2);
	}
}

struct Fixture {
	static int live;
	Fixture() { live++; }
	~Fixture() { live--; }
};
int Fixture::live;

TEST_CASE_FIXTURE(Fixture, "fixture one") //@ test "fixture one" pass
{
	CHECK(live == 1);
}
TEST_CASE_FIXTURE(Fixture, "fixture fails") //@ test "fixture fails" fail
{
	REQUIRE(live == 2); //@ fails "fixture fails"
}
TEST_CASE_FIXTURE(Fixture, "fixture two") //@ test "fixture two" pass
{
	CHECK(live == 1);
}

//@ test template<char> fail
//@ test template<int> pass
TEST_CASE_TEMPLATE("template", T, char, int)
{
	CHECK(sizeof(T) >= 4); //@ fails template<char>
}

SCENARIO("a scenario") //@ test "  Scenario: a scenario" pass
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
TEST_CASE("line\nbreak") //@ test "line\nbreak" pass
{
	CHECK(true);
}

TEST_SUITE("order")
{
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
}

TEST_SUITE("no return")
{
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
}

} // namespace

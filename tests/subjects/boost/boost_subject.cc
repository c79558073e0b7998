// Boost.Test: nested suites, fixtures of all levels, data-driven and template cases, decorators.
//
//@ subject framework=boost lang=c++ header=boost/test/unit_test.hpp packages="libboost-test-dev"
//@ variant static libs="-l:libboost_unit_test_framework.a"
//@ variant shared cflags="-DBOOST_TEST_DYN_LINK" libs="-lboost_unit_test_framework"
//@ variant header cflags="-DSUBJECT_HEADER_ONLY" builds=gcc-O0,clang-O2

#include <boost/mpl/list.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace utf = boost::unit_test;

struct Global {
	static int live;
	Global() { live++; }
	~Global() { live--; }
};
int Global::live;
BOOST_TEST_GLOBAL_FIXTURE(Global);

BOOST_AUTO_TEST_CASE(passes) //@ test passes pass
{
	BOOST_TEST(2 + 2 == 4);
	BOOST_TEST(Global::live == 1);
}

BOOST_AUTO_TEST_SUITE(failures)

BOOST_AUTO_TEST_CASE(fatal) //@ test failures/fatal fail
{
	int four = 4;
	BOOST_REQUIRE_EQUAL(four, 5); //@ fails failures/fatal
	BOOST_TEST(false);
}

BOOST_AUTO_TEST_CASE(goes_on) //@ test failures/goes_on fail
{
	BOOST_CHECK_EQUAL("a", "b"); //@ fails failures/goes_on
	BOOST_TEST(false);
}

BOOST_AUTO_TEST_CASE(warning_only) //@ test failures/warning_only pass
{
	BOOST_TEST(true);
	BOOST_WARN_MESSAGE(false, "only a warning");
}

BOOST_AUTO_TEST_CASE(throws) //@ test failures/throws fail
{
	throw std::runtime_error("nobody catches this");
}

BOOST_AUTO_TEST_SUITE(nested)
BOOST_AUTO_TEST_CASE(passes) //@ test failures/nested/passes pass
{
	BOOST_TEST(true);
}
BOOST_AUTO_TEST_CASE(fails) //@ test failures/nested/fails fail
{
	BOOST_FAIL("a message"); //@ fails failures/nested/fails
}
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

struct Fixture {
	static int live;
	Fixture() { live++; }
	~Fixture() { live--; }
};
int Fixture::live;

struct SuiteFixture {
	static int live;
	void setup() { live++; }
	void teardown() { live--; }
};
int SuiteFixture::live;

BOOST_AUTO_TEST_SUITE(fixtures, *utf::fixture<SuiteFixture>())
BOOST_FIXTURE_TEST_CASE(one, Fixture) //@ test fixtures/one pass
{
	BOOST_TEST(Fixture::live == 1);
	BOOST_TEST(SuiteFixture::live == 1);
}
BOOST_FIXTURE_TEST_CASE(fails, Fixture) //@ test fixtures/fails fail
{
	BOOST_REQUIRE(Fixture::live == 2); //@ fails fixtures/fails
}
BOOST_FIXTURE_TEST_CASE(two, Fixture) //@ test fixtures/two pass
{
	BOOST_TEST(Fixture::live == 1);
	BOOST_TEST(SuiteFixture::live == 1);
}
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(data)
//@ test data/small/_0 pass
//@ test data/small/_1 pass
//@ test data/small/_2 fail
BOOST_DATA_TEST_CASE(small, utf::data::make({1, 2, 7}), value)
{
	BOOST_TEST(value < 5); //@ fails data/small/_2
}
typedef boost::mpl::list<char, int> types;
//@ test data/wide<char> fail
//@ test data/wide<int> pass
BOOST_AUTO_TEST_CASE_TEMPLATE(wide, T, types)
{
	BOOST_TEST(sizeof(T) >= 4u); //@ fails data/wide<char>
}
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(decorators)
BOOST_AUTO_TEST_CASE(disabled, *utf::disabled()) //@ test decorators/disabled skip
{
	BOOST_FAIL("a disabled test has run");
}
BOOST_AUTO_TEST_CASE(expects_one, *utf::expected_failures(1)) //@ test decorators/expects_one pass
{
	BOOST_TEST(false);
}
// Registered before the test it depends on, and run after it all the same.
BOOST_AUTO_TEST_CASE(dependent, *utf::depends_on("decorators/base")) //@ test decorators/dependent pass
{
	BOOST_TEST(true);
}
BOOST_AUTO_TEST_CASE(base) //@ test decorators/base pass
{
	BOOST_TEST(true);
}
BOOST_AUTO_TEST_CASE(precondition_unmet, *utf::precondition([](utf::test_unit_id) { return false; })) //@ test decorators/precondition_unmet skip
{
	BOOST_FAIL("a test whose precondition is not met has run");
}
BOOST_AUTO_TEST_SUITE_END()

// Tests whose outcome tells the order they ran in.
BOOST_AUTO_TEST_SUITE(order)
static bool written;
BOOST_AUTO_TEST_CASE(reader) //@ test order/reader pass after=order/writer:fail
{
	BOOST_TEST(!written); //@ fails order/reader
}
BOOST_AUTO_TEST_CASE(writer) //@ test order/writer pass
{
	written = true;
	BOOST_TEST(written);
}
BOOST_AUTO_TEST_SUITE_END()

// Tests that do not come back.
BOOST_AUTO_TEST_SUITE(no_return)
BOOST_AUTO_TEST_CASE(segfault) //@ test no_return/segfault crash
{
	volatile int *volatile null = nullptr;
	*null = 1;
}
BOOST_AUTO_TEST_CASE(aborts) //@ test no_return/aborts crash
{
	abort();
}
BOOST_AUTO_TEST_CASE(exits) //@ test no_return/exits crash
{
	exit(0);
}
BOOST_AUTO_TEST_CASE(hangs) //@ test no_return/hangs timeout
{
	for (;;)
		pause();
}
BOOST_AUTO_TEST_CASE(comes_afterwards) //@ test no_return/comes_afterwards pass
{
	BOOST_TEST(true);
}
BOOST_AUTO_TEST_SUITE_END()

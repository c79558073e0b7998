// Boost.Test: an order that tests declare with depends_on is kept, unless --any-order lifts that; suites with fixtures.
//
//@ subject framework=boost lang=c++ header=boost/test/unit_test.hpp
//@ variant plain libs="-l:libboost_unit_test_framework.a" quick=gcc-O0
//@ variant shared cflags="-DBOOST_TEST_DYN_LINK" libs="-lboost_unit_test_framework" builds=clang-O2
//@ run any-order --any-order

#define BOOST_TEST_MODULE declared
#include <boost/test/unit_test.hpp>

namespace utf = boost::unit_test;

static int connected;
static int level;
static int rows;
static int fixtures;

BOOST_AUTO_TEST_CASE(innocent)
{
	BOOST_TEST(2 + 2 == 4);
}

BOOST_AUTO_TEST_SUITE(session)

BOOST_AUTO_TEST_CASE(connects)
{
	connected = 1;
	BOOST_TEST(connected == 1);
}

// Needs the other, and says so.
BOOST_AUTO_TEST_CASE(sends, *utf::depends_on("session/connects")) //@ brittle session/sends setters=session/connects in=any-order
{
	BOOST_TEST(connected == 1);
}

// Needs it, too, and does not.
BOOST_AUTO_TEST_CASE(receives) //@ brittle session/receives setters=session/connects polluted=connected
{
	BOOST_TEST(connected == 1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(levels)

BOOST_AUTO_TEST_CASE(is_zero) //@ victim levels/is_zero polluters=levels/raises polluted=level
{
	BOOST_TEST(level == 0);
}

BOOST_AUTO_TEST_CASE(raises)
{
	level = 2;
	BOOST_TEST(level == 2);
}

// Comes before the one that would disturb it, always: the declaration says so.
BOOST_AUTO_TEST_CASE(looks_first) //@ victim levels/looks_first polluters=levels/adds_rows in=any-order
{
	BOOST_TEST(rows == 0);
}

BOOST_AUTO_TEST_CASE(adds_rows, *utf::depends_on("levels/looks_first"))
{
	rows = 3;
	BOOST_TEST(rows == 3);
}

BOOST_AUTO_TEST_SUITE_END()

struct Counted {
	Counted()
	{
		fixtures++;
	}
	~Counted()
	{
		fixtures--;
	}
};

BOOST_FIXTURE_TEST_SUITE(fixture, Counted)

BOOST_AUTO_TEST_CASE(one)
{
	BOOST_TEST(fixtures == 1);
}

BOOST_AUTO_TEST_CASE(two)
{
	BOOST_TEST(fixtures == 1);
}

BOOST_AUTO_TEST_SUITE_END()

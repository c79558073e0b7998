//@ points static count=7 flags="-std=c++17 -l:libboost_unit_test_framework.a"
//@ points shared count=7 flags="-std=c++17 -DBOOST_TEST_DYN_LINK -lboost_unit_test_framework" builds=gcc-O2
#define BOOST_TEST_MODULE points
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "note.h"

struct With {
	With() { note("setup"); }
	~With() { note("teardown"); }
};
struct Members {
	void setup() { note("setup"); }
	void teardown() { note("teardown"); }
};

BOOST_FIXTURE_TEST_CASE(with_one, With)
{
	note("body");
	for (int i = 0; i < 3; i++)
		BOOST_TEST(i < 3);
}
BOOST_FIXTURE_TEST_CASE(with_fails, With)
{
	note("body");
	BOOST_CHECK(false);
}
BOOST_FIXTURE_TEST_CASE(members_one, Members) { note("body"); }
BOOST_AUTO_TEST_CASE(plain_one) { note("body"); }

BOOST_FIXTURE_TEST_SUITE(suite, With)
BOOST_AUTO_TEST_CASE(with_two) { note("body"); }
BOOST_DATA_TEST_CASE(with_data, boost::unit_test::data::xrange(2))
{
	note("body");
	BOOST_TEST(sample < 2);
}
BOOST_AUTO_TEST_SUITE_END()

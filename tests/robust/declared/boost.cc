// Tests and suites that depend on tests and suites, within suites and across them.
#define BOOST_TEST_MODULE declared
#include <boost/test/unit_test.hpp>

namespace utf = boost::unit_test;

BOOST_AUTO_TEST_CASE(free_one) {}

BOOST_AUTO_TEST_SUITE(late, *utf::depends_on("early/deep"))
BOOST_AUTO_TEST_CASE(a) {}
BOOST_AUTO_TEST_CASE(b, *utf::depends_on("late/c")) {}
BOOST_AUTO_TEST_CASE(c) {}
BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(early)
BOOST_AUTO_TEST_CASE(first) {}
BOOST_AUTO_TEST_SUITE(deep)
BOOST_AUTO_TEST_CASE(x) {}
BOOST_AUTO_TEST_CASE(y, *utf::disabled()) {}
BOOST_AUTO_TEST_CASE(z, *utf::depends_on("early/first") * utf::depends_on("free_one")) {}
BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

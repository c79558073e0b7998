//@ restore header=boost/test/unit_test.hpp flags="-lboost_unit_test_framework"
#define FILLED_BY_SET_UP
#include "stock.h"

#define BOOST_TEST_MODULE small
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
BOOST_AUTO_TEST_SUITE(small, *boost::unit_test::fixture(prepare))
BOOST_AUTO_TEST_CASE(victim) { BOOST_TEST(passes()); }
BOOST_AUTO_TEST_CASE(pollute) { BOOST_TEST(pollutes()); }
BOOST_AUTO_TEST_SUITE_END()

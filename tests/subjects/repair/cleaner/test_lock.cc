// Another test cleans up, with arguments that nobody would guess: its statements are taken, without its assertions.
//
//@ subject framework=boost lang=c++ header=boost/test/unit_test.hpp packages="libboost-test-dev"
//@ variant static libs="-l:libboost_unit_test_framework.a" quick=gcc-O0

#define BOOST_TEST_MODULE lock
#include <boost/test/unit_test.hpp>

#include "lock.h"

BOOST_AUTO_TEST_CASE(is_open) //@ mend is_open added="int salt = 10 + 7;" also="lock_open(4711, salt);"
{
	BOOST_TEST(lock_is_open());
}

BOOST_AUTO_TEST_CASE(closes)
{
	lock_close(4711);
	BOOST_TEST(!lock_is_open());
}

BOOST_AUTO_TEST_CASE(opens)
{
	int salt = 10 + 7;
	BOOST_TEST(true);
	lock_close(4711);
	BOOST_TEST(lock_open(4711, salt));
}

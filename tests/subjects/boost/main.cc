// The test module's entry point; the variants choose between the three ways to use Boost.Test.
#define BOOST_TEST_MODULE subject
#ifdef SUBJECT_HEADER_ONLY
#include <boost/test/included/unit_test.hpp>
#else
#include <boost/test/unit_test.hpp>
#endif

//@ restore header=doctest/doctest.h
#include "stock.h"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
TEST_CASE("victim") { CHECK(passes()); }
TEST_CASE("pollute") { CHECK(pollutes()); }

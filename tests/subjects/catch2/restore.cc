//@ restore header=catch2/catch.hpp
#include "stock.h"

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
TEST_CASE("victim") { CHECK(passes()); }
TEST_CASE("pollute") { CHECK(pollutes()); }

// Catch2 2.x keeps its whole implementation in one header; compiled here, apart from the tests.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

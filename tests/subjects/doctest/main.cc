// doctest keeps its whole implementation in one header; compiled here, apart from the tests.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

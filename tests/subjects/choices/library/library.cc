// A call deep in a library of the project, a shared object beside the program, in doctest; what the framework does with
// the same functions is its own.
//
//@ subject framework=doctest lang=c++ header=doctest/doctest.h
//@ variant plain shared=names.cc quick=gcc-O0 cflags="-fno-builtin"
//@ unmet readdir scandir

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <string>

#include "names.h"

TEST_CASE("names in order")
{
	CHECK(sorted_names() == "bob,dan,ann,cid,");
}

TEST_CASE("ages in order")
{
	CHECK(sorted_ages() == "25,25,30,30,");
}

TEST_CASE("texts")
{
	std::string a = "some text that is longer than a short one", b = a;
	CHECK(a == b);
	CHECK(a < b + "!");
	CHECK(doctest::String("abc") < doctest::String("abd"));
}

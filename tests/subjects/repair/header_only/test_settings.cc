// The same in a header only: nobody calls the function that is wanted, so it has no code.
//
//@ subject framework=doctest lang=c++ header=doctest/doctest.h packages="doctest-dev"
//@ variant header quick=clang-O2

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "settings.h"

TEST_CASE("nothing is set") //@ mend "nothing is set" function=Settings::clear added="Settings::instance().clear();"
{
	CHECK(!Settings::instance().has("depth"));
}

TEST_CASE("sets")
{
	Settings::instance().put("depth", 3);
	CHECK(Settings::instance().has("depth"));
}

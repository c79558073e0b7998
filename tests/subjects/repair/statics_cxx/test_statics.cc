// Variables of C++ that other files cannot name: static, and in a namespace without a name, within one that has one.
//
//@ subject framework=doctest lang=c++ header=doctest/doctest.h packages="doctest-dev"
//@ variant header cflags="-fno-inline" quick=gcc-O0

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

static int begun = 4;

namespace app {

namespace {
struct Entry {
	int weight;
};
int depth = 2;
Entry entry{ 7 };
} // namespace

static void entry_clear(Entry &which)
{
	which.weight = 7;
}

TEST_CASE("goes deeper")
{
	depth += 3;
	CHECK(depth > 2);
}

TEST_CASE("is not deep") //@ mend "is not deep" added="depth = 2;"
{
	CHECK(depth == 2);
}

TEST_CASE("weighs more")
{
	entry.weight = 9;
	CHECK(entry.weight == 9);
}

TEST_CASE("weighs seven") //@ mend "weighs seven" function=app::entry_clear added="app::entry_clear(app::entry);"
{
	CHECK(entry.weight == 7);
}

TEST_CASE("clears")
{
	Entry other{ 1 };
	entry_clear(other);
	CHECK(other.weight == 7);
}

} // namespace app

TEST_CASE("begins") //@ mend begins added="begun = 4;"
{
	CHECK(begun == 4);
	begun++;
}

// A member function of an object that is visible.
//
//@ subject framework=catch2 lang=c++ header=catch2/catch.hpp packages="catch2"
//@ variant header quick=gcc-O0 sources="test_journal.cc journal.cc main.cc"

#include <catch2/catch.hpp>

#include "journal.h"

TEST_CASE("starts blank") { REQUIRE(journal.lines.empty()); } //@ mend "starts blank" function=Journal::truncate added="journal.truncate();"

TEST_CASE("writes")
{
	journal.write("one");
	REQUIRE(!journal.lines.empty());
}

// acutest in C++: exceptions, and TEST_SKIP, which old copies do not have.
//
//@ subject framework=acutest lang=c++ packages="dpkg-dev"
//@ variant new uses=acutest-neomutt

#include "acutest.h"

#include <stdexcept>

static void passes() //@ test passes pass
{
	TEST_CHECK(2 + 2 == 4);
}

static void skips() //@ test skips skip
{
	TEST_SKIP("not today");
}

static void skips_too_late() //@ test too_late fail
{
	TEST_CHECK(2 + 2 == 4);
	TEST_SKIP("not today"); //@ fails too_late
}

static void throws() //@ test throws fail
{
	throw std::runtime_error("nobody catches this");
}

static int written;

static void reader() //@ test reader pass after=writer:fail
{
	TEST_ASSERT(written == 0); //@ fails reader
}

static void writer() //@ test writer pass
{
	written = 1;
}

TEST_LIST = {
	{"passes", passes},
	{"skips", skips},
	{"too_late", skips_too_late},
	{"throws", throws},
	{"reader", reader},
	{"writer", writer},
	{nullptr, nullptr},
};

// The source of the tests is gone: functions are called by their addresses, and what helps is suggested.
//
//@ subject framework=functions lang=c++
//@ variant plain cflags="-fno-inline" gone=test_shelf.cc quick=gcc-O0,clang-O2

#include <cassert>

#include "shelf.h"

static void test_counts()
{
	meter_count();
	assert(meter_value() > 3);
}

static void test_is_three() //@ suggested test_is_three function=meter_restart says="meter_restart() at its start lets it pass and puts the state back"
{
	assert(meter_value() == 3);
}

static void test_puts()
{
	Shelf::get().put("");
	assert(Shelf::get().size() > 0);
}

static void test_is_empty() //@ suggested test_is_empty function=Shelf::take_away says="Shelf::take_away(\"\") at its start"
{
	assert(Shelf::get().size() == 0);
}

int main()
{
	test_is_three();
	test_is_empty();
	test_counts();
	test_puts();
	return 0;
}

// A reset function without arguments; setting what the test expects is on offer, too, and so are functions that hang or crash.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" quick=gcc-O0,clang-O2

#include <assert.h>
#include <stdio.h>

#include "counter.h"

static void test_increments(void) //@ leftover test_increments root=count added="counter_reset();"
{
	int before = counter_value();
	assert(counter_next() == before + 1);
}

static void test_starts_at_seven(void) //@ mend test_starts_at_seven function=counter_reset added="counter_reset();" says="at the end of test_increments"
{
	assert(counter_value() == 7);
}

static void test_other(void)
{
	assert(1 + 1 == 2);
}

int main(void)
{
	test_starts_at_seven();
	test_increments();
	test_other();
	puts("ok");
	return 0;
}

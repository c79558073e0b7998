// No framework: functions named test_*, and two runners written by hand, one calling them one after another, one going
// through a table. With arguments, a runner calls only the tests named there.
//
//@ subject framework=functions lang=c
//@ variant direct sources="tests.c direct.c"
//@ variant table sources="tests.c table.c"
//@ variant nopie sources="tests.c table.c" cflags="-fno-pie" libs="-no-pie" builds=gcc-O2,clang-O0

#include "tests.h"

#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

// Helpers that the pattern matches but no runner calls: not tests.
__attribute__((noinline)) int test_helper_twice(int number)
{
	return number * 2;
}

__attribute__((noinline)) void test_helper_check(int number)
{
	assert(number == 4);
}

void test_never_called(void)
{
	abort();
}

void test_passes(void) //@ test test_passes pass
{
	assert(getpid() > 0);
}

void test_addition(void) //@ test test_addition pass
{
	volatile int two = 2;
	assert(two + two == 4);
}

void test_uses_helpers(void) //@ test test_uses_helpers pass
{
	test_helper_check(test_helper_twice(2));
}

// A failed assertion of the C library ends the process like any abort.
void test_assertion_fails(void) //@ test test_assertion_fails crash
{
	assert(getpid() < 0); //@ fails test_assertion_fails
}

// Tests whose outcome tells the order they ran in.
static int written;

void test_order_reader(void) //@ test test_order_reader pass after=test_order_writer:crash
{
	assert(!written); //@ fails test_order_reader
}

void test_order_writer(void) //@ test test_order_writer pass
{
	written = 1;
}

// Tests that do not come back.
void test_segfault(void) //@ test test_segfault crash
{
	volatile int *volatile null = NULL;
	*null = 1;
}

void test_aborts(void) //@ test test_aborts crash
{
	abort();
}

void test_exits(void) //@ test test_exits crash
{
	exit(0);
}

void test_hangs(void) //@ test test_hangs timeout
{
	for (;;)
		pause();
}

void test_comes_afterwards(void) //@ test test_comes_afterwards pass
{
	assert(getpid() > 0);
}

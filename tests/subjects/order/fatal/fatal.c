// Tests that crash, hang or leave the process only after another one, which takes the rest of the order with it.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ run default --timeout 400ms

#include "../runner.h"

#include <stdlib.h>
#include <unistd.h>

static int *pointer;
static int fine = 1;
static volatile int waiting;
static int leaving;
static int counter;

TEST(test_innocent)
{
	assert(sizeof(int) >= 2);
}

TEST(test_reads_pointer) //@ victim test_reads_pointer polluters=test_frees_pointer polluted=pointer
//@ order crash test_frees_pointer test_reads_pointer
{
	if (pointer)
		assert(*pointer == 1);
}

TEST(test_waits_for_it) //@ victim test_waits_for_it polluters=test_says_wait polluted=waiting
//@ order timeout test_says_wait test_waits_for_it
//@ cleaned test_waits_for_it after=test_says_wait by=test_says_go
{
	while (waiting)
		usleep(1000);
}

TEST(test_may_leave) //@ victim test_may_leave polluters=test_asks_to_leave polluted=leaving
//@ order bad test_asks_to_leave test_may_leave
{
	if (leaving)
		exit(0);
}

TEST(test_counts)
{
	counter++;
	TOUCH(&counter);
}

TEST(test_frees_pointer)
{
	pointer = (int *)8;
	TOUCH(&pointer);
}

TEST(test_says_wait)
{
	waiting = 1;
}

TEST(test_says_go)
{
	waiting = 0;
}

TEST(test_asks_to_leave)
{
	leaving = fine;
	TOUCH(&leaving);
}

int main(void)
{
	pointer = &fine;
	return runner_main();
}

// Hand-written runners whose own functions call the tests, and print: that is nothing between them, every order is tried.
// The wrappers are functions of their own, or jump to the test as the last thing they do.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant jump cflags="-DJUMP -foptimize-sibling-calls" builds=gcc-O0,gcc-O2,clang-O2 quick=gcc-O2
//@ variant address cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0,clang-O2
//@ variant static libs="-static" builds=gcc-O2

#include <assert.h>
#include <stdio.h>

#include "../runner.h"

static int level;
static int late;
static int times;

#define FUNCTION __attribute__((noinline, noclone))

FUNCTION void test_late_is_zero(void) //@ victim test_late_is_zero polluters=test_comes_late
{
	assert(!late);
}

FUNCTION void test_raises_level(void)
{
	level = 3;
	TOUCH(&level);
}

FUNCTION void test_innocent(void)
{
}

FUNCTION void test_level_is_zero(void) //@ victim test_level_is_zero polluters=test_raises_level
{
	assert(level == 0);
}

FUNCTION void test_once(void) //@ non-idempotent test_once
{
	assert(!times++);
	TOUCH(&times);
}

FUNCTION void test_comes_late(void)
{
	late = 1;
	TOUCH(&late);
}

static FUNCTION void run(const char *name, void (*test)(void))
{
	printf("%s\n", name);
	test();
#ifndef JUMP
	printf("%s: done\n", name);
#endif
}

// One that has several, and is called from another.
static FUNCTION void run_last(void)
{
	run("test_once", test_once);
	run("test_comes_late", test_comes_late);
#ifndef JUMP
	printf("all done\n");
#endif
}

static FUNCTION void prepare(void)
{
	TOUCH(&level);
}

static FUNCTION void report(void)
{
	TOUCH(&level);
}

int main(void)
{
	prepare(); // before the first and after the last does not matter
	run("test_late_is_zero", test_late_is_zero);
	run("test_raises_level", test_raises_level);
	run("test_innocent", test_innocent);
	run("test_level_is_zero", test_level_is_zero);
	run_last();
	report();
	return 0;
}

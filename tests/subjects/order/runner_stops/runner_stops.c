// A runner that stops at the first failure: in another order than its own it still comes to the tests that are wanted.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2

#include <stdio.h>
#include <stdlib.h>

#include "../runner.h"

#define FUNCTION __attribute__((noinline, noclone))

static char *buffer; // the set-up's
static int level, late;

static FUNCTION void set_up(void)
{
	buffer = calloc(1, 8);
	TOUCH(buffer);
}

static FUNCTION void tear_down(void)
{
	free(buffer);
	buffer = NULL;
	TOUCH(&buffer);
}

FUNCTION int test_late_is_zero(void) //@ victim test_late_is_zero polluters=test_comes_late
{
	return !buffer || *buffer || late;
}

FUNCTION int test_fills_buffer(void)
{
	int failed = !buffer || *buffer;
	*buffer = 1;
	TOUCH(buffer);
	return failed;
}

FUNCTION int test_level_is_zero(void) //@ victim test_level_is_zero polluters=test_raises_level
{
	return !buffer || *buffer || level;
}

FUNCTION int test_raises_level(void)
{
	level = 1;
	TOUCH(&level);
	return !buffer || *buffer;
}

FUNCTION int test_comes_late(void)
{
	late = 1;
	TOUCH(&late);
	return !buffer || *buffer;
}

#define RUN(test)                                \
	do {                                     \
		set_up();                        \
		int failed = test();             \
		tear_down();                     \
		if (failed) {                    \
			puts(#test " failed");   \
			return 1;                \
		}                                \
	} while (0)

int main(void)
{
	RUN(test_late_is_zero);
	RUN(test_fills_buffer);
	RUN(test_level_is_zero);
	RUN(test_raises_level);
	RUN(test_comes_late);
	puts("all passed");
	return 0;
}

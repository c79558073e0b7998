// A runner that tells each test its name and number in variables, which the tests read: they have their own, wherever
// they run.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "../runner.h"

#define FUNCTION __attribute__((noinline, noclone))

static const char *current;
static int number;
static int level, late;

FUNCTION void test_late_is_zero(void) //@ victim test_late_is_zero polluters=test_comes_late
{
	assert(!strcmp(current, "late is zero") && number == 1);
	assert(!late);
}

FUNCTION void test_level_is_zero(void) //@ victim test_level_is_zero polluters=test_raises_level
{
	assert(!strcmp(current, "level is zero") && number == 2);
	assert(!level);
}

FUNCTION void test_raises_level(void)
{
	assert(!strcmp(current, "raises level") && number == 3);
	level = 1;
	TOUCH(&level);
}

FUNCTION void test_comes_late(void)
{
	assert(!strcmp(current, "comes late") && number == 4);
	late = 1;
	TOUCH(&late);
}

static FUNCTION void run_one(const char *name, void (*test)(void))
{
	current = name;
	number++;
	TOUCH(&current);
	TOUCH(&number);
	test();
	printf("%d %s\n", number, current);
}

int main(void)
{
	run_one("late is zero", test_late_is_zero);
	run_one("level is zero", test_level_is_zero);
	run_one("raises level", test_raises_level);
	run_one("comes late", test_comes_late);
	return 0;
}

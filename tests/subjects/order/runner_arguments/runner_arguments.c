// Test functions with arguments: more than there are registers for, floating-point numbers, structures by value and
// returned ones. In whatever place a test runs, it gets what its own call passes.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2,gcc-O2
//@ variant nodebug debug=none builds=gcc-O0,clang-O2 quick=gcc-O0

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "../runner.h"

#define FUNCTION __attribute__((noinline, noclone))

struct large {
	long words[5];
	char name[8];
};

struct small {
	int number;
	double share;
};

static int level;
static double sum;

FUNCTION void test_many(int a, int b, int c, int d, int e, int f, int g, long h, const char *name) //@ victim test_many polluters=test_raises_level
{
	assert(a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 && h == 1L << 40);
	assert(!strcmp(name, "many"));
	assert(!level);
}

FUNCTION void test_doubles(double a, float b, int c, double d)
{
	assert(a == 1.5 && b == 2.5f && c == 3 && d == -4.5);
}

FUNCTION void test_structs(struct large large, struct small small, long double wide, int last)
{
	for (int i = 0; i < 5; i++)
		assert(large.words[i] == 10 + i);
	assert(!strcmp(large.name, "large"));
	assert(small.number == 20 && small.share == 0.25);
	assert(wide == 2.0L && last == 30);
}

FUNCTION struct large test_returns_struct(int first)
{
	struct large large = { .words = { first } };
	assert(first == 40);
	TOUCH(&large);
	return large;
}

FUNCTION void test_raises_level(int by)
{
	assert(by == 50);
	level = by;
	TOUCH(&level);
}

// The same function twice, with other arguments.
FUNCTION void test_pair(int a, int b) //@ victim test_pair#2 polluters=test_raises_level
{
	assert(a + b == 100);
	assert(a < 50 || !level);
}

int main(void)
{
	struct large large = { { 10, 11, 12, 13, 14 }, "large" };
	struct small small = { 20, 0.25 };
	sum = 1;
	for (int i = 0; i < 3; i++)
		sum *= 1.5;
	double kept = sum;
	test_many(1, 2, 3, 4, 5, 6, 7, 1L << 40, "many");
	test_doubles(1.5, 2.5f, 3, -4.5);
	test_structs(large, small, 2.0L, 30);
	struct large returned = test_returns_struct(40);
	test_pair(1, 99);
	test_pair(60, 40);
	test_raises_level(50);
	printf("%f %ld\n", kept, returned.words[0]);
	return 0;
}

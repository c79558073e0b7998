// What the runner calls after the last test is no choice of that test, however the program ends.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-builtin" quick=gcc-O0,clang-O2
//@ run default --systematic
//@ run drawn

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

struct pair {
	int key, number;
};

static int compare_keys(const void *a, const void *b)
{
	return ((const struct pair *)a)->key - ((const struct pair *)b)->key;
}

NOINLINE static int first_of_three(void)
{
	struct pair pairs[3] = { { 1, 1 }, { 1, 2 }, { 1, 3 } };
	qsort(pairs, 3, sizeof(*pairs), compare_keys);
	return pairs[0].number;
}

// The twin: what it calls itself counts.
NOINLINE void test_three(void)
{
	assert(first_of_three() == 1); //@ assumption test_three api=qsort line=any
}

// Nothing in it can go otherwise.
NOINLINE void test_nothing(void)
{
	assert(sizeof(struct pair) == 2 * sizeof(int));
}

NOINLINE void test_fixed(void)
{
	struct pair pairs[2] = { { 2, 1 }, { 1, 2 } };
	qsort(pairs, 2, sizeof(*pairs), compare_keys);
	assert(pairs[0].number == 2);
}

int main(void)
{
	test_three();
	test_nothing();
	test_fixed();
	if (first_of_three() != 1 || puts("ok") != 3)
		return 1;
	return strcmp("a", "b") == -1 ? 0 : 2;
}

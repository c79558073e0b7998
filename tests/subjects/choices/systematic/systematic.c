// Every combination of choices, with numbers that are known: how many ways there are, how many of them fail, how likely
// that is, and which choices decide by themselves.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-builtin" libs="-pthread" quick=gcc-O0,clang-O2
//@ run default --systematic --api qsort
//@ run bound --systematic --api qsort --bound 4 --tests test_many_that_matter
//@ run strcmp --systematic --api strcmp --tests test_compares quick=no

#include "../runner.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct pair {
	int key, number;
};

static int compare_keys(const void *a, const void *b)
{
	return ((const struct pair *)a)->key - ((const struct pair *)b)->key;
}

// All of @n are equal; the number of the first one afterwards.
NOINLINE static int first_of(int n)
{
	struct pair pairs[4] = { { 1, 1 }, { 1, 2 }, { 1, 3 }, { 1, 4 } };
	volatile int first = 0; // not what was there, which would make states differ
	qsort(pairs, n, sizeof(*pairs), compare_keys);
	first = pairs[0].number;
	memset(pairs, 0, sizeof(pairs));
	TOUCH(pairs);
	return first;
}

// One choice of two.
//@ space test_two nodes=1 edges=2 merge_nodes=0 critical=1 leaves=2 failing=1 probability=1/2 exhausted=yes in=default
TEST(test_two) //@ assumption test_two api=qsort line=any probability=1/2 critical=1 in=default
{
	assert(first_of(2) == 1);
}

// One of 3! ways.
//@ space test_three nodes=1 edges=6 merge_nodes=0 critical=1 leaves=6 failing=4 probability=2/3 exhausted=yes in=default
TEST(test_three) //@ assumption test_three api=qsort line=any probability=2/3 critical=1 in=default
{
	assert(first_of(3) == 1);
}

// It fails where both go the other way: after the first one did, the second one decides.
//@ space test_both nodes=3 edges=6 merge_nodes=0 critical=1 leaves=4 failing=1 probability=1/4 exhausted=yes in=default
TEST(test_both) //@ assumption test_both api=qsort line=any with=any probability=1/4 critical=1 in=default
{
	int one = first_of(2), other = first_of(2);
	TOUCH(&one);
	assert(one == 1 || other == 1);
}

// One of two is enough: the second one decides if the first one did not.
//@ space test_either leaves=3+ probability=3/4 exhausted=yes in=default
TEST(test_either) //@ assumption test_either api=qsort line=any with=any probability=3/4 in=default
{
	assert(first_of(2) == 1);
	assert(first_of(2) == 1);
}

// Forgotten at once: states are equal again, and 2^10 ways are eleven choices.
//@ space test_forgets nodes=11 edges=22 merge_nodes=10 critical=1 leaves=2048 failing=1024 merged=10+ probability=1/2 exhausted=yes in=default
TEST(test_forgets) //@ assumption test_forgets api=qsort line=any with=any probability=1/2 critical=1 in=default
{
	for (int i = 0; i < 10; i++)
		first_of(2);
	assert(first_of(2) == 1);
}

// Remembered: 2^6 ways.
//@ space test_many_that_matter nodes=63 leaves=64 failing=1 probability=1/64 exhausted=yes in=default
//@ space test_many_that_matter nodes=4 exhausted=no in=bound
TEST(test_many_that_matter) //@ assumption test_many_that_matter api=qsort line=any with=any probability=1/64 critical=1 in=default
{
	volatile int bits = 0;
	for (int i = 0; i < 6; i++)
		bits |= (first_of(2) != 1) << i;
	assert(bits != 63);
}

// Whatever came before, the last choice decides: in half of these states today's alternative fails.
//@ space test_parity nodes=31 edges=62 merge_nodes=0 critical=16 leaves=32 failing=16 probability=1/2 exhausted=yes in=default
TEST(test_parity) //@ assumption test_parity api=qsort line=any with=any probability=1/2 critical=16 in=default
{
	volatile int bits = 0;
	for (int i = 0; i < 5; i++)
		bits |= (first_of(2) != 1) << i;
	assert(!__builtin_parity((unsigned)bits));
}

// Nothing to choose, and nothing that matters.
//@ space test_none nodes=0 edges=0 critical=0 leaves=1 failing=0 probability=0 exhausted=yes in=default
TEST(test_none)
{
	struct pair pairs[] = { { 2, 1 }, { 1, 2 } };
	qsort(pairs, 2, sizeof(*pairs), compare_keys);
	assert(pairs[0].number == 2);
}

//@ space test_indifferent nodes=1 edges=6 critical=0 leaves=6 failing=0 probability=0 exhausted=yes in=default
TEST(test_indifferent)
{
	assert(first_of(3) > 0);
}

// Each of its alternatives but today's.
//@ space test_compares nodes=1 leaves=2+ exhausted=yes in=strcmp
TEST(test_compares) //@ assumption test_compares api=strcmp level=full line=any critical=1 in=strcmp
{
	const char *volatile a = "abd", *volatile b = "abc";
	assert(strcmp(a, b) == 1);
}

RUNNER_MAIN()

// No debug information: what the symbols say is all there is.
//
//@ subject framework=functions lang=c
//@ variant plain debug=none builds=gcc-O0,clang-O2 quick=gcc-O0
//@ says "debug information"

#include "../runner.h"

#include <stdlib.h>

int counter;
long table[10];
void *block;
static int hidden;

TEST(test_counter) //@ pollutes test_counter counter ... effect=accumulates
{
	counter++;
}

TEST(test_restored) //@ clean test_restored
{
	counter++;
	TOUCH(&counter);
	counter--;
}

TEST(test_table) //@ pollutes test_table table ...
{
	table[5] = 3;
}

TEST(test_hidden) //@ pollutes test_hidden hidden ... effect=settles
{
	hidden = 1;
	TOUCH(&hidden);
}

TEST(test_block) //@ pollutes test_block block ... effect=accumulates
{
	void **fresh = calloc(2, sizeof(*fresh));
	if (!fresh)
		abort();
	*fresh = block;
	block = fresh;
}

TEST(test_block_moved) //@ clean test_block_moved
{
	void **fresh = calloc(2, sizeof(*fresh));
	if (!fresh)
		abort();
	*fresh = *(void **)block;
	free(block);
	block = fresh;
}

RUNNER_MAIN()

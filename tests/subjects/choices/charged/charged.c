// Tests that fail because of a call of an earlier test, while they make such calls themselves: the call is charged to the
// test that made it. Each beside one that does not mind.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ run default --api qsort --level one

#include "../runner.h"

#include <stdlib.h>
#include <string.h>

struct row {
	int key, number;
};

static struct row shared[4], own[4];
static const struct row rows[] = { { 2, 1 }, { 1, 2 }, { 2, 3 }, { 1, 4 } };

static int compare_keys(const void *a, const void *b)
{
	return ((const struct row *)a)->key - ((const struct row *)b)->key;
}

static int compare_rows(const void *a, const void *b)
{
	int keys = compare_keys(a, b);
	return keys ? keys : ((const struct row *)a)->number - ((const struct row *)b)->number;
}

static void sort_own(void)
{
	memcpy(own, rows, sizeof(own));
	qsort(own, 4, sizeof(*own), compare_keys);
	assert(own[0].key == 1 && own[3].key == 2);
}

TEST(test_first_sorts_its_own)
{
	sort_own();
}

TEST(test_fills)
{
	memcpy(shared, rows, sizeof(shared));
	qsort(shared, 4, sizeof(*shared), compare_keys); //@ assumption test_reads_in_order api=qsort alone=no by=test_fills
	assert(shared[0].key == 1);
}

TEST(test_next_sorts_its_own)
{
	sort_own();
}

TEST(test_reads_in_order)
{
	sort_own();
	if (shared[0].key)
		assert(shared[0].number == 2 && shared[1].number == 4);
}

TEST(test_reads_keys)
{
	sort_own();
	if (shared[0].key)
		assert(shared[0].key == 1 && shared[1].key == 1 && shared[3].key == 2);
}

// Its own call, whatever others did before it.
TEST(test_reads_its_own)
{
	memcpy(own, rows, sizeof(own));
	qsort(own, 4, sizeof(*own), compare_keys); //@ assumption test_reads_its_own api=qsort
	assert(own[0].number == 2);
}

TEST(test_leaves_nothing_open)
{
	memcpy(own, rows, sizeof(own));
	qsort(own, 4, sizeof(*own), compare_rows);
	assert(own[0].number == 2 && own[3].number == 3);
}

RUNNER_MAIN()

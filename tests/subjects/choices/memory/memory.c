// The heap: contents of fresh and of freed memory, blocks that move, addresses as an order.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0
//@ variant address cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0

#include "../runner.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Larger than what others free, so that today it is zero.
struct counter {
	long count, more[500];
};

TEST(test_counts_from_garbage)
{
	struct counter *counter = malloc(sizeof(*counter)); //@ assumption test_counts_from_garbage api=malloc-contents on=plain-*
	TOUCH(counter);
	counter->count++;
	long count = counter->count;
	free(counter);
#ifdef __SANITIZE_ADDRESS__
	count = 1; // its allocator fills blocks
#endif
	assert(count == 1);
}

TEST(test_counts_from_zero)
{
	struct counter *counter = calloc(1, sizeof(*counter)), *set = malloc(sizeof(*set));
	set->count = 0;
	TOUCH(counter);
	TOUCH(set);
	assert(++counter->count == 1);
	assert(++set->count == 1);
	for (int i = 0; i < 500; i++)
		assert(counter->more[i] == 0);
	free(counter);
	free(set);
}

TEST(test_realloc_stays)
{
	char *block = malloc(100), *volatile before = block;
	strcpy(block, "text");
	block = realloc(block, 104); //@ assumption test_realloc_stays api=realloc on=plain-*
#ifndef __SANITIZE_ADDRESS__
	uintptr_t a = (uintptr_t)before, b = (uintptr_t)block;
	assert(a == b);
#endif
	assert(!strcmp(block, "text"));
	free(block);
	(void)before;
}

TEST(test_realloc_moves)
{
	char *block = malloc(100);
	strcpy(block, "text");
	for (size_t n = 101; n < 140; n++) {
		block = realloc(block, n);
		assert(!strcmp(block, "text"));
	}
	block = realloc(block, 3);
	assert(!memcmp(block, "tex", 3));
	free(block);
}

// Objects are put in order by where they lie.
TEST(test_addresses_ascend)
{
	char *blocks[6];
	int ascending = 1;
	for (int i = 0; i < 6; i++) {
		blocks[i] = malloc(64); //@ assumption test_addresses_ascend api=malloc-address with=any on=plain-* more=yes
		TOUCH(blocks[i]);
		ascending &= !i || (uintptr_t)blocks[i - 1] < (uintptr_t)blocks[i];
	}
	for (int i = 0; i < 6; i++)
		free(blocks[i]);
#ifdef __SANITIZE_ADDRESS__
	ascending = 1;
#endif
	assert(ascending);
}

TEST(test_addresses_differ)
{
	char *blocks[6];
	for (int i = 0; i < 6; i++) {
		blocks[i] = malloc(5000);
		memset(blocks[i], i, 5000);
		assert((uintptr_t)blocks[i] % _Alignof(max_align_t) == 0);
	}
	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < 5000; k++)
			assert(blocks[i][k] == i);
		free(blocks[i]);
	}
}

// Lists, trees and buffers as all programs have them.
struct node {
	struct node *next;
	char *name;
};

TEST(test_list)
{
	struct node *list = NULL;
	for (int i = 0; i < 50; i++) {
		struct node *node = malloc(sizeof(*node));
		node->next = list;
		node->name = strdup(i % 2 ? "odd" : "even");
		list = node;
	}
	int n = 0;
	while (list) {
		struct node *node = list;
		assert(!strcmp(node->name, n % 2 ? "even" : "odd"));
		list = node->next;
		free(node->name);
		free(node);
		n++;
	}
	assert(n == 50);
}

RUNNER_MAIN()

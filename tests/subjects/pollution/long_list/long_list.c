// A list of many nodes, each in a block of its own: the walk keeps no stack of calls, and finds what changed at its end.
//
//@ subject framework=functions lang=c
//@ variant million cflags="-DNODES=1000000" builds=gcc-O2 quick=gcc-O2
//@ variant ten-million cflags="-DNODES=10000000" builds=gcc-O2
//@ run default patience=300 deep=yes

#include "../runner.h"

#include <stdlib.h>

struct node {
	struct node *next;
	long value;
};

struct node *head;
struct node *last;
int unrelated;

struct branch {
	struct branch *left, *right;
	int value;
} *leaning;

TEST(test_nothing) //@ clean test_nothing
{
}

TEST(test_last_node) //@ pollutes test_last_node head|last ...value before=0 after=1
{
	last->value = 1;
}

TEST(test_first_node) //@ pollutes test_first_node head head->value before=0 after=1
{
	head->value = 1;
}

TEST(test_middle_restored) //@ clean test_middle_restored
{
	struct node *node = head;
	for (int i = 0; i < NODES / 2; i++)
		node = node->next;
	node->value = 5;
	TOUCH(node);
	node->value = 0;
}

TEST(test_unrelated) //@ pollutes test_unrelated unrelated unrelated before=0 after=1
{
	unrelated++;
}

TEST(test_appends) //@ pollutes test_appends head|last ...
{
	struct node *node = calloc(1, sizeof(*node));
	if (!node)
		abort();
	last->next = node;
	last = node;
}

TEST(test_deepest_branch) //@ pollutes test_deepest_branch leaning ...value before=0 after=7
{
	struct branch *branch = leaning;
	while (branch->left)
		branch = branch->left;
	branch->value = 7;
}

TEST(test_all_reversed_twice) //@ clean test_all_reversed_twice
{
	for (int i = 0; i < 2; i++) {
		struct node *reversed = NULL, *node = head;
		last = head;
		while (node) {
			struct node *next = node->next;
			node->next = reversed;
			reversed = node;
			node = next;
		}
		head = reversed;
		TOUCH(head);
	}
}

TEST(test_nothing_again) //@ clean test_nothing_again
{
}

int main(void)
{
	for (int i = 0; i < NODES; i++) {
		struct node *node = calloc(1, sizeof(*node));
		if (!node)
			abort();
		node->next = head;
		head = node;
		if (!last)
			last = node;
	}
	for (int i = 0; i < NODES / 10; i++) {
		struct branch *branch = calloc(1, sizeof(*branch));
		if (!branch)
			abort();
		branch->left = leaning;
		leaning = branch;
	}
	return runner_main();
}

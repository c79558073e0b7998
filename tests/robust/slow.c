/* Tests that take a while, with a large state where MIB says so; see test_budget.py. FIXED in the environment mends them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MIB
#define MIB 0
#endif
#define SIZE ((size_t)MIB << 20)

struct node {
	struct node *next;
	long values[30];
};

static struct node *nodes;
static char *block;
static int shared;
static int fixed;

static void work(int by)
{
	for (size_t i = 0; i < SIZE; i += 4096)
		block[i] = (char)(block[i] + by);
	for (struct node *node = nodes; node; node = node->next)
		node->values[3] += by;
	usleep(20000);
}

#define TEST(name) __attribute__((noinline)) void test_##name(void)

TEST(first)
{
	work(1);
}

TEST(victim)
{
	work(0);
	assert(shared == 0 || fixed);
}

TEST(second)
{
	work(2);
}

TEST(polluter)
{
	work(3);
	shared = 1;
}

TEST(brittle)
{
	work(0);
	assert(shared || fixed);
}

TEST(last)
{
	work(5);
}

int main(void)
{
	fixed = getenv("FIXED") != NULL;
	block = malloc(SIZE + 1);
	memset(block, 1, SIZE + 1);
	for (size_t i = 0; i < SIZE / 4 / sizeof(struct node); i++) {
		struct node *node = calloc(1, sizeof(*node));
		node->next = nodes;
		nodes = node;
	}
	test_first();
	test_victim();
	test_second();
	test_polluter();
	test_brittle();
	test_last();
	return 0;
}

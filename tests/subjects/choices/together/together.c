// Decisive calls: two that fail a test only together, two APIs of which each does, one among many and one in another
// thread.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-builtin" libs="-pthread" quick=gcc-O0,clang-O2
//@ run default twice=yes
//@ run other-seed --seed 1000 quick=no
//@ run only-id --level id quick=no

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

NOINLINE static int stays(void)
{
	struct pair pairs[] = { { 1, 1 }, { 1, 2 } };
	qsort(pairs, 2, sizeof(*pairs), compare_keys); //@ assumption test_finds_the_one api=qsort
	return pairs[0].number == 1;
}

// One of them in order would do.
TEST(test_both_together)
{
	const char *volatile a = "abd", *volatile b = "abc";
	struct pair pairs[] = { { 1, 1 }, { 1, 2 } };
	qsort(pairs, 2, sizeof(*pairs), compare_keys); //@ assumption test_both_together api=qsort with=strcmp
	int equal = strcmp(a, b) == 1;
	assert(pairs[0].number == 1 || equal);
}

// Each of them fails it.
TEST(test_each_alone)
{
	const char *volatile a = "abd", *volatile b = "abc";
	struct pair pairs[] = { { 1, 1 }, { 1, 2 } };
	qsort(pairs, 2, sizeof(*pairs), compare_keys); //@ assumption test_each_alone api=qsort
	assert(pairs[0].number == 1);
	int one = strcmp(a, b) == 1; //@ assumption test_each_alone api=strcmp
	assert(one);
}

// Among hundreds of choices that do not matter.
TEST(test_finds_the_one)
{
	struct pair pairs[] = { { 2, 1 }, { 2, 2 }, { 1, 3 }, { 1, 4 } };
	const char *volatile a = "abd", *volatile b = "abc";
	int positive = 0;
	for (int i = 0; i < 300; i++) {
		positive += strcmp(a, b) > 0;
		qsort(pairs, 4, sizeof(*pairs), compare_keys);
		assert(pairs[0].key == 1 && pairs[3].key == 2);
	}
	assert(positive == 300);
	assert(stays());
	for (int i = 0; i < 300; i++)
		qsort(pairs, 4, sizeof(*pairs), compare_keys);
}

// Numbers are counted by thread: what the other one does does not move them.
static void *work(void *result)
{
	struct pair pairs[] = { { 1, 1 }, { 1, 2 }, { 1, 3 } };
	for (int i = 0; i < 50; i++)
		qsort(pairs, 3, sizeof(*pairs), compare_keys);
	memcpy(pairs, (struct pair[]){ { 1, 1 }, { 1, 2 }, { 1, 3 } }, sizeof(pairs));
	qsort(pairs, 3, sizeof(*pairs), compare_keys); //@ assumption test_in_a_thread api=qsort thread=other function=work
	*(int *)result = pairs[0].number;
	return NULL;
}

static void *noise(void *unused)
{
	struct pair pairs[] = { { 1, 1 }, { 1, 2 }, { 1, 3 } };
	for (int i = 0; i < 200; i++)
		qsort(pairs, 3, sizeof(*pairs), compare_keys);
	return unused;
}

TEST(test_in_a_thread)
{
	pthread_t worker, other;
	int first = 0;
	pthread_create(&other, NULL, noise, NULL);
	pthread_create(&worker, NULL, work, &first);
	pthread_join(worker, NULL);
	pthread_join(other, NULL);
	assert(first == 1);
}

TEST(test_thread_does_not_care)
{
	pthread_t worker, other;
	int first = 0;
	pthread_create(&other, NULL, noise, NULL);
	pthread_create(&worker, NULL, work, &first);
	pthread_join(worker, NULL);
	pthread_join(other, NULL);
	assert(first >= 1 && first <= 3);
}

RUNNER_MAIN()

// Several pieces of work: which of them, and how many have to be late until the test fails.
//
//@ subject framework=functions lang=c
//@ variant plain libs=-pthread quick=gcc-O2

#include "../runner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int one, two, three;

static void *set(void *flag)
{
	atomic_store((atomic_int *)flag, 1);
	return NULL;
}

static void *set_slowly(void *flag)
{
	usleep(1000);
	atomic_store((atomic_int *)flag, 1);
	return NULL;
}

/* Either alone may be late. */
TEST(test_either)
{
	pthread_t a, b;
	one = two = 0;
	pthread_create(&a, NULL, set, &one);
	pthread_create(&b, NULL, set, &two);
	usleep(20000);
	assert(one || two); //@ late test_either
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

/* The last of three, with parts of their own. */
TEST(test_third)
{
	pthread_t a, b, c;
	one = two = three = 0;
	pthread_create(&a, NULL, set_slowly, &one);
	pthread_create(&b, NULL, set_slowly, &two);
	pthread_create(&c, NULL, set_slowly, &three);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	usleep(20000);
	assert(three); //@ late test_third
	pthread_join(c, NULL);
}

/* Two of three: what is left must not be late as well. */
TEST(test_two_of_three)
{
	pthread_t a, b, c;
	one = two = three = 0;
	pthread_create(&a, NULL, set, &one);
	pthread_create(&b, NULL, set, &two);
	pthread_create(&c, NULL, set, &three);
	pthread_join(c, NULL);
	usleep(20000);
	assert(one + two + three > 1); //@ late test_two_of_three runs=16
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

TEST(test_joins_both)
{
	pthread_t a, b;
	one = two = 0;
	pthread_create(&a, NULL, set, &one);
	pthread_create(&b, NULL, set, &two);
	pthread_join(a, NULL);
	assert(one);
	pthread_join(b, NULL);
	assert(two);
}

TEST(test_joins_all)
{
	pthread_t a, b, c;
	one = two = three = 0;
	pthread_create(&a, NULL, set_slowly, &one);
	pthread_create(&b, NULL, set_slowly, &two);
	pthread_create(&c, NULL, set_slowly, &three);
	while (!one || !two || !three)
		usleep(500);
	assert(one + two + three == 3);
	pthread_join(c, NULL);
	pthread_join(b, NULL);
	pthread_join(a, NULL);
}

RUNNER_MAIN()

// A program whose threads run before its first test: its process cannot be copied. And tests that use threads themselves.
//
//@ subject framework=functions lang=c
//@ variant before cflags="-DTHREAD_BEFORE" libs="-pthread" quick=gcc-O0
//@ variant within libs="-pthread" quick=clang-O2

#define _GNU_SOURCE
#include "../runner.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static int asked, answered;
static int total;
static int prepared;
static int once;

static int answer(void)
{
	pthread_mutex_lock(&lock);
	int mine = ++asked;
	pthread_cond_broadcast(&news);
#ifdef THREAD_BEFORE
	while (answered < mine)
		pthread_cond_wait(&news, &lock);
#else
	answered = mine;
#endif
	pthread_mutex_unlock(&lock);
	return mine;
}

static void *adds(void *argument)
{
	__atomic_add_fetch(&total, *(int *)argument, __ATOMIC_SEQ_CST);
	return NULL;
}

static void in_threads(int value)
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		assert(!pthread_create(&threads[i], NULL, adds, &value));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

TEST(test_asks)
{
	assert(answer() > 0);
}

TEST(test_nothing_yet) //@ victim test_nothing_yet polluters=test_adds_in_threads polluted=total on=within-*
//@ victim test_nothing_yet polluters=test_adds_in_threads on=before-*
//@ cleaned test_nothing_yet after=test_adds_in_threads by=test_takes_away
{
	assert(total == 0);
}

TEST(test_adds_in_threads)
{
	in_threads(2);
}

TEST(test_takes_away)
{
	total = 0;
	TOUCH(&total);
	assert(answer() > 0);
}

TEST(test_prepares)
{
	prepared = 1;
	TOUCH(&prepared);
}

TEST(test_is_prepared) //@ brittle test_is_prepared setters=test_prepares
{
	assert(prepared);
}

TEST(test_only_once) //@ non-idempotent test_only_once
{
	assert(once++ == 0);
	TOUCH(&once);
}

TEST(test_asks_again)
{
	assert(answer() > 0);
}

#ifdef THREAD_BEFORE
static void *answers(void *argument)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		while (answered == asked)
			pthread_cond_wait(&news, &lock);
		answered = asked;
		pthread_cond_broadcast(&news);
	}
	return argument;
}
#endif

int main(void)
{
#ifdef THREAD_BEFORE
	pthread_t thread;
	assert(!pthread_create(&thread, NULL, answers, NULL));
#endif
	return runner_main();
}

// A pool of threads that stands before the first test, and work that tests hand to it.
//
//@ subject framework=functions lang=c
//@ variant plain libs=-pthread quick=gcc-O0

#include "../runner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define MEMBERS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static int waiting, completed;
static atomic_int result;

static void *serve(void *argument)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!waiting)
			pthread_cond_wait(&wanted, &lock);
		waiting--;
		pthread_mutex_unlock(&lock);
		atomic_fetch_add(&result, 1);
		pthread_mutex_lock(&lock);
		completed++;
		pthread_cond_broadcast(&finished);
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

static void hand_over(int pieces)
{
	pthread_mutex_lock(&lock);
	result = completed = 0;
	waiting = pieces;
	pthread_cond_broadcast(&wanted);
	pthread_mutex_unlock(&lock);
}

TEST(test_pool_sleeps)
{
	hand_over(1);
	usleep(20000);
	assert(result == 1); //@ late test_pool_sleeps
}

TEST(test_pool_waits)
{
	hand_over(2);
	pthread_mutex_lock(&lock);
	while (completed < 2)
		pthread_cond_wait(&finished, &lock);
	pthread_mutex_unlock(&lock);
	assert(result == 2);
}

int main(void)
{
	pthread_t members[MEMBERS];
	for (int i = 0; i < MEMBERS; i++)
		pthread_create(&members[i], NULL, serve, NULL);
	return runner_main();
}

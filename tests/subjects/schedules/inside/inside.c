// Work that goes on after something was handed over, and tests that take the hand-over for its end.
//
//@ subject framework=functions lang=c
//@ variant plain libs=-pthread quick=gcc-O0

#include "../runner.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

static int first, second;
static atomic_int after;
static int ends[2];
static sem_t semaphore;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void store(int *to)
{
	pthread_mutex_lock(&lock);
	*to = 1;
	pthread_mutex_unlock(&lock);
}

static int load(const int *from)
{
	pthread_mutex_lock(&lock);
	int value = *from;
	pthread_mutex_unlock(&lock);
	return value;
}

static void *store_both(void *argument)
{
	store(&first);
	store(&second);
	return argument;
}

static void *post_then_count(void *argument)
{
	sem_post(&semaphore);
	after++;
	return argument;
}

static void *signal_then_count(void *argument)
{
	pthread_mutex_lock(&lock);
	first = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	after++;
	return argument;
}

static void *write_then_count(void *argument)
{
	if (write(ends[1], "x", 1) == 1)
		after++;
	return argument;
}

static pthread_t start(void *(*work)(void *))
{
	pthread_t thread;
	first = second = 0;
	after = 0;
	pthread_create(&thread, NULL, work, NULL);
	return thread;
}

static void wait_for_first(void)
{
	pthread_mutex_lock(&lock);
	while (!first)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

TEST(test_second_store)
{
	pthread_t thread = start(store_both);
	while (!load(&first))
		usleep(1000);
	usleep(20000);
	assert(load(&second)); //@ late test_second_store runs=9
	pthread_join(thread, NULL);
}

TEST(test_after_post)
{
	sem_init(&semaphore, 0, 0);
	pthread_t thread = start(post_then_count);
	sem_wait(&semaphore);
	usleep(20000);
	assert(after); //@ late test_after_post runs=9
	pthread_join(thread, NULL);
	sem_destroy(&semaphore);
}

TEST(test_after_signal)
{
	pthread_t thread = start(signal_then_count);
	wait_for_first();
	usleep(20000);
	assert(after); //@ late test_after_signal runs=9
	pthread_join(thread, NULL);
}

TEST(test_after_write)
{
	char byte;
	assert(pipe(ends) == 0);
	pthread_t thread = start(write_then_count);
	assert(read(ends[0], &byte, 1) == 1);
	usleep(20000);
	assert(after); //@ late test_after_write runs=9
	pthread_join(thread, NULL);
	close(ends[0]);
	close(ends[1]);
}

/* The same, and what is asked for is what was waited for. */
TEST(test_both_stores)
{
	pthread_t thread = start(store_both);
	while (!load(&second))
		usleep(1000);
	assert(load(&first));
	pthread_join(thread, NULL);
}

TEST(test_joins_after_post)
{
	sem_init(&semaphore, 0, 0);
	pthread_t thread = start(post_then_count);
	sem_wait(&semaphore);
	pthread_join(thread, NULL);
	assert(after);
	sem_destroy(&semaphore);
}

TEST(test_first_after_signal)
{
	pthread_t thread = start(signal_then_count);
	wait_for_first();
	assert(first);
	pthread_join(thread, NULL);
	assert(after);
}

TEST(test_reads_after_write)
{
	char byte;
	assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	pthread_t thread = start(write_then_count);
	assert(read(ends[0], &byte, 1) == 1 && byte == 'x');
	while (!after)
		usleep(100);
	pthread_join(thread, NULL);
	close(ends[0]);
	close(ends[1]);
}

RUNNER_MAIN()

// Threads: changes made by others than the main one, and threads that are left behind.
//
//@ subject framework=functions lang=c
//@ variant plain libs="-pthread" quick=gcc-O0,clang-O2
//@ variant static libs="-static -pthread" builds=gcc-O2

#include "../runner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static NOINLINE void *checked(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static void run_in_thread(void *(*work)(void *), void *data)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, work, data) || pthread_join(thread, NULL))
		abort();
}

int shared_count;
long *shared_block;
_Thread_local int mine;
atomic_int stop_idling;

static void *count(void *data)
{
	(void)data;
	shared_count++;
	return NULL;
}

TEST(test_changed_by_thread) //@ pollutes test_changed_by_thread shared_count shared_count before=0 after=1
{
	run_in_thread(count, NULL);
}

static void *count_and_back(void *data)
{
	(void)data;
	shared_count += 10;
	TOUCH(&shared_count);
	shared_count -= 10;
	return NULL;
}

TEST(test_restored_by_thread) //@ clean test_restored_by_thread
{
	run_in_thread(count_and_back, NULL);
}

static void *use_own(void *data)
{
	(void)data;
	mine = 77;
	TOUCH(&mine);
	return NULL;
}

// What a thread has for itself goes with it.
TEST(test_thread_local_of_other_thread) //@ clean test_thread_local_of_other_thread
{
	run_in_thread(use_own, NULL);
}

TEST(test_thread_local_of_main_thread) //@ pollutes test_thread_local_of_main_thread mine mine before=0 after=1
{
	mine++;
}

static void *allocate(void *data)
{
	(void)data;
	shared_block = checked(calloc(4, sizeof(*shared_block)));
	shared_block[1] = 5;
	return NULL;
}

// Memory from a thread's own arena stays when the thread is gone.
TEST(test_block_of_thread) //@ pollutes test_block_of_thread shared_block ... allocated=allocate
{
	run_in_thread(allocate, NULL);
}

TEST(test_block_of_thread_changed) //@ pollutes test_block_of_thread_changed shared_block shared_block[1] before=5 after=6
{
	shared_block[1]++;
}

static void *replace(void *data)
{
	(void)data;
	long *copy = checked(calloc(4, sizeof(*copy)));
	for (int i = 0; i < 4; i++)
		copy[i] = shared_block[i];
	free(shared_block);
	shared_block = copy;
	return NULL;
}

TEST(test_block_rebuilt_by_thread) //@ clean test_block_rebuilt_by_thread
{
	run_in_thread(replace, NULL);
}

static void *idle(void *data)
{
	(void)data;
	while (!stop_idling)
		usleep(500);
	return NULL;
}

static void *busy(void *data)
{
	(void)data;
	volatile unsigned long local = 0;
	while (!stop_idling)
		local++;
	return NULL;
}

static void start_detached(void *(*work)(void *))
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, work, NULL))
		abort();
	pthread_detach(thread);
}

TEST(test_idle_thread_left) //@ pollutes test_idle_thread_left thread[...] ... where=process before=absent
{
	start_detached(idle);
}

TEST(test_busy_thread_left) //@ pollutes test_busy_thread_left thread[...] ... where=process before=absent after="running|busy at threads.c..."
{
	start_detached(busy);
}

TEST(test_beside_left_threads) //@ clean test_beside_left_threads
{
	usleep(2000);
}

TEST(test_change_beside_left_threads) //@ pollutes test_change_beside_left_threads shared_count shared_count after=2
{
	shared_count = 2;
}

TEST(test_stops_threads) //@ pollutes test_stops_threads stop_idling stop_idling
{
	stop_idling = 1;
	usleep(20000);
}

// Many threads at once; on a busy machine the ones before end only now.
static void *add(void *data)
{
	for (int i = 0; i < 1000; i++)
		atomic_fetch_add((atomic_int *)data, 1);
	return NULL;
}

atomic_int sum;

TEST(test_many_threads) //@ pollutes test_many_threads sum sum before=0 after=16000 effect=accumulates //@ pollutes test_many_threads thread[...] ... where=process after=absent may=yes
{
	pthread_t threads[16];
	for (int i = 0; i < 16; i++)
		if (pthread_create(&threads[i], NULL, add, &sum))
			abort();
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int prepared;

static void prepare(void)
{
	prepared = 1;
}

TEST(test_pthread_once) //@ clean test_pthread_once //@ first test_pthread_once prepared
{
	pthread_once(&once, prepare);
	TOUCH(&prepared);
}

TEST(test_pthread_once_again) //@ clean test_pthread_once_again
{
	pthread_once(&once, prepare);
	volatile int seen = prepared;
	(void)seen;
}

RUNNER_MAIN()

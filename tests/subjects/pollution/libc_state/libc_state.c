// What the C library keeps for itself is not the tests' shared memory. (Environment, locale and the like are state of the
// process, which is looked at by other means.)
//
//@ subject framework=functions lang=c
//@ variant plain libs="-lm" quick=gcc-O0,clang-O2
//@ variant static libs="-static -lm" builds=gcc-O0 quick=gcc-O0
//@ run default --only memory

#define _GNU_SOURCE
#include "../runner.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <malloc.h>
#include <math.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

TEST(test_errno) //@ clean test_errno
{
	errno = ENOENT;
}

TEST(test_stdout) //@ clean test_stdout
{
	printf("some output of a test\n");
	fprintf(stderr, "some more\n");
}

TEST(test_own_file) //@ clean test_own_file
{
	FILE *file = tmpfile();
	if (!file)
		return;
	fprintf(file, "%s", "text");
	rewind(file);
	char line[20];
	(void)!fgets(line, sizeof(line), file);
	fclose(file);
}

TEST(test_rand) //@ clean test_rand
{
	srand(7);
	volatile int number = rand();
	(void)number;
	drand48();
}

TEST(test_time_zone) //@ clean test_time_zone
{
	time_t now = 1000000;
	struct tm *tm = localtime(&now);
	volatile int hour = tm->tm_hour;
	(void)hour;
	asctime(tm);
}

TEST(test_strtok) //@ clean test_strtok
{
	char text[] = "a,b,c";
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ","))
		assert(*word);
}

TEST(test_strerror) //@ clean test_strerror
{
	volatile size_t length = strlen(strerror(98765));
	(void)length;
}

static void handler(int number)
{
	(void)number;
}

TEST(test_signal_handler) //@ clean test_signal_handler
{
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
}

static void nothing(void)
{
}

TEST(test_atexit) //@ clean test_atexit
{
	atexit(nothing);
}

TEST(test_allocator) //@ clean test_allocator
{
	void *blocks[100];
	for (int i = 0; i < 100; i++)
		blocks[i] = malloc(i * 50);
	TOUCH(blocks);
	for (int i = 0; i < 100; i++)
		free(blocks[i]);
	malloc_trim(0);
}

TEST(test_qsort) //@ clean test_qsort
{
	int numbers[2000];
	for (int i = 0; i < 2000; i++)
		numbers[i] = i * 7919 % 2000;
	int (*compare)(const void *, const void *) = (int (*)(const void *, const void *))strcmp;
	TOUCH(&compare);
	qsort(numbers, 2000, sizeof(int), compare);
}

static void *work(void *data)
{
	return data;
}

TEST(test_thread_of_its_own) //@ clean test_thread_of_its_own
{
	pthread_t thread;
	if (!pthread_create(&thread, NULL, work, NULL))
		pthread_join(thread, NULL);
}

TEST(test_once_in_libc) //@ clean test_once_in_libc
{
	setlocale(LC_ALL, "C");
	isalpha('a');
	localeconv();
	volatile double root = sqrt(-1.0 * getpid());
	(void)root;
	feclearexcept(FE_ALL_EXCEPT);
}

TEST(test_environment) //@ clean test_environment
{
	setenv("POLLUTION_SUBJECT", "1", 1);
}

TEST(test_thread_key) //@ clean test_thread_key
{
	pthread_key_t key;
	if (!pthread_key_create(&key, NULL)) {
		pthread_setspecific(key, &key);
		pthread_key_delete(key);
	}
}

// The program's own variables that hold something of the library's: the holder counts, the library's inside does not.
FILE *log_file;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int guarded;

TEST(test_file_left_open) //@ pollutes test_file_left_open log_file ...
{
	log_file = fopen("/dev/null", "w");
}

TEST(test_file_written) //@ clean test_file_written
{
	fprintf(log_file, "into the buffer");
}

TEST(test_mutex_used) //@ clean test_mutex_used
{
	pthread_mutex_lock(&mutex);
	int saved = guarded++;
	TOUCH(&guarded);
	guarded = saved;
	pthread_mutex_unlock(&mutex);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

// Its words count waits; it is a union, not a struct.
TEST(test_condition_used) //@ clean test_condition_used
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &until);
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
}

RUNNER_MAIN()

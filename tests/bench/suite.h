// What generated suites share: up to 1,000 test functions, each of which calls run_test() with its number, and main().
//
//   BENCH_TESTS         how many tests, at most 1,000
//   BENCH_MICROSECONDS  processor time of a test
//   BENCH_CLOCK         a file that gets the times at which the first test began and the last one ended
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

// The suite's own.
static void prepare(void);
static void run_test(int test);

static long long nanoseconds;
static int last_test;
static uintptr_t times; // where the times are kept: a number, so that they are not reachable
volatile int sink;

static long long now(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void spin(void)
{
	if (nanoseconds) {
		long long end = now(CLOCK_THREAD_CPUTIME_ID) + nanoseconds;
		// The clock is a system call: between two of them, work.
		while (now(CLOCK_THREAD_CPUTIME_ID) < end)
			for (int i = 0; i < 300; i++)
				sink = sink + 1;
	}
	sink = 0;
}

// Only the first time counts: a copy of the process may run the tests again.
static void note_time(int which)
{
	long long *place = (long long *)times + which;
	if (times && !*place)
		*place = now(CLOCK_MONOTONIC);
}

static __attribute__((noinline)) void time_test(int test)
{
	if (!test)
		note_time(0);
	run_test(test);
	if (test == last_test)
		note_time(1);
}

#define TEST(n)                                                                                                        \
	void test_##n(void);                                                                                           \
	void test_##n(void)                                                                                            \
	{                                                                                                              \
		time_test(1##n - 1000);                                                                                 \
	}
#define ONES(n) TEST(n##0) TEST(n##1) TEST(n##2) TEST(n##3) TEST(n##4) TEST(n##5) TEST(n##6) TEST(n##7) TEST(n##8) TEST(n##9)
#define TENS(n) ONES(n##0) ONES(n##1) ONES(n##2) ONES(n##3) ONES(n##4) ONES(n##5) ONES(n##6) ONES(n##7) ONES(n##8) ONES(n##9)
#define ALL TENS(0) TENS(1) TENS(2) TENS(3) TENS(4) TENS(5) TENS(6) TENS(7) TENS(8) TENS(9)

ALL

#undef TEST
#define TEST(n) test_##n,

static void (*const tests[])(void) = { ALL };

static long long number(const char *name, long long otherwise)
{
	const char *text = getenv(name);
	return text ? atoll(text) : otherwise;
}

static void open_clock(const char *path)
{
	int fd = path ? open(path, O_RDWR) : -1;
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 2 * sizeof(long long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED)
		times = (uintptr_t)map;
}

int main(void)
{
	size_t count = (size_t)number("BENCH_TESTS", 1000);
	nanoseconds = number("BENCH_MICROSECONDS", 0) * 1000;
	prepare();
	if (count > sizeof(tests) / sizeof(tests[0]))
		count = sizeof(tests) / sizeof(tests[0]);
	last_test = (int)count - 1;
	open_clock(getenv("BENCH_CLOCK"));
	for (size_t i = 0; i < count; i++)
		tests[i]();
	return 0;
}

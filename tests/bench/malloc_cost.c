/*
 * What a pair of malloc and free costs, in nanoseconds: run plain and with the
 * agent preloaded, the difference is the agent's.
 *
 * Usage: malloc_cost [ROUNDS]
 *
 * Prints one line "NAME NANOSECONDS" for each way of allocating: the same block
 * again and again, scattered over 20,000 live blocks, the same with two threads,
 * from deep inside the program, and large blocks. Each is the best of several
 * rounds: what disturbs only adds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIVE 20000
#define PAIRS 200000

static double now(void)
{
	struct timespec ts;
	/* Of this thread: whatever else runs does not count. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* The compiler may not leave a pair out. */
static void *volatile sink;

static double one(void)
{
	double start = now();
	for (int i = 0; i < PAIRS; i++) {
		void *block = malloc(64);
		sink = block;
		free(block);
	}
	return (now() - start) / PAIRS;
}

static void *scatter(void *argument)
{
	unsigned seed = (unsigned)(size_t)argument;
	void **live = calloc(LIVE, sizeof(*live));
	for (int i = 0; i < LIVE; i++)
		live[i] = malloc(16 + (seed = seed * 1103515245 + 12345) / 65536 % 500);
	double *ret = malloc(sizeof(*ret));
	double start = now();
	for (int i = 0; i < PAIRS; i++) {
		seed = seed * 1103515245 + 12345;
		void **place = &live[seed / 65536 % LIVE];
		free(*place);
		*place = malloc(16 + seed / 65536 % 500);
	}
	*ret = (now() - start) / PAIRS;
	for (int i = 0; i < LIVE; i++)
		free(live[i]);
	free(live);
	return ret;
}

static double scattered(void)
{
	double *result = scatter((void *)1), value = *result;
	free(result);
	return value;
}

static double two_threads(void)
{
	pthread_t other;
	void *result;
	if (pthread_create(&other, NULL, scatter, (void *)2))
		exit(1);
	double *mine = scatter((void *)1), value = *mine;
	pthread_join(other, &result);
	free(mine);
	free(result);
	return value;
}

static __attribute__((noinline)) double deeper(int n)
{
	double value = n ? deeper(n - 1) : one();
	__asm__ volatile("" ::: "memory"); /* no tail call */
	return value;
}

static double deep(void)
{
	return deeper(12);
}

static double large(void)
{
	/* Freed once, blocks of this size come from the heap (mallopt(3)). */
	free(malloc(1 << 20));
	double start = now();
	for (int i = 0; i < PAIRS / 10; i++) {
		void *block = malloc(200000);
		sink = block;
		free(block);
	}
	return (now() - start) / (PAIRS / 10);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		double (*measure)(void);
	} ways[] = {
		{ "one", one },		{ "scattered", scattered },
		{ "deep", deep },	{ "two-threads", two_threads },
		{ "large", large },
	};
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		double best = ways[i].measure();
		for (int round = 1; round < rounds; round++) {
			double value = ways[i].measure();
			if (value < best)
				best = value;
		}
		printf("%s %.1f\n", ways[i].name, best);
	}
	return 0;
}

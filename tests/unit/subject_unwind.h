/*
 * What the programs of test_unwind.c share: each calls qsort() some way down and
 * prints the stack that it expects, a line "FUNCTION LINE" a frame, from the call
 * outwards; a line "--" ends each.
 */
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a frame is; a comma's left side, so that both stand in one line. */
#define AT(i) (lines[i] = __LINE__)
static unsigned lines[80];
static volatile int kept; /* no call is the last thing done */

struct item {
	int key, value;
};

static int compare_items(const void *a, const void *b)
{
	const struct item *x = (const struct item *)a;
	const struct item *y = (const struct item *)b;
	return x->key - y->key;
}

static struct item items[8] = { { 1, 1 }, { 1, 2 }, { 1, 3 }, { 1, 4 },
				{ 1, 5 }, { 1, 6 }, { 1, 7 }, { 1, 8 } };

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define INLINE inline __attribute__((always_inline))

static void expect(const char *const *functions, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		printf("%s %u\n", functions[i], lines[i]);
	printf("--\n");
	fflush(stdout);
}

/*
 * Two tests of this runner become part of it where the compiler may (test_uses and
 * test_hears): one crashes, the other fails, where only some of the others ran before.
 * With -DAPART they are functions as all others, and the orders are theirs. With
 * -DFAILS test_hears fails in the program's own order, too. With -DENDS test_ends makes
 * the program crash when it ends, which is its own doing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((noinline))
#define KEEP() __asm__ volatile("" ::: "memory")
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			failures++;                                            \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,     \
				#condition);                                   \
		}                                                              \
	} while (0)

#ifdef APART
#define PART FUNCTION
#else
#define PART inline __attribute__((always_inline))
#endif

static int failures, opened, quiet;
static int *volatile shared;

static FUNCTION void test_first(void)
{
	CHECK(strlen("a") == 1);
	KEEP();
}

static FUNCTION void test_opens(void)
{
	opened = 1;
	KEEP();
}

static FUNCTION void test_makes(void)
{
	static int made[3] = { 1, 2, 3 };
	shared = made;
	KEEP();
}

static PART void test_uses(void)
{
	if (opened)
		CHECK(shared[1] == 2);
	KEEP();
}

static FUNCTION void test_quiet(void)
{
	quiet = 1;
	KEEP();
}

static FUNCTION void test_loud(void)
{
	quiet = 0;
	KEEP();
}

static PART void test_hears(void)
{
#ifdef FAILS
	CHECK(!opened);
#endif
	CHECK(!quiet);
	KEEP();
}

static void crash(void)
{
	*(volatile int *)8 = 1;
}

static FUNCTION void test_ends(void)
{
#ifdef ENDS
	atexit(crash);
#else
	(void)crash;
	CHECK(strlen("ends") == 4);
	printf("ends\n");
#endif
	KEEP();
}

int main(void)
{
	test_first();
	test_opens();
	test_makes();
	test_uses();
	test_quiet();
	test_loud();
	test_hears();
	test_ends();
	printf("%d failed\n", failures);
	return failures != 0;
}

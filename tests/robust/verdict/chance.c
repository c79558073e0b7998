/*
 * One test fails by chance, and no other may be blamed for it. The runner learns of
 * failures by a counter; with -DHIDDEN by bytes that no variable is made of, so that
 * only how the program ends says that something failed. One crashes, or could abort.
 * The twin: test_wants_zero fails only after test_sets, which is to be found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int mode;

#ifdef HIDDEN
static char room[64];

static int *count(void)
{
	return (int *)(room + 16);
}

#define FAIL() (*count() += 3)
#define LAST() ((void)(getenv("NO_SUCH_NAME") ? abort() : (void)0))
#else
static int failures;

static int *count(void)
{
	return &failures;
}

#define FAIL() (failures++)
#define LAST() (*(volatile int *)0 = 1)
#endif

static void test_ok(void)
{
	if (getenv("NO_SUCH_NAME"))
		FAIL();
}

static void test_fine(void)
{
	if (!count())
		FAIL();
}

static void test_wants_zero(void)
{
	if (mode)
		FAIL();
}

static void test_sets(void)
{
	mode = 1;
}

static void test_by_chance(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_nsec / 1000 % 2)
		FAIL();
}

static void test_last(void)
{
	LAST();
}

int main(void)
{
	static void (*const tests[])(void) = { test_ok, test_fine, test_wants_zero, test_sets, test_by_chance, test_last };
	for (unsigned i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tests[i]();
	printf("%s\n", *count() ? "bad" : "good");
	return *count() != 0;
}

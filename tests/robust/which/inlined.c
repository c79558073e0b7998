/* Suites that the compiler puts into main(); with TESTS, the tests of one of them, too. */
#include <stdio.h>

#define NOINLINE __attribute__((noinline))
#define INLINE inline __attribute__((always_inline))
#ifdef TESTS
#define SOME INLINE
#else
#define SOME NOINLINE
#endif

static volatile int number;

static NOINLINE int test_one(void) { return number != 0; }
static NOINLINE int test_two(void) { return number - 1 == 0; }
static SOME int test_three(void) { return number + 3 == 0; }
static SOME int test_four(void) { return number * 2 > 4; }

static INLINE int test_suite(void) { return test_one() + test_two(); }
static INLINE int test_numbers(void) { return test_three() + test_four(); }

int main(void)
{
	int failed = test_suite();
	failed += test_numbers();
	printf("%d failed\n", failed);
	return failed != 0;
}

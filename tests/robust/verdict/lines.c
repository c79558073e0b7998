/* Where a test failed: its own line, not that of the functions that count. */
#include "verdict.h"

static int failures;

#define CHECK(condition) ((condition) ? (void)0 : (void)failures++)

static FUNCTION void count_failure(void)
{
	failures++;
	KEEP();
}

static FUNCTION void expect_equal(int a, int b)
{
	if (a != b)
		count_failure();
	KEEP();
}

static inline __attribute__((always_inline)) void expect_inlined(int a, int b)
{
	if (a != b)
		failures++;
}

FUNCTION void test_macro(void)
{
	CHECK(level == 0);
	CHECK(level == 1); /* fails test_macro */
	KEEP();
}

FUNCTION void test_helper(void)
{
	expect_equal(level, 0);
	expect_equal(level, 1); /* fails test_helper */
	KEEP();
}

FUNCTION void test_inlined(void)
{
	expect_inlined(level, 0);
	expect_inlined(level, 1); /* fails test_inlined */
	KEEP();
}

int main(void)
{
	test_macro();
	test_helper();
	test_inlined();
	return failures ? 1 : 0;
}

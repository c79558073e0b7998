/* Each test reads the number that the runner gives it, which is also how far the runner is. */
#include <assert.h>

#define FUNCTION __attribute__((noinline))

static volatile int number;

FUNCTION void test_one(void)
{
	assert(number == 1);
}

FUNCTION void test_two(void)
{
	assert(number == 2);
}

FUNCTION void test_three(void)
{
	assert(number == 3);
}

int main(void)
{
	static void (*const tests[])(void) = { test_one, test_two, test_three };
	for (number = 1; number <= 3; number++)
		tests[number - 1]();
	return 0;
}

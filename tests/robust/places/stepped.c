/* Each test reads a number that the runner sets, and changes it: none can run in the place of another. */
#include <assert.h>

#define FUNCTION __attribute__((noinline))

static volatile int number;

FUNCTION void test_one(void)
{
	assert(number == 1);
	number += 10;
}

FUNCTION void test_two(void)
{
	assert(number == 2);
	number += 10;
}

FUNCTION void test_three(void)
{
	assert(number == 3);
	number += 10;
}

int main(void)
{
	number = 1;
	test_one();
	number = 2;
	test_two();
	number = 3;
	test_three();
	return 0;
}

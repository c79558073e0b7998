/* Nothing between the tests matters: they run as often as is wanted, and go on after a failure. */
#include <stdio.h>

#define FUNCTION __attribute__((noinline))

static int count;
static int calls[3];

FUNCTION int test_passes(void)
{
	calls[0]++;
	return 0;
}

FUNCTION int test_fails(void)
{
	calls[1]++;
	return 1;
}

FUNCTION int test_counts(void)
{
	return ++calls[2] > 5;
}

int main(void)
{
	int (*const tests[])(void) = { test_passes, test_counts, test_fails };
	for (int i = 0; i < 3; i++) {
		printf("%d\n", ++count);
		if (tests[i]())
			return 1;
	}
	return 0;
}

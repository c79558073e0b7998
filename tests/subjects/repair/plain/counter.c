#include "counter.h"

static int count = 7;
static int calls;

int counter_next(void)
{
	calls++;
	return ++count;
}

int counter_value(void)
{
	return count;
}

void counter_set(int value)
{
	count = value;
}

void counter_reset(void)
{
	count = 7;
	calls = 0;
}

// Candidates that hang and crash.
void counter_forever(void)
{
	for (;;)
		count = 1;
}

void counter_break(void)
{
	count = 0;
	*(volatile int *)0 = 1;
}

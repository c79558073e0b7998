#include "queue.h"

static int values[8];
static int length;
static int total;

void queue_push(int value)
{
	values[length++ % 8] = value;
	total += value;
}

int queue_length(void)
{
	return length;
}

int queue_total(void)
{
	return total;
}

void queue_empty(void)
{
	for (int i = 0; i < 8; i++)
		values[i] = 0;
	length = 0;
}

void queue_forget_total(void)
{
	total = 0;
}

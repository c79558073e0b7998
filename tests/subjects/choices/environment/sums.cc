#include "tables.h"

static int sum()
{
	int all = 0;
	for (int square : squares)
		all += square;
	return all;
}

int squares_sum = sum();

#include "bell.h"

static int rung;

void bell_ring(void)
{
	rung++;
}

void bell_reset(void)
{
	rung = 0;
}

int bell_count(void)
{
	return rung;
}

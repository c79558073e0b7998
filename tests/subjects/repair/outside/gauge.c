#include "gauge.h"

static int level;

void gauge_raise(void)
{
	level++;
}

void gauge_reset(void)
{
	level = 0;
}

int gauge_level(void)
{
	return level;
}

#include "meter.h"

static int meter;

int meter_read(void)
{
	return meter;
}

void meter_fill(void)
{
	meter = METER_FULL;
}

void meter_restart(void)
{
	meter = 0;
}

// Headers need a macro of the command line, which debug information does not have: the build is watched.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline -DMETER_MAX=9" quick=gcc-O0

#include <assert.h>

#include "meter.h"

static void test_starts_empty(void) //@ mend test_starts_empty added="meter_restart();" function=meter_restart
{
	assert(meter_read() == 0);
}

static void test_fills(void)
{
	meter_fill();
	assert(meter_read() == METER_MAX - 1);
}

int main(void)
{
	test_starts_empty();
	test_fills();
	return 0;
}

// The source is not below the working directory: the report says where the patch applies.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" folder=out quick=gcc-O0

#include <assert.h>

#include "gauge.h"

static void test_raises(void)
{
	gauge_raise();
	assert(gauge_level() > 0);
}

static void test_is_zero(void) //@ mend test_is_zero added="gauge_reset();"
{
	assert(gauge_level() == 0);
}

int main(void)
{
	test_is_zero();
	test_raises();
	return 0;
}

// A call lets the test pass in every order and does not put the state back: it is not called proven.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" quick=gcc-O0

#include <assert.h>

#include "volume.h"

static void test_shouts(void)
{
	volume_shout();
	assert(!volume_is_low());
}

static void test_is_low(void) //@ unproven test_is_low added="volume_turn_down();" says="'volume' (volume is 5 instead of 3) is not as before"
{
	assert(volume_is_low());
}

int main(void)
{
	test_is_low();
	test_shouts();
	return 0;
}

// What helps a test alone does not help it after a test that leaves another value in the same place: that is not a proof.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" quick=gcc-O0

#include <assert.h>

#include "rates.h"

static void test_own_rate(void)
{
	rates_set(5);
	int price = rates_price(2);
	rates_reset();
	assert(price > 0);
}

static void test_is_not_free(void)
{
	assert(rates_price(1) > 0);
}

static void test_heavy_is_dear(void) //@ unproven test_heavy_is_dear added="rates_set(" says="right after test_is_not_free"
{
	assert(rates_price(10) >= 50);
}

int main(void)
{
	test_own_rate();
	test_is_not_free();
	test_heavy_is_dear();
	return 0;
}

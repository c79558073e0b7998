// The time is over before anything was tried: the report says that, and not that no function is there.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" repair="--budget 1ms" quick=gcc-O0

#include <assert.h>

static int drawn;

void drawn_reset(void)
{
	drawn = 0;
}

static void test_draws(void) //@ unmended test_draws says="the time for it (--budget) ended when 0 of"
{
	assert(++drawn == 1);
}

static void test_resets(void)
{
	drawn_reset();
	assert(!drawn);
}

int main(void)
{
	test_draws();
	test_resets();
	return 0;
}

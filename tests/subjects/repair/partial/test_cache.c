// A counter in the same variable stays as the polluter left it: it did not mislead the test. The twin is unsound/.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" quick=gcc-O0

#include <assert.h>

#include "cache.h"

static void test_writes(void)
{
	cache_write(3);
	assert(cache_read() == 3);
}

static void test_is_empty(void) //@ mend test_is_empty added="cache_clear();" says="what did not mislead it stays"
{
	assert(cache_read() == 0);
}

int main(void)
{
	test_is_empty();
	test_writes();
	return 0;
}

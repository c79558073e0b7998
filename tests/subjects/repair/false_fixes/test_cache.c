// Functions that make the test pass and put nothing back: one forgets what is there, one uses it up, one lies.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" quick=clang-O2

#include <assert.h>

#include "cache.h"

static void test_inserts(void)
{
	assert(cache_insert("k") > 0);
	assert(cache_insert("k") > 0);
}

static void test_is_empty(void) //@ mend test_is_empty function=cache_release_all added="cache_release_all();" lacks=cache_init
{
	assert(cache_size() == 0);
}

int main(void)
{
	test_is_empty();
	test_inserts();
	return 0;
}

// No function puts it back, but the variable is visible: the polluter keeps what was there.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" quick=gcc-O0

#include <assert.h>
#include <string.h>

#include "options.h"

static void test_stretches(void)
{
	options.width = 10;
	options.height = 20;
	options.scale = 1.5;
	strcpy(options.name, "wide");
	assert(options.width * 2 == options.height);
}

static void test_is_plain(void) //@ mend test_is_plain added="struct options options_before = options;" also="options = options_before;"
{
	assert(!strcmp(options.name, "plain") && options.scale == 0.5 && options.width < options.height);
}

int main(void)
{
	test_is_plain();
	test_stretches();
	return 0;
}

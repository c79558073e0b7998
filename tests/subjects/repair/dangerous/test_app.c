// Functions in reach that remove, rename and overwrite the project's files, end other processes, start programs, leave
// children behind, end the process, or wait for ever. Some of them even let the test pass.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" quick=gcc-O0

#include <assert.h>
#include <unistd.h>

#include "app.h"

static void test_raises(void)
{
	app_raise();
	assert(app_level() > 1);
}

static void test_is_one(void) //@ mend test_is_one function=app_level_back added="app_level_back();"
{
	assert(app_level() == 1);
}

static void test_has_input(void)
{
	assert(access("input.txt", R_OK) == 0);
}

int main(void)
{
	test_has_input();
	test_is_one();
	test_raises();
	return 0;
}

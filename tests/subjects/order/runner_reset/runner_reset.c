// A hand-written runner that resets a variable in its loop, without calling anything: no test depends on what another one
// left there. What it does not reset is found.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant last cflags=-DLAST quick=gcc-O2

#include <assert.h>
#include <stdio.h>

#include "../runner.h"

#define FUNCTION __attribute__((noinline, noclone))

static int state; // the runner resets it
static int other; // nobody does

FUNCTION void test_state_is_clear(void)
{
	assert(!state);
}

FUNCTION void test_other_is_clear(void) //@ victim test_other_is_clear polluters=test_sets_both
{
	assert(!other);
}

// The variable is left dirty only by the last test: in the runner's own order the reset changes nothing.
#ifndef LAST
FUNCTION void test_sets_state(void)
{
	assert(!state);
	state = 7;
	TOUCH(&state);
}
#endif

FUNCTION void test_innocent(void)
{
}

FUNCTION void test_sets_both(void)
{
	assert(!state);
	state = other = 5;
	TOUCH(&state);
	TOUCH(&other);
}

// The optimiser is not to see which they are: it would drop resets that it finds useless.
static void (*volatile tests[])(void) = {
	test_state_is_clear,
	test_other_is_clear,
#ifndef LAST
	test_sets_state,
#endif
	test_innocent,
	test_sets_both,
};

int main(void)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		state = 0;
		tests[i]();
	}
	puts("done");
	return 0;
}

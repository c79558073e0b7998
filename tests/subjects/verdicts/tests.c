// Hand-written runners whose tests return nothing: they count failures, list them, clear a flag, print TAP. Each style is
// a variant; the tests are the same. Next to each verdict there are counters that are none.
//
//@ subject framework=functions lang=c
//@ variant count cflags=-DSTYLE_COUNT sources="tests.c runner.c verdict.c"
//@ variant number cflags=-DSTYLE_NUMBER sources="tests.c runner.c verdict.c" builds=gcc-O2,clang-O0
//@ variant printed cflags=-DSTYLE_PRINTED sources="tests.c runner.c verdict.c"
//@ variant return cflags=-DSTYLE_RETURN sources="tests.c runner.c verdict.c" builds=gcc-O0,clang-O2
//@ variant thread cflags=-DSTYLE_LOCAL_THREAD sources="tests.c runner.c verdict.c" builds=gcc-O0,clang-O2
//@ variant struct cflags=-DSTYLE_STRUCT sources="tests.c runner.c verdict.c"
//@ variant flag cflags=-DSTYLE_FLAG sources="tests.c runner.c verdict.c"
//@ variant tap cflags=-DSTYLE_TAP sources="tests.c runner.c verdict.c"
//@ variant list cflags=-DSTYLE_LIST sources="tests.c runner.c verdict.c"
//@ variant outcome cflags=-DSTYLE_OUTCOME sources="tests.c runner.c verdict.c"
//@ variant library cflags=-DSTYLE_LIBRARY sources="tests.c runner.c" shared=verdict.c builds=gcc-O0,clang-O2

#include "verdicts.h"

static int level;

FUNCTION RESULT test_passes(void) //@ test test_passes pass
{
	BEGIN
	CHECK(level >= 0);
	END
}

FUNCTION RESULT test_fails(void) //@ test test_fails fail
{
	BEGIN
	CHECK(level >= 0);
	CHECK(level < 0);
	END
}

FUNCTION RESULT test_level_is_zero(void) //@ test test_level_is_zero pass after=test_sets_level:fail
{
	BEGIN
	CHECK(level == 0);
	END
}

FUNCTION RESULT test_checks_a_lot(void) //@ test test_checks_a_lot pass
{
	BEGIN
	for (volatile int i = 0; i < 200; i++)
		CHECK(i < 200);
	END
}

FUNCTION RESULT test_fails_twice(void) //@ test test_fails_twice fail
{
	BEGIN
	CHECK(level == -1);
	CHECK(level == -2);
	CHECK(level != -3);
	END
}

FUNCTION RESULT test_sets_level(void) //@ test test_sets_level pass
{
	BEGIN
	level = 3;
	CHECK(level > 0);
	END
}

FUNCTION RESULT test_fails_late(void) //@ test test_fails_late fail
{
	BEGIN
	for (volatile int i = 0; i < 100; i++)
		CHECK(i != 99);
	END
}

FUNCTION RESULT test_passes_at_last(void) //@ test test_passes_at_last pass
{
	BEGIN
	CHECK(level >= 0);
	END
}

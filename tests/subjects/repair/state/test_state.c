// Process state and files: what was there before says what to write.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" libs="-lm" quick=gcc-O0

#include <assert.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_sets_variable(void) //@ leftover test_sets_variable root="environment[APP_COLOUR]" added="unsetenv(\"APP_COLOUR\");"
{
	setenv("APP_COLOUR", "green", 1);
	assert(getenv("APP_COLOUR"));
}

static void test_no_variable(void) //@ mend test_no_variable added="unsetenv(\"APP_COLOUR\");"
{
	assert(!getenv("APP_COLOUR"));
}

static void test_rounds_up(void) //@ leftover test_rounds_up root=rounding-mode added="fesetround(FE_TONEAREST);"
{
	fesetround(FE_UPWARD);
	assert(fegetround() == FE_UPWARD);
}

static void test_rounds_to_nearest(void) //@ mend test_rounds_to_nearest added="fesetround(FE_TONEAREST);"
{
	volatile double value = 2.3;
	assert(rint(value) == 2.0);
}

static void test_goes_elsewhere(void) //@ mend test_finds_input added="assert(chdir(folder_before) == 0);" also="free(folder_before);"
{
	assert(chdir("/") == 0);
}

static void test_finds_input(void)
{
	assert(access("input.txt", R_OK) == 0);
}

static void test_writes(void) //@ leftover test_writes root=written.txt added="remove(\"written.txt\");"
{
	FILE *file = fopen("written.txt", "w");
	assert(file);
	fclose(file);
}

static void test_nothing_written(void) //@ mend test_nothing_written added="remove(\"written.txt\");"
{
	assert(access("written.txt", F_OK) != 0);
}

int main(void)
{
	test_no_variable();
	test_rounds_to_nearest();
	test_finds_input();
	test_nothing_written();
	test_sets_variable();
	test_rounds_up();
	test_writes();
	test_goes_elsewhere();
	return 0;
}

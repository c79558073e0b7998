// The time zone, which the C library sets up at the first use of it.
//
//@ subject framework=functions lang=c where=process
//@ variant early quick=gcc-O0
//@ variant chosen cflags="-DCHOSEN" builds=gcc-O0 quick=gcc-O0

#include "../files.h"
#include "../runner.h"

#include <time.h>

static void use_zone(void)
{
	time_t now = 1000000;
	struct tm tm;
	localtime_r(&now, &tm);
	tzset();
}

// TZ was set before the first test, or by one that did not use it; or a zone was chosen in between and is still there.
TEST(test_use) //@ clean test_use on=early-* //@ pollutes test_use time-zone time-zone before="not set" after="ABC, -03:00" severity=high on=chosen-*
{
#ifdef CHOSEN
	setenv("TZ", "ABC+3", 1);
	tzset();
	unsetenv("TZ");
#else
	use_zone();
#endif
}

TEST(test_use_again) //@ clean test_use_again on=early-* //@ pollutes test_use_again time-zone ... on=chosen-*
{
	use_zone();
}

TEST(test_set) //@ pollutes test_set time-zone time-zone after="XYZ, +05:00" severity=high //@ pollutes test_set environment[TZ] ...
{
	setenv("TZ", "XYZ-5", 1);
	tzset();
}

// Set by one test, applied by the next: the polluter is the one that set it.
TEST(test_set_only) //@ pollutes test_set_only environment[TZ] ...
{
	setenv("TZ", "LATE+1", 1);
}

TEST(test_applies) //@ clean test_applies
{
	use_zone();
}

// Chosen and hidden: TZ says something else.
TEST(test_hides) //@ pollutes test_hides time-zone time-zone after="HID, -02:00" severity=high
{
	setenv("TZ", "HID+2", 1);
	tzset();
	setenv("TZ", "LATE+1", 1);
}

int main(void)
{
#ifdef CHOSEN
	unsetenv("TZ");
#else
	setenv("TZ", "EFG+8HIJ", 1);
#endif
	return runner_main();
}

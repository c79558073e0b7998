// Which variables are looked at, and how to choose.
//
//@ subject framework=functions lang=c
//@ variant plain sources="roots.c other.c" quick=gcc-O0,clang-O2
//@ run only-app --include-roots ^app_
//@ run without-app --exclude-roots ^app_
//@ run without-two --exclude-roots ^app_count$ --exclude-roots ^other_
//@ run without-field --exclude-fields hits$
//@ run some --tests test_app_* --include-roots ^app_

#include "../runner.h"
#include "other.h"

int app_count;
struct {
	int hits, size;
} app_cache;
int stats_total;

TEST(test_app_count) //@ pollutes test_app_count app_count app_count in=default,only-app,some,without-field //@ clean test_app_count in=without-app,without-two
{
	app_count++;
}

TEST(test_app_cache_hits) //@ pollutes test_app_cache_hits app_cache app_cache.hits in=default,only-app,some,without-two //@ clean test_app_cache_hits in=without-app,without-field
{
	app_cache.hits++;
}

TEST(test_app_cache_size) //@ pollutes test_app_cache_size app_cache app_cache.size in=default,only-app,some,without-two,without-field //@ clean test_app_cache_size in=without-app
{
	app_cache.size++;
}

TEST(test_stats) //@ pollutes test_stats stats_total stats_total in=default,without-app,without-two,without-field //@ clean test_stats in=only-app
{
	stats_total++;
}

// Two variables of one name in two files.
static int same_name;

TEST(test_same_name_here) //@ pollutes test_same_name_here same_name same_name in=default,without-app,without-two,without-field //@ clean test_same_name_here in=only-app
{
	same_name += 2;
	TOUCH(&same_name);
}

TEST(test_same_name_there) //@ pollutes test_same_name_there same_name same_name in=default,without-app,without-two,without-field //@ clean test_same_name_there in=only-app
{
	other_change_same_name();
}

TEST(test_other) //@ pollutes test_other other_value other_value in=default,without-app,without-field //@ clean test_other in=only-app,without-two
{
	other_value++;
}

// Constants are written when they are initialised, and then never.
TEST(test_constant) //@ clean test_constant in=default,only-app,without-app,without-two,without-field
{
	static const int constant[] = { 1, 2, 3 };
	volatile int sum = constant[0] + other_constant;
	(void)sum;
}

RUNNER_MAIN()

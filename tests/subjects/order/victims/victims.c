// Victims with one polluter or several that each suffice, before and after them in natural order; pollution that nobody
// minds; also built with sanitizers.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,clang-O2
//@ variant address cflags="-fsanitize=address" libs="-fsanitize=address" builds=gcc-O0,clang-O2 quick=gcc-O0
//@ variant undefined cflags="-fsanitize=undefined" libs="-fsanitize=undefined" builds=gcc-O2,clang-O0
//@ variant thread cflags="-fsanitize=thread" libs="-fsanitize=thread" builds=gcc-O2
//@ variant static libs="-static" builds=gcc-O2
//@ variant nodebug debug=none builds=gcc-O0
//@ run default twice=yes
//@ run all-pairs --all-pairs quick=no
//@ run one-job --jobs 1 quick=no
//@ run random --strategy random --runs 40 --seed 5 quick=no

#include "../runner.h"

#include <stdlib.h>
#include <string.h>

int level;     // what the victims look at
int noise;     // changes whenever level does
int latent;    // nobody minds
char mode[16]; // of the second victim
struct {
	int width, height;
} window = { 80, 24 };

TEST(test_innocent)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += i;
	assert(sum == 45);
}

TEST(test_window_is_default) //@ victim test_window_is_default polluters=test_makes_window_wide polluted=window on=!nodebug-*
//@ victim test_window_is_default polluters=test_makes_window_wide on=nodebug-*
{
	assert(window.width == 80);
}

TEST(test_raises_level)
{
	noise++;
	level = 3;
	TOUCH(&level);
}

// Fails in natural order.
TEST(test_level_is_zero) //@ victim test_level_is_zero polluters=test_raises_level|test_raises_level_more polluted=level on=!nodebug-*
//@ cleaned test_level_is_zero after=test_raises_level by=test_sets_level_itself
//@ cleaned test_level_is_zero after=test_raises_level_more by=test_sets_level_itself
//@ victim test_level_is_zero polluters=test_raises_level|test_raises_level_more on=nodebug-*
{
	assert(level == 0);
}

TEST(test_leaves_latent)
{
	latent++;
	TOUCH(&latent);
}

TEST(test_does_not_mind)
{
	int before = latent;
	TOUCH(&before);
	assert(latent == before);
}

TEST(test_sets_level_itself)
{
	level = 0;
	TOUCH(&level);
	assert(level == 0);
}

TEST(test_raises_level_more)
{
	noise++;
	level++;
	TOUCH(&level);
}

TEST(test_mode_is_unset) //@ victim test_mode_is_unset polluters=test_sets_fast|test_sets_slow|test_sets_odd polluted=mode on=!nodebug-*
//@ cleaned test_mode_is_unset after=test_sets_fast by=none
//@ victim test_mode_is_unset polluters=test_sets_fast|test_sets_slow|test_sets_odd on=nodebug-*
{
	assert(!mode[0]);
}

TEST(test_sets_fast)
{
	noise++;
	strcpy(mode, "fast");
	TOUCH(mode);
}

TEST(test_sets_slow)
{
	strcpy(mode, "slow");
	TOUCH(mode);
}

TEST(test_sets_odd)
{
	strcpy(mode, "odd");
	TOUCH(mode);
}

TEST(test_makes_window_wide)
{
	window.width = 132;
	TOUCH(&window);
}

TEST(test_makes_window_high)
{
	window.height = 50;
	TOUCH(&window);
}

RUNNER_MAIN()

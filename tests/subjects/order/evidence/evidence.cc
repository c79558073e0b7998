// What is shown to be left is what decides in the failing order, not whatever else is left under the same root, and not
// what the polluter leaves in the suite's own order.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,gcc-O2

#include "../runner.h"

#include <map>
#include <string>

static std::map<std::string, int> config;
static int level;

TEST(test_sets_colour_and_size)
{
	config["colour"] = 1;
	config["size"] = 1;
	TOUCH(&config);
}

// Without this key it is no polluter: the other one does not decide.
TEST(test_sets_colour)
{
	config["colour"] = 2;
	TOUCH(&config);
}

TEST(test_sets_size)
{
	config["size"] = 3;
	TOUCH(&config);
}

//@ victim test_has_no_size polluters=test_sets_colour_and_size|test_sets_size polluted=config left=config["size"]
TEST(test_has_no_size)
{
	assert(config.count("size") == 0);
}

// The twin: nobody sets what it asks for.
TEST(test_has_no_weight)
{
	assert(config.count("weight") == 0);
}

TEST(test_raises)
{
	level = level ? 3 : 1;
	TOUCH(&level);
}

TEST(test_raises_more)
{
	level += 10;
	TOUCH(&level);
}

//@ brittle test_wants_a_level setters=test_raises|test_raises_more polluted=level left=level
TEST(test_wants_a_level)
{
	assert(level > 0);
}

RUNNER_MAIN()

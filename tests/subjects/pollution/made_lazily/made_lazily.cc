// Objects that are made by hand when they are first needed: what a test leaves in them counts, making them does not.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,gcc-O2

#include "../runner.h"

#include <map>
#include <string>

struct Settings {
	int level = 1;
	std::map<std::string, int> known;
	Settings()
	{
		known["usual"] = 1;
	}
};

#define LAZY(function, variable)                                                                                        \
	static Settings *variable;                                                                                      \
	NOINLINE Settings &function()                                                                                   \
	{                                                                                                               \
		if (!variable)                                                                                          \
			variable = new Settings;                                                                        \
		return *variable;                                                                                       \
	}

// Whoever comes first makes the same.
LAZY(get_plain, plain)

TEST(test_makes) //@ pollutes test_makes plain plain before=NULL effect=settles severity=low
{
	TOUCH(&get_plain());
}

TEST(test_uses_plain) //@ clean test_uses_plain
{
	volatile int level = get_plain().level;
	(void)level;
}

LAZY(get_set, set)

TEST(test_makes_and_sets) //@ pollutes test_makes_and_sets set set->level before=1 after=7 effect=settles severity=high readers=test_uses_set
{
	get_set().level = 7;
}

TEST(test_uses_set) //@ clean test_uses_set
{
	volatile int level = get_set().level;
	(void)level;
}

// Others use it, but not what was left in it.
LAZY(get_filled, filled)

TEST(test_makes_and_fills) //@ pollutes test_makes_and_fills filled filled->known... effect=settles severity=low
{
	get_filled().known["other"] = 2;
}

TEST(test_uses_filled) //@ clean test_uses_filled
{
	volatile int level = get_filled().level;
	(void)level;
}

// Made and used like any other: what it grows by is no matter of who made it.
LAZY(get_counted, counted)

TEST(test_makes_and_counts) //@ pollutes test_makes_and_counts counted ... effect=accumulates
{
	get_counted().level++;
}

TEST(test_uses_counted) //@ clean test_uses_counted
{
	volatile int level = get_counted().level;
	(void)level;
}

// Both leave something in it: which of them made it is no matter either.
LAZY(get_shared, shared)

TEST(test_shares_first) //@ pollutes test_shares_first shared ... effect=settles
{
	get_shared().level = 3;
}

TEST(test_shares_second) //@ pollutes test_shares_second shared shared->level before=3 after=4 effect=settles
{
	get_shared().level = 4;
}

RUNNER_MAIN()

// The seed of std::hash is another through a run: the place where a hash was asked for is shown.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,clang-O2
//@ run default --api "std::hash*" --level one

#include "../runner.h"

#include <functional>
#include <string>

TEST(test_value)
{
	std::string name = "abc";
	size_t hash = std::hash<std::string>()(name); //@ assumption test_value api="std::hash<std::string>" before=yes
	assert(hash == 3663726644998027833UL);
}

TEST(test_same_value)
{
	std::string name = "abc", same = "ab";
	same += 'c';
	assert(std::hash<std::string>()(name) == std::hash<std::string>()(same));
}

RUNNER_MAIN()

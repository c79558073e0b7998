// A singleton in C++: a member function with a std::string, through the getter; a container in the heap.
//
//@ subject framework=gtest lang=c++ header=gtest/gtest.h packages="libgtest-dev libgmock-dev"
//@ variant static libs="-lgtest_main -lgtest -pthread" quick=gcc-O0

#include <gtest/gtest.h>

#include "bus.h"

TEST(Bus, StartsEmpty) //@ mend Bus.StartsEmpty function=app::Bus::unsubscribe added="app::Bus::get().unsubscribe(\"alarm\");"
{
	EXPECT_EQ(app::Bus::get().subscribers(), 0u);
}

TEST(Bus, Subscribes)
{
	app::Bus::get().subscribe("alarm");
	EXPECT_GE(app::Bus::get().subscribers(), 1u);
}

// A patch looks like the file: names of namespaces that it uses, headers of C as C++ has them, and results that it checks.
//
//@ subject framework=gtest lang=c++ header=gtest/gtest.h packages="libgtest-dev"
//@ variant plain libs="-lgtest -lgtest_main -pthread" quick=gcc-O0,gcc-O2

#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

#include "names.h"

using namespace app;

TEST(Names, StartsEmpty) //@ mend Names.StartsEmpty added="names_remove(\"ada\");" lacks="app::" says="at the end of Names.Adds"
{
	EXPECT_EQ(names_count(), 0);
}

TEST(Names, Adds)
{
	names_add("ada");
	EXPECT_EQ(names_count(), 1);
	names_remove("eve");
}

TEST(Place, HasNoColour) //@ mend Place.HasNoColour added="unsetenv(\"COLOUR\");" lacks="#include"
{
	EXPECT_EQ(std::getenv("COLOUR"), nullptr);
}

TEST(Place, Colours)
{
	setenv("COLOUR", "red", 1);
	EXPECT_STREQ(std::getenv("COLOUR"), "red");
}

TEST(Place, SeesSource) //@ mend Place.SeesSource added="EXPECT_EQ(chdir(folder_before), 0);" also="free(folder_before);" lacks=return
{
	EXPECT_EQ(access("names.h", R_OK), 0);
}

TEST(Place, Moves)
{
	ASSERT_EQ(chdir("/"), 0);
}

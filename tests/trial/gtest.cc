// The operations as tests of a GoogleTest program.
#include "operations.h"

#include <gtest/gtest.h>

TEST(Trial, files_are_there)
{
	EXPECT_TRUE(files_are_there());
}

#define DECLARE(name, group, who)                                                                                      \
	TEST(Trial, name)                                                                                              \
	{                                                                                                              \
		note(#name);                                                                                           \
		do_##name();                                                                                           \
	}
OPERATIONS(DECLARE)

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	start_trial();
	return RUN_ALL_TESTS();
}

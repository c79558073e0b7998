// The tests of notes.h with GoogleTest.
#include "notes.h"

#include <gtest/gtest.h>

#define DECLARE(name)                                                                                                  \
	TEST(Notes, name)                                                                                              \
	{                                                                                                              \
		EXPECT_TRUE(name());                                                                                   \
	}
NOTES(DECLARE)

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}

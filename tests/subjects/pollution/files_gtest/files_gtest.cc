// GoogleTest: fixtures that make folders, files and process state and take them away again, and some that do not.
//
//@ subject framework=gtest lang=c++ header=gtest/gtest.h where=file
//@ variant plain libs="-lgtest -lgtest_main -pthread" quick=gcc-O0

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fs = std::filesystem;

class Scratch : public ::testing::Test {
protected:
	void SetUp() override
	{
		fs::create_directory("scratch");
		before = fs::current_path();
		fs::current_path("scratch");
		setenv("SCRATCH", "1", 1);
	}
	void TearDown() override
	{
		fs::current_path(before);
		fs::remove_all("scratch");
		unsetenv("SCRATCH");
	}
	fs::path before;
};

TEST_F(Scratch, Writes) //@ clean Scratch.Writes
{
	std::ofstream("inside.txt") << "inside";
	EXPECT_TRUE(fs::exists("inside.txt"));
}

TEST_F(Scratch, Captures) //@ clean Scratch.Captures
{
	testing::internal::CaptureStdout();
	printf("captured\n");
	EXPECT_EQ(testing::internal::GetCapturedStdout(), "captured\n");
}

TEST_F(Scratch, WritesOutside) //@ pollutes Scratch.WritesOutside outside.txt outside.txt before=absent
{
	std::ofstream("../outside.txt") << "outside";
}

TEST_F(Scratch, Dies) //@ clean Scratch.Dies
{
	EXPECT_DEATH(abort(), "");
}

class Forgetful : public ::testing::Test {
protected:
	void SetUp() override
	{
		std::ofstream("forgotten.txt") << "forgotten";
	}
};

TEST_F(Forgetful, Leaves) //@ pollutes Forgetful.Leaves forgotten.txt forgotten.txt before=absent
{
}

// By now it is the same again.
TEST_F(Forgetful, LeavesTheSame) //@ clean Forgetful.LeavesTheSame
{
}

class Shared : public ::testing::Test {
protected:
	static void SetUpTestSuite()
	{
		fs::create_directory("shared");
		std::ofstream("shared/data.txt") << "data";
	}
	static void TearDownTestSuite()
	{
		fs::remove_all("shared");
	}
};

TEST_F(Shared, Reads) //@ clean Shared.Reads
{
	EXPECT_TRUE(fs::exists("shared/data.txt"));
}

TEST_F(Shared, ReadsAgain) //@ clean Shared.ReadsAgain
{
	EXPECT_TRUE(fs::exists("shared/data.txt"));
}

TEST(Environment, Leaves) //@ pollutes Environment.Leaves environment[LEFT_BY_TEST] environment[LEFT_BY_TEST] where=process before=unset after="\"yes\"" readers=Environment.Reads severity=high
{
	setenv("LEFT_BY_TEST", "yes", 1);
}

TEST(Environment, Reads) //@ clean Environment.Reads
{
	EXPECT_NE(getenv("LEFT_BY_TEST"), nullptr);
}

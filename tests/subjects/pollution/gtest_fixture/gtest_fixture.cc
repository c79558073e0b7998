// GoogleTest: fixtures that put back what they set up, suites with set-up of their own, the framework's own counters, and
// the points between which the state is compared.
//
//@ subject framework=gtest lang=c++ header=gtest/gtest.h
//@ variant plain libs="-lgtest -lgtest_main -pthread" quick=gcc-O0
//@ run inside --capture after-setup..before-teardown
//@ run until-teardown --capture before-setup..before-teardown
//@ run from-setup --capture after-setup..after-teardown

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

int connection;
std::vector<int> pool;
std::map<std::string, int> registry;
int visits;

// Set up, used, torn down.

class Connected : public ::testing::Test {
protected:
	void SetUp() override
	{
		connection = 1;
		pool = { 1, 2, 3 };
	}
	void TearDown() override
	{
		connection = 0;
		pool.clear();
	}
	std::string own = "a member of the fixture is the fixture's own business, and goes with it";
};

//@ clean Connected.Reads in=default,inside
//@ pollutes Connected.Reads connection connection in=until-teardown before=0 after=1
//@ pollutes Connected.Reads pool ... in=until-teardown
//@ pollutes Connected.Reads connection connection in=from-setup before=1 after=0
//@ pollutes Connected.Reads pool ... in=from-setup
TEST_F(Connected, Reads)
{
	own += "!";
	EXPECT_EQ(connection, 1);
	EXPECT_EQ(pool.size(), 3u);
}

// Undone by the tear-down.
//@ clean Connected.ChangesAndIsTornDown in=default
//@ pollutes Connected.ChangesAndIsTornDown pool pool[1] in=inside before=2 after=20
//@ pollutes Connected.ChangesAndIsTornDown connection connection in=until-teardown,from-setup
//@ pollutes Connected.ChangesAndIsTornDown pool ... in=until-teardown,from-setup
TEST_F(Connected, ChangesAndIsTornDown)
{
	pool[1] = 20;
	EXPECT_EQ(pool[1], 20);
}

//@ pollutes Connected.LeavesSomethingElse visits visits before=0 after=1 effect=accumulates
//@ pollutes Connected.LeavesSomethingElse connection connection in=until-teardown,from-setup
//@ pollutes Connected.LeavesSomethingElse pool ... in=until-teardown,from-setup
TEST_F(Connected, LeavesSomethingElse)
{
	visits++;
}

// A fixture whose set-up leaves something.
int set_ups;

class Counting : public ::testing::Test {
protected:
	void SetUp() override
	{
		set_ups++;
	}
};

//@ pollutes Counting.First set_ups set_ups in=default,until-teardown before=0 after=1
//@ clean Counting.First in=inside,from-setup
TEST_F(Counting, First)
{
}

//@ pollutes Counting.Second set_ups set_ups in=default,until-teardown before=1 after=2
//@ clean Counting.Second in=inside,from-setup
TEST_F(Counting, Second)
{
	SUCCEED();
}

// What the suite sets up for all its tests is no test's doing.
class WithSuite : public ::testing::Test {
protected:
	static std::unique_ptr<std::string> resource;
	static void SetUpTestSuite()
	{
		resource = std::make_unique<std::string>("made once for all tests of the suite");
		registry["suite"] = 1;
	}
	static void TearDownTestSuite()
	{
		resource.reset();
		registry.erase("suite");
	}
};

std::unique_ptr<std::string> WithSuite::resource;

TEST_F(WithSuite, UsesResource) //@ clean WithSuite.UsesResource
{
	EXPECT_FALSE(resource->empty());
}

TEST_F(WithSuite, UsesResourceAgain) //@ clean WithSuite.UsesResourceAgain
{
	EXPECT_EQ(registry.size(), 1u);
}

TEST_F(WithSuite, ChangesResource) //@ pollutes WithSuite.ChangesResource WithSuite::resource ...
{
	*resource = "changed";
}

// The framework's own.

TEST(Framework, Assertions) //@ clean Framework.Assertions
{
	for (int i = 0; i < 100; i++) {
		SCOPED_TRACE(i);
		EXPECT_LT(i, 100) << "a message";
		ASSERT_STREQ("a", "a");
	}
}

TEST(Framework, Properties) //@ clean Framework.Properties
{
	RecordProperty("key", "value");
	RecordProperty("number", 3);
}

TEST(Framework, Output) //@ clean Framework.Output
{
	testing::internal::CaptureStdout();
	printf("captured\n");
	EXPECT_EQ(testing::internal::GetCapturedStdout(), "captured\n");
}

// With parameters and types.

class Each : public ::testing::TestWithParam<int> {
};

//@ pollutes Numbers/Each.Adds/0 registry ... effect=settles
//@ pollutes Numbers/Each.Adds/1 registry ... effect=settles
//@ clean Numbers/Each.Adds/2
TEST_P(Each, Adds)
{
	registry[std::to_string(GetParam() % 2)] = 1;
}

INSTANTIATE_TEST_SUITE_P(Numbers, Each, ::testing::Values(0, 1, 2));

template <typename T> class Typed : public ::testing::Test {
protected:
	static inline T last{};
};

using Types = ::testing::Types<int, double>;
TYPED_TEST_SUITE(Typed, Types);

//@ pollutes Typed/0.Keeps Typed<int>::last ... before=0 after=1
//@ pollutes Typed/1.Keeps Typed<double>::last ... before=0 after=1
TYPED_TEST(Typed, Keeps)
{
	this->last += 1;
}

TEST(Plain, Restores) //@ clean Plain.Restores
{
	auto saved = registry;
	registry.clear();
	registry["x"] = 2;
	registry = saved;
}

TEST(Plain, StaticOfTest) //@ pollutes Plain.StaticOfTest ...runs ... effect=accumulates
{
	static int runs;
	EXPECT_GE(++runs, 1);
}

// What the C++ library leaves open, and the errors that are known for it, in GoogleTest; beside each a test that is
// written correctly. Calls that the framework makes for itself are none of the test's.
//
//@ subject framework=gtest lang=c++ header=gtest/gtest.h
//@ variant plain libs="-lgtest -lgtest_main -pthread" quick=gcc-O0
//@ variant shared uses=gtest-shared builds=clang-O2

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

// Of the framework, which is a part of the program where it is linked statically.
//@ unmet strcmp strncmp strcasecmp getline strtol

TEST(Framework, ComparesForItself)
{
	EXPECT_STREQ("text", std::string("text").c_str());
	EXPECT_STRNE("text", "test");
	EXPECT_STRCASEEQ("text", "TEXT");
}

// A writer that prints what a hash table holds.

template <class Table> static std::string write_json(const Table &table)
{
	std::string text;
	for (const auto &[key, value] : table)
		text += (text.empty() ? "" : ",") + std::to_string(key) + ":" + std::to_string(value);
	return "{" + text + "}";
}

TEST(Json, WritesTable)
{
	std::unordered_map<int, int> table;
	table[1] = 10; //@ assumption Json.WritesTable api="std::unordered_map/set (order)" line=any more=yes
	table[2] = 20;
	table[3] = 30;
	// As today's library has it.
	EXPECT_EQ(write_json(table), "{3:30,2:20,1:10}");
}

TEST(Json, WritesSorted)
{
	std::unordered_map<int, int> table{ { 1, 10 }, { 2, 20 } };
	table[3] = 30;
	EXPECT_EQ(write_json(std::map<int, int>(table.begin(), table.end())), "{1:10,2:20,3:30}");
}

// A listing by the library, which reads directories for its caller.

class Listing : public testing::Test {
protected:
	void SetUp() override
	{
		char name[] = "listing-XXXXXX";
		ASSERT_NE(mkdtemp(name), nullptr);
		path = name;
		for (const char *file : { "c", "a", "d", "b" })
			std::ofstream(path / file) << "text";
	}
	void TearDown() override
	{
		std::filesystem::remove_all(path);
	}
	std::vector<std::string> list()
	{
		std::vector<std::string> names;
		for (const auto &entry : std::filesystem::directory_iterator(path)) //@ assumption Listing.LikeTheOtherOne api=readdir
			names.push_back(entry.path().filename());
		return names;
	}
	std::filesystem::path path;
};

// `ls -U` is another process, with choices of its own: what the file system says has to come from today's order.
TEST_F(Listing, LikeTheOtherOne)
{
	auto names = list();
	std::vector<std::string> today;
	std::string command = "LD_PRELOAD= ls -U " + path.string();
	FILE *pipe = popen(command.c_str(), "r");
	ASSERT_NE(pipe, nullptr);
	char line[16];
	while (fgets(line, sizeof(line), pipe))
		today.emplace_back(line, 1);
	pclose(pipe);
	EXPECT_EQ(names, today);
}

TEST_F(Listing, Sorted)
{
	auto names = list();
	std::sort(names.begin(), names.end());
	EXPECT_EQ(names, (std::vector<std::string>{ "a", "b", "c", "d" }));
}

// A condition variable of the library.

struct Latch {
	std::mutex lock;
	std::condition_variable changed;
	bool ready = false;
	std::thread thread;

	Latch()
	    : thread([this] {
		    std::this_thread::sleep_for(std::chrono::milliseconds(20));
		    std::lock_guard guard(lock);
		    ready = true;
		    changed.notify_one();
	    })
	{
	}
	~Latch()
	{
		thread.join();
	}
};

TEST(Wait, Once)
{
	Latch latch;
	std::unique_lock guard(latch.lock);
	if (!latch.ready)
		latch.changed.wait(guard); //@ assumption Wait.Once api=pthread_cond_wait level=id
	EXPECT_TRUE(latch.ready);
}

TEST(Wait, WithPredicate)
{
	Latch latch;
	std::unique_lock guard(latch.lock);
	latch.changed.wait(guard, [&] { return latch.ready; });
	EXPECT_TRUE(latch.ready);
}

// Strings: only the sign of compare() counts.

// Texts that the compiler does not know.
static const char *volatile split = "banana split", *volatile ship = "banana ship";

TEST(Compare, ToOne)
{
	std::string a = split, b = ship;
	volatile int result = a.compare(b); //@ assumption Compare.ToOne api=std::string::compare|memcmp
	EXPECT_EQ(result, 'p' - 'h');
}

TEST(Compare, Sign)
{
	std::string a = split, b = ship;
	EXPECT_GT(a.compare(b), 0);
	EXPECT_LT(b.compare(a), 0);
	EXPECT_EQ(a.compare(a), 0);
}

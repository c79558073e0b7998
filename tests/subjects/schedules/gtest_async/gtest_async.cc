// GoogleTest, the threads of the C++ library, and what its futures and clocks do.
//
//@ subject framework=gtest lang=c++ header=gtest/gtest.h
//@ variant plain libs="-lgtest_main -lgtest -pthread" quick=gcc-O2
//@ run check --budget 120s command=check

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Async, FutureInTime)
{
	auto future = std::async(std::launch::async, [] { return 7; });
	EXPECT_EQ(future.wait_for(milliseconds(50)), std::future_status::ready); //@ late Async.FutureInTime
	EXPECT_EQ(future.get(), 7);
}

TEST(Async, FutureGet)
{
	auto future = std::async(std::launch::async, [] { return 7; });
	EXPECT_EQ(future.get(), 7);
}

TEST(Async, SleepsFor)
{
	std::atomic<int> n{ 0 };
	std::thread thread([&] { n = 1; });
	std::this_thread::sleep_for(milliseconds(20));
	EXPECT_EQ(n, 1); //@ late Async.SleepsFor
	thread.join();
}

TEST(Async, PollsUntilDeadline)
{
	std::atomic<int> n{ 0 };
	std::thread thread([&] { n = 1; });
	auto end = std::chrono::steady_clock::now() + seconds(10);
	while (!n && std::chrono::steady_clock::now() < end)
		std::this_thread::sleep_for(milliseconds(5));
	EXPECT_EQ(n, 1);
	thread.join();
}

TEST(Async, ConditionWithPredicate)
{
	std::mutex lock;
	std::condition_variable changed;
	bool ready = false;
	std::thread thread([&] {
		std::lock_guard<std::mutex> guard(lock);
		ready = true;
		changed.notify_one();
	});
	std::unique_lock<std::mutex> guard(lock);
	EXPECT_TRUE(changed.wait_for(guard, seconds(5), [&] { return ready; }));
	guard.unlock();
	thread.join();
}

TEST(AsyncDeathTest, Dies)
{
	std::thread thread([] { std::this_thread::sleep_for(milliseconds(1)); });
	EXPECT_DEATH(_exit(3), "");
	thread.join();
}

// The date changes between two readings of a clock: a second, a minute, a day. Each beside a test that reads the clock
// once, or allows for it.
//
//@ subject framework=functions lang=c++
//@ variant plain quick=gcc-O0,clang-O2
//@ run default --api "clock-boundary" --runs 20

#include "../runner.h"

#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

namespace
{
// A stamp for a file's name, as the code under test makes it.
std::string stamp(time_t now)
{
	struct tm parts;
	char text[32];
	gmtime_r(&now, &parts);
	strftime(text, sizeof(text), "%Y-%m-%d", &parts);
	return text;
}
} // namespace

TEST(test_same_second)
{
	time_t made = time(nullptr); //@ assumption test_same_second api=clock-boundary level=full
	assert(time(nullptr) == made);
}

TEST(test_a_second_or_so)
{
	time_t made = time(nullptr);
	time_t now = time(nullptr);
	assert(now >= made && now <= made + 5);
}

TEST(test_same_minute)
{
	struct timeval first, second;
	gettimeofday(&first, nullptr); //@ assumption test_same_minute api=clock-boundary level=full
	gettimeofday(&second, nullptr);
	assert(first.tv_sec / 60 == second.tv_sec / 60);
}

TEST(test_same_day)
{
	std::string name = stamp(time(nullptr)); //@ assumption test_same_day api=clock-boundary level=full
	std::string expected = stamp(time(nullptr));
	assert(name == expected);
}

TEST(test_day_read_once)
{
	time_t now = time(nullptr);
	assert(stamp(now) == stamp(now));
}

TEST(test_same_day_of_chrono)
{
	using namespace std::chrono;
	auto first = system_clock::now(); //@ assumption test_same_day_of_chrono api=clock-boundary level=full
	auto second = system_clock::now();
	auto day = hours(24);
	assert(first.time_since_epoch() / day == second.time_since_epoch() / day);
}

// Fields of two readings: 0.999 and 1.001.
TEST(test_fields_go_up)
{
	struct timespec first, second;
	clock_gettime(CLOCK_REALTIME, &first); //@ assumption test_fields_go_up api=clock-boundary level=full
	clock_gettime(CLOCK_REALTIME, &second);
	assert(second.tv_nsec >= first.tv_nsec);
}

TEST(test_times_go_up)
{
	struct timespec first, second;
	clock_gettime(CLOCK_REALTIME, &first);
	clock_gettime(CLOCK_REALTIME, &second);
	assert(second.tv_sec > first.tv_sec || (second.tv_sec == first.tv_sec && second.tv_nsec >= first.tv_nsec));
}

// Little time passes, whatever ends meanwhile.
TEST(test_takes_little_time)
{
	auto begin = std::chrono::system_clock::now();
	auto end = std::chrono::system_clock::now();
	assert(end - begin < std::chrono::seconds(5));
}

// Clocks that know no date.
TEST(test_steady)
{
	auto begin = std::chrono::steady_clock::now();
	assert(std::chrono::steady_clock::now() >= begin);
}

// Files are of the time at which they were made. Since Linux 6.13 time() may lag behind that by a tick, with or without us.
TEST(test_file_is_new)
{
	time_t before = time(nullptr);
	int fd = open("clocks-file", O_CREAT | O_RDWR, 0600);
	struct stat status;
	assert(fd >= 0 && fstat(fd, &status) == 0);
	unlink("clocks-file");
	close(fd);
	struct timespec after;
	clock_gettime(CLOCK_REALTIME, &after);
	assert(status.st_mtime >= before && status.st_mtime <= after.tv_sec);
}

RUNNER_MAIN()

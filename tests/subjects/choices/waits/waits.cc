// Sleeps and time-outs that take much longer: tests that bet on a quick machine, each beside one that does not. The
// clocks get ahead; nobody waits.
//
//@ subject framework=functions lang=c++ libs=-pthread
//@ variant plain quick=gcc-O0,clang-O2
//@ run default --api "nanosleep" --api "usleep" --api "clock_nanosleep" --api "poll" --api "pthread_cond_clockwait" --api "sem_timedwait" --level full --runs 20

#include "../runner.h"

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <fcntl.h>
#include <future>
#include <mutex>
#include <poll.h>
#include <semaphore.h>
#include <shared_mutex>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

TEST(test_sleeps_so_long)
{
	auto begin = steady_clock::now();
	std::this_thread::sleep_for(milliseconds(4)); //@ assumption test_sleeps_so_long api=nanosleep level=full line=any more=yes
	assert(steady_clock::now() - begin < milliseconds(900));
}

TEST(test_sleeps_at_least)
{
	auto begin = steady_clock::now();
	std::this_thread::sleep_for(milliseconds(4));
	assert(steady_clock::now() - begin >= milliseconds(4));
}

TEST(test_sleeps_by_the_calendar)
{
	struct timespec begin, end;
	clock_gettime(CLOCK_REALTIME, &begin);
	usleep(2000); //@ assumption test_sleeps_by_the_calendar api=usleep level=full more=yes
	clock_gettime(CLOCK_REALTIME, &end);
	assert((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 < 900);
}

TEST(test_polls_so_long)
{
	auto begin = steady_clock::now();
	assert(poll(nullptr, 0, 3) == 0); //@ assumption test_polls_so_long api=poll level=full more=yes
	assert(steady_clock::now() - begin < milliseconds(900));
}

// What is ready is reported at once.
TEST(test_polls_what_is_ready)
{
	int ends[2];
	assert(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
	struct pollfd file = { ends[0], POLLIN, 0 };
	auto begin = steady_clock::now();
	assert(poll(&file, 1, 5000) == 1);
	assert(steady_clock::now() - begin < seconds(4));
	close(ends[0]);
	close(ends[1]);
}

TEST(test_waits_so_long)
{
	std::mutex mutex;
	std::condition_variable condition;
	std::unique_lock<std::mutex> lock(mutex);
	auto begin = steady_clock::now();
	condition.wait_for(lock, milliseconds(3), [] { return false; }); //@ assumption test_waits_so_long api=pthread_cond_clockwait level=full line=any more=yes
	assert(steady_clock::now() - begin < milliseconds(900));
}

// A loop with a limit that leaves room.
TEST(test_waits_in_a_loop)
{
	auto end = steady_clock::now() + seconds(20);
	int n = 0;
	while (n < 5 && steady_clock::now() < end) {
		std::this_thread::sleep_for(milliseconds(1));
		n++;
	}
	assert(n == 5);
}

// Another thread sleeps; what is waited for comes, whatever the clock says meanwhile.
TEST(test_waits_for_a_sleeper)
{
	std::mutex mutex;
	std::condition_variable condition;
	bool done = false;
	std::thread sleeper([&] {
		std::this_thread::sleep_for(milliseconds(2));
		std::lock_guard<std::mutex> lock(mutex);
		done = true;
		condition.notify_all();
	});
	{
		std::unique_lock<std::mutex> lock(mutex);
		assert(condition.wait_for(lock, seconds(20), [&] { return done; }));
	}
	sleeper.join();
}

// Whatever the clocks say, what is waited for afterwards takes what it takes.
TEST(test_waits_afterwards)
{
	std::this_thread::sleep_for(milliseconds(1));
	auto begin = steady_clock::now();
	sem_t semaphore;
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	assert(sem_init(&semaphore, 0, 0) == 0);
	assert(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
	std::promise<int> promise;
	auto future = promise.get_future();
	assert(future.wait_for(milliseconds(2)) == std::future_status::timeout);
	assert(future.wait_until(std::chrono::system_clock::now() + milliseconds(2)) == std::future_status::timeout);
	std::shared_timed_mutex shared;
	assert(shared.try_lock_shared_for(seconds(5)));
	assert(!std::async(std::launch::async, [&] { return shared.try_lock_for(milliseconds(2)); }).get());
	shared.unlock_shared();
	assert(steady_clock::now() - begin >= milliseconds(6));
}

// A file that nobody writes to keeps its times.
TEST(test_file_is_unchanged)
{
	int fd = open("waits-file", O_CREAT | O_RDWR, 0600);
	struct stat first, second;
	assert(fd >= 0 && fstat(fd, &first) == 0);
	usleep(1000);
	assert(fstat(fd, &second) == 0);
	assert(first.st_mtim.tv_sec == second.st_mtim.tv_sec && first.st_mtim.tv_nsec == second.st_mtim.tv_nsec);
	time_t now = time(nullptr);
	assert(write(fd, "x", 1) == 1 && fstat(fd, &second) == 0);
	assert(second.st_mtime >= now);
	unlink("waits-file");
	close(fd);
}

RUNNER_MAIN()

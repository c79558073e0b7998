/* Cases of the models of clocks (values.cc). */
#pragma once

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <poll.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/time.h>
#include <thread>

static long long reading(clockid_t clock)
{
	struct timespec time;
	if (clock_gettime(clock, &time))
		abort();
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* How many of so many readings were no later than the one before? */
static unsigned same_readings(clockid_t clock)
{
	unsigned same = 0;
	long long last = reading(clock);
	for (int i = 0; i < 20; i++) {
		long long now = reading(clock);
		same += now == last;
		last = now;
	}
	return same;
}

/* Each stamp is unique: a clock of nanoseconds tells another time each time. */
static bool clock_resolution_fragile(void)
{
	return !same_readings(CLOCK_MONOTONIC);
}

/* It goes forward, in steps of what it says, and comes to an end. */
static bool clock_goes(clockid_t clock)
{
	struct timespec step;
	if (clock_getres(clock, &step) || step.tv_sec)
		return false;
	long long begin = reading(clock), last = begin;
	if (begin % step.tv_nsec)
		return false;
	while (last == begin) {
		long long now = reading(clock);
		if (now < last)
			return false;
		last = now;
	}
	return last >= begin + step.tv_nsec;
}

/* One after the other, of two clocks that tell the same. */
static bool clocks_agree(void)
{
	struct timeval of_day;
	struct timespec time;
	auto steady = std::chrono::steady_clock::now();
	auto system = std::chrono::system_clock::now();
	long long fine = reading(CLOCK_REALTIME);
	if (gettimeofday(&of_day, nullptr) ||
	    timespec_get(&time, TIME_UTC) != TIME_UTC)
		return false;
	long long micro = of_day.tv_sec * 1000000LL + of_day.tv_usec;
	long long also = time.tv_sec * 1000000000LL + time.tv_nsec;
	return std::chrono::steady_clock::now() >= steady &&
	       std::chrono::system_clock::to_time_t(system) <=
		       fine / 1000000000 &&
	       micro >= fine / 1000 && also / 1000 >= micro &&
	       ::time(nullptr) <= reading(CLOCK_REALTIME) / 1000000000;
}

/* What was waited for is over by the clock by which it was measured. */
static bool waits_are_over(bool all)
{
	using namespace std::chrono;
	const auto wait = microseconds(150);
	struct timespec pause = { 0, 150000 };
	auto begin = steady_clock::now();
	std::this_thread::sleep_for(wait);
	auto middle = steady_clock::now();
	if (middle - begin < wait)
		return false;
	if (!all)
		return true;
	if (nanosleep(&pause, nullptr) || steady_clock::now() - middle < wait)
		return false;
	begin = steady_clock::now();
	if (usleep(150) || steady_clock::now() - begin < wait)
		return false;
	begin = steady_clock::now();
	if (poll(nullptr, 0, 1) || steady_clock::now() - begin < milliseconds(1))
		return false;
	std::mutex mutex;
	std::condition_variable condition;
	std::unique_lock<std::mutex> lock(mutex);
	auto until = steady_clock::now() + wait;
	while (condition.wait_until(lock, until) != std::cv_status::timeout)
		;
	if (steady_clock::now() < until)
		return false;
	sem_t semaphore;
	long long end = reading(CLOCK_REALTIME) + 150000;
	struct timespec deadline = { (time_t)(end / 1000000000),
				     (long)(end % 1000000000) };
	return !sem_init(&semaphore, 0, 0) &&
	       sem_timedwait(&semaphore, &deadline) && errno == ETIMEDOUT &&
	       reading(CLOCK_REALTIME) >= end;
}

static bool clock_resolution_correct(void)
{
	return clock_goes(CLOCK_MONOTONIC) && clock_goes(CLOCK_REALTIME) &&
	       clocks_agree() && waits_are_over(false);
}

/* Work takes some time. */
static bool clock_ticks_fragile(void)
{
	auto begin = std::chrono::steady_clock::now();
	for (int volatile i = 0; i < 20000; i++)
		;
	return std::chrono::steady_clock::now() > begin;
}

static bool clock_ticks_correct(void)
{
	return clock_goes(CLOCK_MONOTONIC) && clocks_agree() &&
	       waits_are_over(true);
}

/* So little work takes no time. The best of a few: others run here, too. */
static bool clock_delay_fragile(void)
{
	long long best = 1000000000;
	for (int i = 0; i < 3; i++) {
		long long begin = reading(CLOCK_MONOTONIC);
		long long length = reading(CLOCK_MONOTONIC) - begin;
		best = length < best ? length : best;
	}
	return best < 300000;
}

static bool clock_delay_correct(void)
{
	auto end = std::chrono::steady_clock::now() +
		   std::chrono::milliseconds(1);
	unsigned n = 0;
	while (std::chrono::steady_clock::now() < end && n < 10000000)
		n++;
	return n < 10000000 && clocks_agree();
}

/* What is one moment is one second, one minute, one day. */
static bool clock_boundary_fragile(void)
{
	time_t first = time(nullptr);
	return time(nullptr) == first;
}

static long long true_time(void)
{
	struct timespec time;
	if (syscall(SYS_clock_gettime, CLOCK_REALTIME, &time))
		abort();
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/*
 * A file stamped between @before and now has its time from in between. Since Linux
 * 6.13 time() may lag behind stamps by a tick; where clocks are ahead, it does not.
 */
static bool stamped_since(time_t before, time_t stamp)
{
	time_t after = time(nullptr);
	if (after < true_time() / 1000000000 + 5)
		after = (time_t)(reading(CLOCK_REALTIME) / 1000000000);
	return stamp >= before && stamp <= after;
}

/* A stamp as fine as the kernel has them, from which on all others are as fine. */
static void make_fine_stamp(int fd)
{
	struct stat status;
	for (mode_t mode = 0600; mode <= 0601; mode++) {
		if (fstat(fd, &status) || fchmod(fd, mode))
			abort();
	}
}

/* Files that are made now are of now; times that are set stay. */
static bool stamps_agree(void)
{
	char path[] = "/tmp/polygraph-case-XXXXXX";
	char other[] = "/tmp/polygraph-case-XXXXXX";
	struct stat status;
	int old = mkstemp(other);
	unlink(other);
	time_t before = time(nullptr);
	/* As on a busy machine, where a second may end meanwhile. */
	struct timespec pause = { 0, 6000000 + true_time() % 6000000 };
	if (before > true_time() / 1000000000 + 5)
		syscall(SYS_nanosleep, &pause, nullptr);
	make_fine_stamp(old);
	close(old);
	int fd = mkstemp(path);
	unlink(path);
	bool agree = fd >= 0 && !fstat(fd, &status) &&
		     stamped_since(before, status.st_mtime);
	struct timespec times[2];
	if (clock_gettime(CLOCK_REALTIME, &times[0]))
		return false;
	times[1] = times[0];
	agree = agree && !futimens(fd, times) && !fstat(fd, &status) &&
		status.st_mtim.tv_sec == times[1].tv_sec;
	close(fd);
	return agree;
}

/* A timer that expires at a point in time does. */
static bool timer_expires(void)
{
	struct itimerspec value = {};
	uint64_t n = 0;
	int fd = timerfd_create(CLOCK_REALTIME, 0);
	if (clock_gettime(CLOCK_REALTIME, &value.it_value))
		return false;
	value.it_value.tv_nsec += 3000000;
	if (value.it_value.tv_nsec >= 1000000000) {
		value.it_value.tv_nsec -= 1000000000;
		value.it_value.tv_sec++;
	}
	bool expired = !timerfd_settime(fd, TFD_TIMER_ABSTIME, &value, nullptr) &&
		       read(fd, &n, sizeof(n)) == (ssize_t)sizeof(n) && n;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	close(fd);
	return expired && (now.tv_sec > value.it_value.tv_sec ||
			   (now.tv_sec == value.it_value.tv_sec &&
			    now.tv_nsec >= value.it_value.tv_nsec));
}

static bool clock_boundary_correct(void)
{
	return stamps_agree() && clocks_agree() && waits_are_over(true) &&
	       timer_expires();
}

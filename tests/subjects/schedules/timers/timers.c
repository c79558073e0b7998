// Timers of the kernel: tests that expect to be faster than one, and tests that wait for it.
//
//@ subject framework=functions lang=c
//@ variant plain libs="-pthread -lrt" quick=gcc-O0

#define _GNU_SOURCE
#include "../runner.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static atomic_int fired;

static void note(int number)
{
	(void)number;
	fired++;
}

static void note_value(union sigval value)
{
	(void)value;
	fired++;
}

static void arm(long ms, long again_ms)
{
	struct itimerval timer = { .it_value = { 0, ms * 1000 }, .it_interval = { 0, again_ms * 1000 } };
	fired = 0;
	signal(SIGALRM, note);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void disarm(void)
{
	struct itimerval none = { { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_REAL, &none, NULL);
}

static void *work(void *argument)
{
	usleep(2000);
	return argument;
}

TEST(test_faster_than_alarm)
{
	arm(200, 0);
	int n = fired;
	while (!fired)
		usleep(2000);
	assert(!n); //@ early test_faster_than_alarm
}

TEST(test_faster_than_timerfd)
{
	uint64_t n = 0;
	struct itimerspec soon = { .it_value = { 0, 200000000 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	timerfd_settime(fd, 0, &soon, NULL);
	ssize_t early = read(fd, &n, sizeof(n));
	while (early < 0 && read(fd, &n, sizeof(n)) < 0)
		usleep(2000);
	close(fd);
	assert(early < 0); //@ early test_faster_than_timerfd
}

TEST(test_faster_than_timer)
{
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	struct itimerspec soon = { .it_value = { 0, 200000000 } };
	fired = 0;
	signal(SIGUSR2, note);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &soon, NULL);
	int n = fired;
	while (!fired)
		usleep(2000);
	timer_delete(timer);
	assert(!n); //@ early test_faster_than_timer
}

/* Its function runs on a thread of its own, which may be late. */
TEST(test_timer_thread_in_time)
{
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = note_value };
	struct itimerspec soon = { .it_value = { 0, 5000000 } };
	fired = 0;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &soon, NULL);
	usleep(90000);
	int n = fired;
	timer_delete(timer);
	assert(n); //@ late test_timer_thread_in_time
}

TEST(test_waits_for_alarm)
{
	arm(20, 0);
	while (!fired)
		usleep(2000);
	assert(fired == 1);
}

TEST(test_reads_timerfd)
{
	uint64_t n = 0;
	struct itimerspec soon = { .it_value = { 0, 20000000 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(fd, 0, &soon, NULL);
	assert(read(fd, &n, sizeof(n)) == sizeof(n) && n == 1);
	close(fd);
}

TEST(test_waits_for_timer_thread)
{
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = note_value };
	struct itimerspec soon = { .it_value = { 0, 5000000 } };
	fired = 0;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &soon, NULL);
	while (!fired)
		usleep(1000);
	timer_delete(timer);
	assert(fired == 1);
}

/* One that ticks beside the work, as profilers do. */
TEST(test_ticks_beside)
{
	pthread_t thread;
	arm(5, 5);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	while (!fired)
		usleep(1000);
	disarm();
}

/* A watchdog that is never meant to come. */
TEST(test_watchdog)
{
	pthread_t thread;
	alarm(20);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	alarm(0);
	assert(1);
}

/* Signals that come do no harm. */
TEST(test_alarm_ends_sleep)
{
	arm(30, 0);
	usleep(500000);
	disarm();
	assert(fired <= 1);
}

RUNNER_MAIN()

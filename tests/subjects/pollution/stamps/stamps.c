// Time stamps: that one changed is never high; other times are values like any other.
//
//@ subject framework=functions lang=c
//@ variant plain quick=gcc-O0,gcc-O2

#include "../runner.h"

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

static NOINLINE int64_t now(clockid_t clock, int64_t units)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec * units + time.tv_nsec / (1000000000 / units);
}

#define READER(name, place)                                                                                            \
	TEST(name)                                                                                                     \
	{                                                                                                              \
		volatile int64_t seen = (int64_t)(place);                                                              \
		(void)seen;                                                                                            \
	}

time_t last_seconds;

TEST(test_seconds) //@ pollutes test_seconds last_seconds last_seconds severity=medium|low readers=test_reads_seconds
{
	last_seconds = time(NULL);
}

READER(test_reads_seconds, last_seconds) //@ clean test_reads_seconds

int64_t last_milliseconds;

TEST(test_milliseconds) //@ pollutes test_milliseconds last_milliseconds last_milliseconds severity=medium|low readers=test_reads_milliseconds
{
	last_milliseconds = now(CLOCK_REALTIME, 1000);
}

READER(test_reads_milliseconds, last_milliseconds) //@ clean test_reads_milliseconds

int64_t last_nanoseconds;

TEST(test_nanoseconds) //@ pollutes test_nanoseconds last_nanoseconds last_nanoseconds severity=medium|low readers=test_reads_nanoseconds
{
	last_nanoseconds = now(CLOCK_REALTIME, 1000000000);
}

READER(test_reads_nanoseconds, last_nanoseconds) //@ clean test_reads_nanoseconds

struct {
	int unused;
	struct timespec at;
	struct timeval until;
	struct tm day;
} last;

TEST(test_structs) //@ pollutes test_structs last last.at... severity=medium|low readers=test_reads_structs
{
	clock_gettime(CLOCK_REALTIME, &last.at);
	gettimeofday(&last.until, NULL);
	gmtime_r(&last.at.tv_sec, &last.day);
	last.day.tm_zone = NULL;
}

READER(test_reads_structs, last.at.tv_sec) //@ clean test_reads_structs

// The twins: a pause is no time stamp, nor is a date that a test made up.

struct timespec pause_time = { 5, 0 };

TEST(test_sets_pause) //@ pollutes test_sets_pause pause_time pause_time.tv_sec before=5 after=1 severity=high readers=test_reads_pause
{
	pause_time.tv_sec = 1;
}

READER(test_reads_pause, pause_time.tv_sec) //@ clean test_reads_pause

time_t simulated;

TEST(test_simulates) //@ pollutes test_simulates simulated simulated before=0 after=1000000000 severity=high readers=test_reads_simulated
{
	simulated = 1000000000;
}

READER(test_reads_simulated, simulated) //@ clean test_reads_simulated

// With something else beside it, that is what is shown.

struct {
	int64_t when[4];
	int level;
} event;

TEST(test_notes_event) //@ pollutes test_notes_event event event.level before=0 after=3 severity=high readers=test_reads_level
{
	for (int i = 0; i < 4; i++)
		event.when[i] = now(CLOCK_REALTIME, 1000000);
	event.level = 3;
}

READER(test_reads_level, event.level) //@ clean test_reads_level

RUNNER_MAIN()

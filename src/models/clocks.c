/*
 * Models of clocks: which day it is, their resolution, and how long it takes to
 * read them.
 *
 * Every clock of a process has the same resolution, a part of a second: it
 * shows the last tick, so it lags by less than a tick, never goes backwards,
 * and no clock contradicts another. A microsecond does not matter to code that
 * waits. Longer ticks are optional: time that was waited for must be over by
 * the clock, so waits end at a tick, too. Those of nanosleep(), poll(), of
 * semaphores, mutexes and condition variables do; signals of timers, select(),
 * epoll_wait(), std::future, read-write locks and message queues are left as
 * they are.
 *
 * The calendar is optional: the clock's day is another, but time stamps of
 * files are the kernel's, and so are points in time at which timers are to
 * expire. Those until which one waits are moved back (clocks_deadline()),
 * except for std::future, read-write locks and message queues.
 */
#include "models/threads_internal.h"

#include <stdlib.h>
#include <sys/time.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SECOND 1000000000L

/* ---- the calendar ---- */

#define DAY 86400L

/* Days since 1970 of a date (Gregorian, years from 1970 on). */
static long days_of(long year, long month, long day)
{
	year -= month <= 2;
	long era_year = year % 400;
	long of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return year / 400 * 146097 + era_year * 365 + era_year / 4 -
	       era_year / 100 + of_year - 719468;
}

/*
 * Whole days, so that all processes of a day agree; into the past, so that what
 * waits for a point in time comes back at once instead of never.
 */
static long clock_day_shift(long now)
{
	static const struct {
		long year, month, day;
		const char *text;
	} days[] = {
		{ 2024, 2, 29, "a leap day" },
		{ 2023, 12, 31, "the last day of a year" },
		{ 2025, 1, 31, "the last day of a month" },
		{ 2025, 3, 30, "when daylight saving began in Europe" },
		{ 2024, 11, 3, "when daylight saving ended in America" },
		{ 2000, 2, 29, "a leap day of a century" },
	};
	uint64_t pick = choose_once(WIRE_MODEL_calendar, COUNT(days) + 1);
	if (!pick)
		return 0;
	choose_did("it was %s", days[pick - 1].text);
	return (days_of(days[pick - 1].year, days[pick - 1].month,
			days[pick - 1].day) -
		now / DAY) *
	       DAY;
}

/* What is added to the time, since epoch - 1. */
static uint64_t calendar_epoch;
static long calendar_offset;

/* The same through an epoch, also when midnight passes. */
static long clock_epoch_offset(long now)
{
	if (__atomic_load_n(&calendar_epoch, __ATOMIC_ACQUIRE) !=
	    choose_block->epoch + 1) {
		calendar_offset = clock_day_shift(now);
		__atomic_store_n(&calendar_epoch, choose_block->epoch + 1,
				 __ATOMIC_RELEASE);
	}
	return calendar_offset;
}

/* ---- resolution ---- */

/* Nanoseconds of a long tick, in the epoch before this number; 0: none. */
static uint64_t tick_epoch;
static long tick_length;

static long clock_next_tick(void)
{
	static const long lengths[] = { 4 * LATE_MS, LATE_MS };
	uint64_t pick = choose_once(WIRE_MODEL_clock_ticks, COUNT(lengths) + 1);
	long length = pick ? lengths[pick - 1] : 0;
	choose_did("clocks ticked every %ld ms", length / LATE_MS);
	tick_length = length;
	__atomic_store_n(&tick_epoch, choose_block->epoch + 1,
			 __ATOMIC_RELEASE);
	return length;
}

/* What has been decided, for those that wait. */
static long tick_now(void)
{
	if (likely(!choose_block) ||
	    __atomic_load_n(&tick_epoch, __ATOMIC_ACQUIRE) !=
		    choose_block->epoch + 1)
		return 0;
	return tick_length;
}

/* Nanoseconds; 1: as fine as it is. */
static long clock_resolution_for(uintptr_t caller)
{
	static const long lengths[] = { 1000, 100 };
	long length = 0;
	if (choose_wanted(WIRE_MODEL_clock_ticks, caller))
		length = clock_next_tick();
	if (length || !choose_wanted(WIRE_MODEL_clock_resolution, caller))
		return length ? length : 1;
	uint64_t pick =
		choose_once(WIRE_MODEL_clock_resolution, COUNT(lengths) + 1);
	if (!pick)
		return 1;
	choose_did("clocks had a resolution of %ld nanoseconds",
		   lengths[pick - 1]);
	return lengths[pick - 1];
}

/* ---- time between calls ---- */

/* Per thread and epoch: code that asks repeatedly is not delayed each time. */
static __thread struct {
	uint64_t epoch, n;
} asked __attribute__((tls_model("initial-exec")));

#define ASKED_ALWAYS 16

/* Before the time is read. */
static void take_time(uintptr_t caller)
{
	static const long pauses[] = { 0, 50 * LATE_US, 400 * LATE_US,
				       2 * LATE_MS };
	if (!choose_wanted(WIRE_MODEL_clock_delay, caller))
		return;
	if (asked.epoch != choose_block->epoch + 1) {
		asked.epoch = choose_block->epoch + 1;
		asked.n = 0;
	}
	uint64_t n = asked.n++;
	if (n >= ASKED_ALWAYS && n & (n - 1))
		return;
	struct choose_keys keys = {};
	uint64_t pick =
		choose_pick(WIRE_MODEL_clock_delay, COUNT(pauses), keys);
	choose_did("%ld microseconds passed before it returned the time",
		   pauses[pick] / LATE_US);
	threads_let_time_pass(pauses[pick]);
}

/* ---- waiting ---- */

static void round_up(struct timespec *time, long length)
{
	long rest = time->tv_nsec % length;
	if (rest)
		late_add(time, length - rest);
}

const struct timespec *clocks_deadline(const struct timespec *time,
				       struct timespec *real)
{
	struct timespec now;
	long length = tick_now();
	bool day = __atomic_load_n(&calendar_epoch, __ATOMIC_ACQUIRE);
	if (likely(!length && !day) || !late_valid(time))
		return time;
	*real = *time;
	if (length)
		round_up(real, length);
	/* Other clocks began when the machine did. */
	if (!day || time->tv_sec < 500000000 ||
	    sys_call(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0, 0, 0, 0))
		return real;
	/* Nearer to the day that the program saw, or to the true one? */
	long told = time->tv_sec - (now.tv_sec + calendar_offset);
	long seconds = time->tv_sec - now.tv_sec;
	if (labs(told) < labs(seconds))
		real->tv_sec -= calendar_offset;
	return real;
}

void clocks_waited(void)
{
	static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC,
					    CLOCK_BOOTTIME };
	long length = tick_now(), left = 0;
	for (size_t i = 0; length && i < COUNT(clocks); i++) {
		struct timespec now;
		if (sys_call(SYS_clock_gettime, clocks[i], (long)&now, 0, 0, 0,
			     0))
			continue;
		long rest = length - now.tv_nsec % length;
		if (rest > left)
			left = rest;
	}
	threads_let_time_pass(left);
}

/* ---- the clocks ---- */

_export_ time_t time(time_t *ret)
{
	CHOOSE_NEXT(time, -1)
	take_time(CHOOSE_CALLER());
	time_t now = next(NULL);
	if (now >= 0 && choose_wanted(WIRE_MODEL_calendar, CHOOSE_CALLER()))
		now += clock_epoch_offset(now);
	if (ret)
		*ret = now;
	return now;
}

static void clock_adjust_time(struct timespec *time, bool calendar,
			      uintptr_t caller)
{
	if (calendar && choose_wanted(WIRE_MODEL_calendar, caller))
		time->tv_sec += clock_epoch_offset(time->tv_sec);
	time->tv_nsec -= time->tv_nsec % clock_resolution_for(caller);
}

_export_ int clock_gettime(clockid_t clock, struct timespec *ret)
{
	CHOOSE_NEXT(clock_gettime, -1)
	if (likely(!choose_block))
		return next(clock, ret);
	uintptr_t caller = CHOOSE_CALLER();
	take_time(caller);
	int result = next(clock, ret);
	if (!result)
		clock_adjust_time(ret,
				  clock == CLOCK_REALTIME ||
					  clock == CLOCK_REALTIME_COARSE,
				  caller);
	return result;
}

_export_ int clock_getres(clockid_t clock, struct timespec *ret)
{
	CHOOSE_NEXT(clock_getres, -1)
	int result = next(clock, ret);
	if (likely(!choose_block) || result || !ret)
		return result;
	long length = clock_resolution_for(CHOOSE_CALLER());
	if (!ret->tv_sec && ret->tv_nsec < length)
		ret->tv_nsec = length;
	return result;
}

_export_ int gettimeofday(struct timeval *ret, void *zone)
{
	CHOOSE_NEXT(gettimeofday, -1)
	uintptr_t caller = CHOOSE_CALLER();
	take_time(caller);
	int result = next(ret, zone);
	/* Declared as never NULL, but it may be. */
	struct timeval *at;
	__asm__("" : "=r"(at) : "0"(ret));
	if (result || !at || likely(!choose_block))
		return result;
	struct timespec time = { at->tv_sec, at->tv_usec * 1000 };
	clock_adjust_time(&time, true, caller);
	at->tv_sec = time.tv_sec;
	/* It was a whole number of them; a finer resolution leaves it alone. */
	at->tv_usec = time.tv_nsec / 1000;
	return result;
}

_export_ int timespec_get(struct timespec *ret, int base)
{
	CHOOSE_NEXT(timespec_get, 0)
	uintptr_t caller = CHOOSE_CALLER();
	take_time(caller);
	int result = next(ret, base);
	if (result == TIME_UTC && choose_block)
		clock_adjust_time(ret, true, caller);
	return result;
}

/*
 * std::chrono's clocks, whose callers are known: nanoseconds. Their own calls
 * come from the runtime, which only the calendar treats as the program.
 */
/* clang-format off */
#define CHRONO(name)                                                           \
	int64_t name(void);                                                    \
	_export_ int64_t name(void)                                            \
	{                                                                      \
		CHOOSE_NEXT(name, 0)                                           \
		if (likely(!choose_block))                                     \
			return next();                                         \
		uintptr_t caller = CHOOSE_CALLER();                            \
		take_time(caller);                                             \
		int64_t now = next();                                          \
		return now - now % clock_resolution_for(caller);               \
	}

CHRONO(_ZNSt6chrono3_V212system_clock3nowEv)
CHRONO(_ZNSt6chrono3_V212steady_clock3nowEv)
/* clang-format on */

/*
 * Models of clocks: which day it is, their resolution, how long it takes to
 * read them, and what ends meanwhile (clocks_shift.c).
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
 * files are the kernel's. Points in time that are waited for are moved back
 * (clocks_deadline()), except for those of message queues.
 */
#include "models/clocks_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/timerfd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

/* Seconds of a point in time that nobody waits for. */
#define NEVER (1LL << 33)

/* Nearer to the time that the program saw, or to the true one? */
static int64_t clock_ahead(int64_t time, clockid_t clock)
{
	bool calendar = clock == CLOCK_REALTIME;
	int64_t ahead = clocks_shift(calendar);
	if (calendar && __atomic_load_n(&calendar_epoch, __ATOMIC_ACQUIRE))
		ahead += calendar_offset * CLOCK_SECOND;
	int64_t left = ahead ? time - clocks_true(clock) : 0;
	return llabs(left - ahead) < llabs(left) ? ahead : 0;
}

const struct timespec *clocks_deadline(const struct timespec *time,
				       struct timespec *real)
{
	long length = tick_now();
	if (!late_valid(time) || time->tv_sec >= NEVER)
		return time;
	/* Other clocks began when the machine did. */
	clockid_t clock =
		time->tv_sec < 500000000 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
	int64_t at = time->tv_sec * CLOCK_SECOND + time->tv_nsec;
	int64_t ahead = clock_ahead(at, clock);
	if (likely(!length && !ahead))
		return time;
	*real = *time;
	if (length)
		round_up(real, length);
	at = real->tv_sec * CLOCK_SECOND + real->tv_nsec - ahead;
	if (at < 0)
		at = 0;
	real->tv_sec = at / CLOCK_SECOND;
	real->tv_nsec = at % CLOCK_SECOND;
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

/* ---- timers that expire at a point in time ---- */

static const struct itimerspec *timer_deadline(const struct itimerspec *value,
					       struct itimerspec *real)
{
	struct timespec at;
	if (!value || !late_valid(&value->it_value) ||
	    (!value->it_value.tv_sec && !value->it_value.tv_nsec))
		return value;
	*real = *value;
	real->it_value = *clocks_deadline(&value->it_value, &at);
	return real;
}

_export_ int timerfd_settime(int fd, int flags, const struct itimerspec *value,
			     struct itimerspec *old)
{
	CHOOSE_NEXT(timerfd_settime, -1)
	struct itimerspec real;
	if (choose_block && flags & TFD_TIMER_ABSTIME)
		value = timer_deadline(value, &real);
	return next(fd, flags, value, old);
}

_export_ int timer_settime(timer_t timer, int flags,
			   const struct itimerspec *value,
			   struct itimerspec *old)
{
	CHOOSE_NEXT(timer_settime, -1)
	struct itimerspec real;
	if (choose_block && flags & TIMER_ABSTIME)
		value = timer_deadline(value, &real);
	return next(timer, flags, value, old);
}

/* ---- others that wait until a point in time ---- */

/* clang-format off */
#define RWLOCK(name, parameters, arguments)                                    \
	_export_ int name parameters                                           \
	{                                                                      \
		CHOOSE_NEXT(name, ENOSYS)                                      \
		struct timespec real;                                          \
		if (choose_block)                                              \
			time = clocks_deadline(time, &real);                   \
		return next arguments;                                         \
	}

RWLOCK(pthread_rwlock_timedrdlock,
       (pthread_rwlock_t *lock, const struct timespec *time), (lock, time))
RWLOCK(pthread_rwlock_timedwrlock,
       (pthread_rwlock_t *lock, const struct timespec *time), (lock, time))
RWLOCK(pthread_rwlock_clockrdlock,
       (pthread_rwlock_t *lock, clockid_t clock, const struct timespec *time),
       (lock, clock, time))
RWLOCK(pthread_rwlock_clockwrlock,
       (pthread_rwlock_t *lock, clockid_t clock, const struct timespec *time),
       (lock, clock, time))

/* std::future: seconds and nanoseconds of the calendar, of the steady clock. */
#define FUTEX(name)                                                            \
	bool name(void *self, unsigned *word, unsigned value, bool timed,      \
		  int64_t seconds, int64_t rest);                              \
	_export_ bool name(void *self, unsigned *word, unsigned value,         \
			   bool timed, int64_t seconds, int64_t rest)          \
	{                                                                      \
		CHOOSE_NEXT(name, true)                                        \
		struct timespec told = { seconds, rest }, real;                \
		if (choose_block && timed)                                     \
			told = *clocks_deadline(&told, &real);                 \
		return next(self, word, value, timed, told.tv_sec,             \
			    told.tv_nsec);                                     \
	}

FUTEX(_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE)
FUTEX(_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE)
/* clang-format on */

/* ---- the clocks ---- */

static int64_t clock_shift_for(bool calendar, uintptr_t caller)
{
	int64_t ahead = clocks_shift(calendar);
	return likely(!ahead) || choose_caller(caller) == CHOOSE_OTHER ? 0
								       : ahead;
}

_export_ time_t time(time_t *ret)
{
	CHOOSE_NEXT(time, -1)
	take_time(CHOOSE_CALLER());
	clocks_cross(CHOOSE_CALLER());
	int64_t ahead = clock_shift_for(true, CHOOSE_CALLER());
	time_t now = ahead ? (clocks_true(CLOCK_REALTIME_COARSE) + ahead) /
				     CLOCK_SECOND
			   : next(NULL);
	if (now >= 0 && choose_wanted(WIRE_MODEL_calendar, CHOOSE_CALLER()))
		now += clock_epoch_offset(now);
	if (ret)
		*ret = now;
	return now;
}

static void clock_adjust_time(struct timespec *time, bool calendar,
			      uintptr_t caller)
{
	int64_t ahead = clock_shift_for(calendar, caller);
	if (ahead) {
		ahead += time->tv_nsec;
		time->tv_sec += ahead / CLOCK_SECOND;
		time->tv_nsec = ahead % CLOCK_SECOND;
	}
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
	if (clocks_is_calendar(clock))
		clocks_cross(caller);
	int result = next(clock, ret);
	if (!result && clocks_is_real(clock))
		clock_adjust_time(ret, clocks_is_calendar(clock), caller);
	else if (!result)
		ret->tv_nsec -= ret->tv_nsec % clock_resolution_for(caller);
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
	clocks_cross(caller);
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
	clocks_cross(caller);
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
#define CHRONO(name, calendar)                                                 \
	int64_t name(void);                                                    \
	_export_ int64_t name(void)                                            \
	{                                                                      \
		CHOOSE_NEXT(name, 0)                                           \
		if (likely(!choose_block))                                     \
			return next();                                         \
		uintptr_t caller = CHOOSE_CALLER();                            \
		take_time(caller);                                             \
		if (calendar)                                                  \
			clocks_cross(caller);                                  \
		int64_t now = next();                                          \
		return now - now % clock_resolution_for(caller);               \
	}

CHRONO(_ZNSt6chrono3_V212system_clock3nowEv, true)
CHRONO(_ZNSt6chrono3_V212steady_clock3nowEv, false)
/* clang-format on */

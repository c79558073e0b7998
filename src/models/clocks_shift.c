/* What clocks tell beyond the true time: see models/clocks_internal.h. */
#include "models/clocks_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MINUTE (60 * CLOCK_SECOND)
#define DAY (24 * 60 * MINUTE)

/* In one process; later tests are left with the last one. */
#define SHIFTS 1024
#define CALENDAR_MOST (30 * DAY)
#define JUMPS_MOST (8 * CLOCK_SECOND)

/*
 * Since @since (true time of the coarse clock, by which the kernel stamps
 * files) clocks are ahead by @all, those with a date by @calendar more.
 */
static struct {
	int64_t since;
	int64_t all, calendar;
} shifts[SHIFTS];
static size_t shifts_n;
static int shifting;

int64_t clocks_true(clockid_t clock)
{
	struct timespec now = {};
	sys_call(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
	return now.tv_sec * CLOCK_SECOND + now.tv_nsec;
}

bool clocks_is_calendar(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
	       clock == CLOCK_TAI;
}

bool clocks_is_real(clockid_t clock)
{
	return clocks_is_calendar(clock) || clock == CLOCK_MONOTONIC ||
	       clock == CLOCK_MONOTONIC_RAW ||
	       clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
}

static int64_t shift_of(size_t n, bool calendar)
{
	return n ? shifts[n - 1].all + (calendar ? shifts[n - 1].calendar : 0)
		 : 0;
}

int64_t clocks_shift(bool calendar)
{
	return shift_of(__atomic_load_n(&shifts_n, __ATOMIC_ACQUIRE), calendar);
}

/* One thread at a time; another that comes meanwhile adds nothing. */
static bool add_shift(int64_t all, int64_t calendar)
{
	size_t n = __atomic_load_n(&shifts_n, __ATOMIC_ACQUIRE);
	all += shift_of(n, false);
	calendar += shift_of(n, true) - shift_of(n, false);
	if (n >= SHIFTS || all > JUMPS_MOST || calendar > CALENDAR_MOST ||
	    __atomic_exchange_n(&shifting, 1, __ATOMIC_ACQUIRE))
		return false;
	shifts[n].since = clocks_true(CLOCK_REALTIME_COARSE);
	shifts[n].all = all;
	shifts[n].calendar = calendar;
	__atomic_store_n(&shifts_n, n + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&shifting, 0, __ATOMIC_RELEASE);
	return true;
}

/* ---- time that passes without being waited for ---- */

/* Longer than the coarse clock's ticks: stamps before and after differ. */
#define TICK (10 * LATE_MS)

bool clocks_jump(int64_t nanoseconds)
{
	static uint64_t jumped; /* in the epoch before this number */
	uint64_t now = choose_block->epoch + 1;
	if (__atomic_exchange_n(&jumped, now, __ATOMIC_RELAXED) == now)
		return false;
	threads_let_time_pass(TICK);
	return add_shift(nanoseconds, 0);
}

/* ---- the date changes between two readings ---- */

struct boundary {
	int64_t unit;
	uint64_t readings; /* before it passes */
	const char *text;
};

static const struct boundary boundaries[] = {
	{ CLOCK_SECOND, 1, "a second ended before the next reading" },
	{ DAY, 1, "midnight (UTC) passed before the next reading" },
	{ DAY, 2, "midnight (UTC) passed before the second next reading" },
	{ MINUTE, 1, "a minute ended before the next reading" },
};

/*
 * True time is far from what the program is told: a file's time that it sets
 * itself is not taken for one of the kernel's (clocks_stamp()).
 */
#define AHEAD (10 * CLOCK_SECOND)

static uint64_t crossing_epoch, crossing_left;
static int64_t crossing_at;

/* The clock stands just before it, so that little time has to go by. */
static void approach_boundary(const struct boundary *boundary)
{
	int64_t told = clocks_true(CLOCK_REALTIME) + clocks_shift(true);
	int64_t at = ((told + AHEAD) / boundary->unit + 1) * boundary->unit;
	int64_t before = 2 * LATE_MS;
	if (boundary->readings > 1)
		before *= 4;
	/* By whole ticks, however long (WIRE_MODEL_clock_ticks). */
	int64_t ahead = at - before - told;
	if (!add_shift(0, ahead - ahead % (4 * LATE_MS)))
		return;
	__atomic_store_n(&crossing_at, at, __ATOMIC_RELAXED);
	__atomic_store_n(&crossing_left, boundary->readings, __ATOMIC_RELEASE);
	choose_did("%s", boundary->text);
}

/* Not by the coarse clock either, which time() reads. */
static void pass_boundary(void)
{
	int64_t at = __atomic_load_n(&crossing_at, __ATOMIC_RELAXED);
	for (int tries = 0; tries < 50; tries++) {
		int64_t left = at - clocks_shift(true) -
			       clocks_true(CLOCK_REALTIME_COARSE);
		if (left <= 0)
			return;
		threads_let_time_pass(left < TICK ? left : TICK);
	}
}

void clocks_cross(uintptr_t caller)
{
	if (!choose_wanted(WIRE_MODEL_clock_boundary, caller))
		return;
	uint64_t epoch = choose_block->epoch + 1;
	if (__atomic_exchange_n(&crossing_epoch, epoch, __ATOMIC_ACQ_REL) !=
	    epoch) {
		struct choose_keys keys = {};
		__atomic_store_n(&crossing_left, 0, __ATOMIC_RELAXED);
		uint64_t pick = choose_pick(WIRE_MODEL_clock_boundary,
					    COUNT(boundaries) + 1, keys);
		if (pick)
			approach_boundary(&boundaries[pick - 1]);
		return;
	}
	uint64_t left = __atomic_load_n(&crossing_left, __ATOMIC_ACQUIRE);
	if (left &&
	    __atomic_compare_exchange_n(&crossing_left, &left, left - 1, false,
					__ATOMIC_ACQ_REL, __ATOMIC_RELAXED) &&
	    left == 1)
		pass_boundary();
}

/* ---- time stamps of files ---- */

/*
 * Since Linux 6.13 stamps may be ahead of the coarse clock by a tick. With clocks
 * that stand just before a second ends, time() would often tell an earlier second
 * than the stamp of a file that is there already.
 */
static void wait_for_stamp(int64_t at, int64_t ahead)
{
	for (int tries = 0; tries < 50; tries++) {
		int64_t left = at - clocks_true(CLOCK_REALTIME_COARSE);
		if (left <= 0 || (at + ahead) / CLOCK_SECOND ==
					 (at + ahead - left) / CLOCK_SECOND)
			return;
		threads_let_time_pass(left);
	}
}

/*
 * Those that the kernel made since a shift are ahead by it, too. Later ones than
 * the true time are the program's own.
 */
void clocks_stamp(struct timespec *stamp, uintptr_t caller)
{
	size_t n = __atomic_load_n(&shifts_n, __ATOMIC_ACQUIRE);
	if (likely(!n) || choose_caller(caller) == CHOOSE_OTHER ||
	    stamp->tv_sec < 0 || stamp->tv_sec > INT64_MAX / CLOCK_SECOND - 1)
		return;
	int64_t at = stamp->tv_sec * CLOCK_SECOND + stamp->tv_nsec;
	if (at > clocks_true(CLOCK_REALTIME))
		return;
	while (n && shifts[n - 1].since > at)
		n--;
	wait_for_stamp(at, clocks_shift(true));
	at += shift_of(n, true);
	stamp->tv_sec = at / CLOCK_SECOND;
	stamp->tv_nsec = at % CLOCK_SECOND;
}

#include "native/timed_calls.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "base/clock.h"
#include "tracee/memory.h"

/* How a call's time limit is given; the number of the argument is apart. */
enum limit_form {
	LIMIT_NONE,
	LIMIT_TIMESPEC,
	LIMIT_TIMEVAL,
	LIMIT_MS,
	LIMIT_FUTEX,
	LIMIT_CLOCK, /* clock_nanosleep(): which clock, and whether a date */
	LIMIT_DATE,  /* CLOCK_REALTIME */
	LIMIT_DATE_CLOCK, /* on the clock of the next argument */
};

/*
 * To add a call: a row. Calls that wait for a disk alone are none of these: they
 * end by themselves.
 */
struct waiting_call {
	long number;
	const char *name;
	bool segment, descriptor;
	enum limit_form form;
	unsigned argument;
	int64_t expired; /* what it returns when its time is over */
};

/* clang-format off */
static const struct waiting_call calls[] = {
	{ SYS_futex, "futex", true, false, LIMIT_FUTEX, 3, -ETIMEDOUT },
#ifdef SYS_futex_waitv
	{ SYS_futex_waitv, "futex_waitv", true, false, LIMIT_DATE_CLOCK, 3, -ETIMEDOUT },
#endif
	{ SYS_nanosleep, "nanosleep", true, false, LIMIT_TIMESPEC, 0, 0 },
	{ SYS_clock_nanosleep, "clock_nanosleep", true, false, LIMIT_CLOCK, 2, 0 },
	{ SYS_poll, "poll", true, false, LIMIT_MS, 2, 0 },
	{ SYS_ppoll, "ppoll", true, false, LIMIT_TIMESPEC, 2, 0 },
	{ SYS_select, "select", true, false, LIMIT_TIMEVAL, 4, 0 },
	{ SYS_pselect6, "pselect", true, false, LIMIT_TIMESPEC, 4, 0 },
	{ SYS_epoll_wait, "epoll_wait", true, false, LIMIT_MS, 3, 0 },
	{ SYS_epoll_pwait, "epoll_pwait", true, false, LIMIT_MS, 3, 0 },
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, "epoll_pwait2", true, false, LIMIT_TIMESPEC, 3, 0 },
#endif
	{ SYS_rt_sigtimedwait, "sigtimedwait", true, false, LIMIT_TIMESPEC, 2, -EAGAIN },
	{ SYS_semtimedop, "semtimedop", true, false, LIMIT_TIMESPEC, 3, -EAGAIN },
	{ SYS_semop, "semop", true, false, LIMIT_NONE, 0, 0 },
	{ SYS_mq_timedreceive, "mq_receive", true, false, LIMIT_DATE, 4, -ETIMEDOUT },
	{ SYS_mq_timedsend, "mq_send", false, false, LIMIT_DATE, 4, -ETIMEDOUT },
	{ SYS_msgrcv, "msgrcv", true, false, LIMIT_NONE, 0, 0 },
	{ SYS_read, "read", true, true, LIMIT_NONE, 0, 0 },
	{ SYS_readv, "readv", true, true, LIMIT_NONE, 0, 0 },
	{ SYS_recvfrom, "recv", true, false, LIMIT_NONE, 0, 0 },
	{ SYS_recvmsg, "recvmsg", true, false, LIMIT_NONE, 0, 0 },
	{ SYS_accept, "accept", true, false, LIMIT_NONE, 0, 0 },
	{ SYS_accept4, "accept", true, false, LIMIT_NONE, 0, 0 },
	{ SYS_connect, "connect", false, false, LIMIT_NONE, 0, 0 },
	{ SYS_write, "write", false, true, LIMIT_NONE, 0, 0 },
	{ SYS_writev, "writev", false, true, LIMIT_NONE, 0, 0 },
	{ SYS_sendto, "send", false, false, LIMIT_NONE, 0, 0 },
	{ SYS_sendmsg, "sendmsg", false, false, LIMIT_NONE, 0, 0 },
	{ SYS_pause, "pause", true, false, LIMIT_NONE, 0, 0 },
	{ SYS_rt_sigsuspend, "sigsuspend", true, false, LIMIT_NONE, 0, 0 },
	{ SYS_wait4, "waitpid", true, false, LIMIT_NONE, 0, 0 },
	{ SYS_waitid, "waitid", true, false, LIMIT_NONE, 0, 0 },
	{ SYS_restart_syscall, "restart_syscall", false, false, LIMIT_NONE, 0, 0 },
};
/* clang-format on */

static const struct waiting_call *waiting_call_find(long number)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (calls[i].number == number)
			return &calls[i];
	}
	return NULL;
}

/* Something that another thread can wait for is there when it returns. */
static bool calls_hands_over(long number)
{
	return number == SYS_write || number == SYS_writev ||
	       number == SYS_sendto || number == SYS_sendmsg;
}

static uint64_t timespec_to_ns(const struct timespec *ts)
{
	if (ts->tv_sec < 0 || ts->tv_nsec < 0)
		return 0;
	if ((uint64_t)ts->tv_sec > UINT64_MAX / NS_PER_S / 4)
		return UINT64_MAX / 4;
	return (uint64_t)ts->tv_sec * NS_PER_S + (uint64_t)ts->tv_nsec;
}

static bool read_timespec(const struct thread *thread, uint64_t address,
			  bool microseconds, uint64_t *ret)
{
	struct timespec ts;
	if (!address || memory_read_some(thread->tracee, RADDR(address), &ts,
					 sizeof(ts)) != sizeof(ts))
		return false;
	if (microseconds)
		ts.tv_nsec *= (long)NS_PER_US;
	*ret = timespec_to_ns(&ts);
	return true;
}

/* From now to a date on a clock that the program sees ahead. */
static uint64_t until_date(uint64_t date, clockid_t clock, uint64_t offset)
{
	struct timespec now;
	if (clock_gettime(clock, &now) != 0)
		return date;
	uint64_t seen = timespec_to_ns(&now) + offset;
	return date > seen ? date - seen : 0;
}

static void read_futex_limit(const struct thread *thread, uint64_t offset,
			     struct timed_call *call)
{
	int op = (int)regs_syscall_arg(&thread->regs, 1);
	uint64_t at = regs_syscall_arg(&thread->regs, 3);
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		call->timed = read_timespec(thread, at, false, &call->ns);
		return;
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		call->timed = read_timespec(thread, at, false, &call->ns);
		if (call->timed)
			call->ns = until_date(
				call->ns,
				op & FUTEX_CLOCK_REALTIME ||
						(op & FUTEX_CMD_MASK) ==
							FUTEX_LOCK_PI
					? CLOCK_REALTIME
					: CLOCK_MONOTONIC,
				offset);
		return;
	default:
		*call = (struct timed_call){}; /* it does not wait */
	}
}

struct timed_call timed_call_read(const struct thread *thread, uint64_t offset)
{
	const struct regs *regs = &thread->regs;
	const struct waiting_call *row = waiting_call_find(regs_syscall(regs));
	struct timed_call call = {};
	if (!row)
		return call;
	call.name = row->name;
	call.segment = row->segment;
	call.descriptor = row->descriptor;
	call.hands_over = calls_hands_over(row->number);
	uint64_t value = regs_syscall_arg(regs, row->argument);
	switch (row->form) {
	case LIMIT_NONE:
		break;
	case LIMIT_TIMESPEC:
		call.timed = read_timespec(thread, value, false, &call.ns);
		break;
	case LIMIT_TIMEVAL:
		call.timed = read_timespec(thread, value, true, &call.ns);
		break;
	case LIMIT_MS:
		call.timed = (int)value >= 0;
		call.ns = (uint64_t)(int)value * NS_PER_MS;
		break;
	case LIMIT_FUTEX:
		read_futex_limit(thread, offset, &call);
		break;
	case LIMIT_CLOCK:
		call.timed = read_timespec(thread, value, false, &call.ns);
		if (call.timed && regs_syscall_arg(regs, 1) & TIMER_ABSTIME)
			call.ns = until_date(
				call.ns, (clockid_t)regs_syscall_arg(regs, 0),
				offset);
		break;
	case LIMIT_DATE:
		call.timed = read_timespec(thread, value, false, &call.ns);
		if (call.timed)
			call.ns = until_date(call.ns, CLOCK_REALTIME, offset);
		break;
	case LIMIT_DATE_CLOCK:
		call.timed = read_timespec(thread, value, false, &call.ns);
		if (call.timed)
			call.ns = until_date(
				call.ns, (clockid_t)regs_syscall_arg(regs, 4),
				offset);
		break;
	}
	return call;
}

/* The kernel leaves the sets alone when it is interrupted: now none is ready. */
static void clear_sets(struct thread *thread)
{
	int n = (int)regs_syscall_arg(&thread->regs, 0);
	static const uint8_t zeroes[128];
	size_t bytes = n > 0 ? ((size_t)n + 63) / 64 * 8 : 0;
	for (unsigned i = 1; i <= 3; i++) {
		uint64_t set = regs_syscall_arg(&thread->regs, i);
		if (set && bytes && bytes <= sizeof(zeroes))
			err_ignore(memory_write(thread->tracee, RADDR(set),
						zeroes, bytes));
	}
}

void timed_call_expire(struct thread *thread)
{
	long number = regs_syscall(&thread->regs);
	const struct waiting_call *row = waiting_call_find(number);
	if (!row)
		return;
	if (number == SYS_select || number == SYS_pselect6)
		clear_sets(thread);
	regs_set_result(&thread->regs, (uint64_t)row->expired);
	thread_dirty(thread);
}

static bool clock_is_shifted(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI:
		return true;
	default:
		return false;
	}
}

static void advance_timespec(struct thread *thread, uint64_t address,
			     bool microseconds, uint64_t offset)
{
	uint64_t now;
	if (!read_timespec(thread, address, microseconds, &now))
		return;
	now += offset;
	struct timespec ts = {
		.tv_sec = (time_t)(now / NS_PER_S),
		.tv_nsec =
			(long)(now % NS_PER_S / (microseconds ? NS_PER_US : 1)),
	};
	err_ignore(
		memory_write(thread->tracee, RADDR(address), &ts, sizeof(ts)));
}

void timed_call_advance(struct thread *thread, uint64_t offset)
{
	const struct regs *regs = &thread->regs;
	if (!offset || (int64_t)regs_result(regs) < 0)
		return;
	switch (regs_syscall(regs)) {
	case SYS_clock_gettime:
		if (clock_is_shifted((clockid_t)regs_syscall_arg(regs, 0)))
			advance_timespec(thread, regs_syscall_arg(regs, 1),
					 false, offset);
		break;
	case SYS_gettimeofday:
		advance_timespec(thread, regs_syscall_arg(regs, 0), true,
				 offset);
		break;
	case SYS_time: {
		uint64_t now = regs_result(regs) + offset / NS_PER_S;
		uint64_t at = regs_syscall_arg(regs, 0);
		if (at)
			err_ignore(memory_write_u64(thread->tracee, RADDR(at),
						    now));
		regs_set_result(&thread->regs, now);
		thread_dirty(thread);
		break;
	}
	default:
		break;
	}
}

/* @at: a struct itimerspec, or a struct itimerval. */
static void read_timer(const struct thread *thread, uint64_t at, bool date,
		       bool microseconds, uint64_t *ret_ns,
		       uint64_t *ret_interval)
{
	uint64_t value = 0;
	read_timespec(thread, at, microseconds, ret_interval);
	read_timespec(thread, at + sizeof(struct timespec), microseconds,
		      &value);
	/* A date is taken for soon: nothing is passed over then. */
	*ret_ns = date && value ? 1 : value;
}

bool timed_call_arms(const struct thread *thread, uint64_t *ret_timer,
		     uint64_t *ret_ns, uint64_t *ret_interval)
{
	const struct regs *regs = &thread->regs;
	uint64_t number = (uint64_t)regs_syscall(regs);
	uint64_t first = regs_syscall_arg(regs, 0);
	*ret_interval = 0;
	*ret_timer = number << 32 | (first & UINT32_MAX);
	if ((int64_t)regs_result(regs) < 0)
		return false;
	switch (number) {
	case SYS_alarm:
		*ret_timer = number << 32;
		*ret_ns = (first & UINT32_MAX) * NS_PER_S;
		return true;
	case SYS_setitimer:
		read_timer(thread, regs_syscall_arg(regs, 1), false, true,
			   ret_ns, ret_interval);
		return true;
	case SYS_timer_settime:
	case SYS_timerfd_settime:
		read_timer(thread, regs_syscall_arg(regs, 2),
			   regs_syscall_arg(regs, 1) & TIMER_ABSTIME, false,
			   ret_ns, ret_interval);
		return true;
	default:
		return false;
	}
}

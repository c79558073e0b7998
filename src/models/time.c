/*
 * Models of time: what lasts at least as long as one asked for lasts longer.
 * The extension follows from the length, so that loops of short sleeps stay quick.
 * At level FULL it may be much longer, once in a test: then clocks get ahead
 * instead of anybody waiting (clocks_jump()), as if the process had been stopped.
 */
#include "models/clocks_internal.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* At most, and where it lasts for seconds anyway. */
#define LONGEST (10 * LATE_MS)
#define LONGEST_OF_SECONDS (40 * LATE_MS)
#define SHORTEST (50 * LATE_US)

/* For what is given as a point in time. */
#define USUAL (600 * LATE_US)

/* Much longer than @length: what a busy machine makes of it. */
#define MUCH 50
#define MUCH_LEAST CLOCK_SECOND
#define MUCH_MOST (2 * CLOCK_SECOND)
#define MUCH_STEP (4 * LATE_MS) /* see WIRE_MODEL_clock_ticks */

/* By which clocks get ahead if the wait comes to its end. */
static __thread int64_t late_much __attribute__((tls_model("initial-exec")));

void late_by_much(uint64_t length)
{
	int64_t much = MUCH_MOST;
	if (length < MUCH_MOST / MUCH)
		much = (int64_t)length * MUCH;
	if (much < MUCH_LEAST)
		much = MUCH_LEAST;
	late_much = much - much % MUCH_STEP;
	choose_did("took %u milliseconds longer",
		   (unsigned)(late_much / LATE_MS));
}

void late_end(bool waited)
{
	int64_t much = late_much;
	late_much = 0;
	if (unlikely(much) && waited)
		clocks_jump(much);
}

int late_result(int failed, int number)
{
	late_end(failed && number == ETIMEDOUT);
	return failed;
}

uint64_t late_alternatives(uint64_t few)
{
	return choose_block->level == WIRE_FULL ? few + 1 : few;
}

long late_by(enum wire_model model, uint64_t length, uint64_t object)
{
	static const uint64_t factors[] = { 0, 1, 4, 16 };
	uint64_t equal = choose_mix(model, length);
	struct choose_keys keys = {
		.equal = equal,
		.object = choose_mix(equal, object),
	};
	uint64_t pick =
		choose_pick(model, late_alternatives(COUNT(factors)), keys);
	if (pick == COUNT(factors))
		late_by_much(length);
	if (!pick || pick == COUNT(factors))
		return 0;
	uint64_t longest = length >= 1000000000 ? LONGEST_OF_SECONDS : LONGEST;
	if (length > longest)
		length = longest;
	uint64_t more = (length + SHORTEST) * factors[pick];
	if (more > longest)
		more = longest;
	choose_did("took %u microseconds longer", (unsigned)(more / 1000));
	return (long)more;
}

bool late_valid(const struct timespec *time)
{
	return sys_readable((uintptr_t)time) &&
	       sys_readable((uintptr_t)time + 8) && time->tv_sec >= 0 &&
	       time->tv_sec < INT64_MAX - 1 && time->tv_nsec >= 0 &&
	       time->tv_nsec < 1000000000;
}

void late_add(struct timespec *time, long nanoseconds)
{
	time->tv_nsec += nanoseconds;
	if (time->tv_nsec >= 1000000000) {
		time->tv_nsec -= 1000000000;
		time->tv_sec++;
	}
}

bool late_time(enum wire_model model, const struct timespec *time,
	       uint64_t object, struct timespec *ret)
{
	if (!late_valid(time))
		return false;
	long more = late_by(model, USUAL, object);
	if (!more)
		return false;
	*ret = *time;
	late_add(ret, more);
	return true;
}

/* ---- sleeping ---- */

static uint64_t length_of(const struct timespec *time)
{
	if (time->tv_sec >= 1)
		return 1000000000;
	return (uint64_t)time->tv_nsec;
}

/* After a sleep of @length. */
static void sleep_longer(enum wire_model model, uint64_t length)
{
	threads_let_time_pass(late_by(model, length, 0));
	late_end(true);
}

/*
 * The rest is slept afterwards: a signal ends the requested sleep as usual, and
 * what is left of it is right.
 */
_export_ int nanosleep(const struct timespec *time, struct timespec *left)
{
	CHOOSE_NEXT(nanosleep, -1)
	int failed = next(time, left);
	if (!failed)
		clocks_waited();
	if (!failed && choose_wanted(WIRE_MODEL_nanosleep, CHOOSE_CALLER()))
		sleep_longer(WIRE_MODEL_nanosleep, length_of(time));
	return failed;
}

_export_ int usleep(useconds_t time)
{
	CHOOSE_NEXT(usleep, -1)
	int failed = next(time);
	if (!failed)
		clocks_waited();
	if (!failed && choose_wanted(WIRE_MODEL_usleep, CHOOSE_CALLER()))
		sleep_longer(WIRE_MODEL_usleep, (uint64_t)time * 1000);
	return failed;
}

_export_ unsigned sleep(unsigned time)
{
	CHOOSE_NEXT(sleep, time)
	unsigned left = next(time);
	if (!left)
		clocks_waited();
	if (!left && choose_wanted(WIRE_MODEL_sleep, CHOOSE_CALLER()))
		sleep_longer(WIRE_MODEL_sleep, (uint64_t)time * 1000000000);
	return left;
}

_export_ int clock_nanosleep(clockid_t clock, int flags,
			     const struct timespec *time, struct timespec *left)
{
	CHOOSE_NEXT(clock_nanosleep, ENOSYS)
	struct timespec real;
	if (flags & TIMER_ABSTIME)
		time = clocks_deadline(time, &real);
	int failed = next(clock, flags, time, left);
	if (!failed && !(flags & TIMER_ABSTIME))
		clocks_waited();
	if (!failed &&
	    choose_wanted(WIRE_MODEL_clock_nanosleep, CHOOSE_CALLER()))
		sleep_longer(WIRE_MODEL_clock_nanosleep,
			     flags & TIMER_ABSTIME ? USUAL : length_of(time));
	return failed;
}

/* ---- time-outs: what is ready is reported at once as usual ---- */

static int poll_longer(int timeout, uintptr_t caller)
{
	if (timeout <= 0 || timeout > INT32_MAX - 10 ||
	    !choose_wanted(WIRE_MODEL_poll, caller))
		return timeout;
	long more = late_by(WIRE_MODEL_poll, (uint64_t)timeout * LATE_MS, 0);
	return timeout + (int)((more + LATE_MS - 1) / LATE_MS);
}

_export_ int poll(struct pollfd *files, nfds_t n, int timeout)
{
	CHOOSE_NEXT(poll, -1)
	int ready = next(files, n, poll_longer(timeout, CHOOSE_CALLER()));
	if (!ready && timeout > 0)
		clocks_waited();
	late_end(!ready);
	return ready;
}

int __poll_chk(struct pollfd *files, nfds_t n, int timeout, size_t room);
_export_ int __poll_chk(struct pollfd *files, nfds_t n, int timeout,
			size_t room)
{
	CHOOSE_NEXT(__poll_chk, -1)
	int ready = next(files, n, poll_longer(timeout, CHOOSE_CALLER()), room);
	if (!ready && timeout > 0)
		clocks_waited();
	late_end(!ready);
	return ready;
}

/* @time or, if it has to be longer, @longer. */
static const struct timespec *ppoll_longer(const struct timespec *time,
					   struct timespec *longer,
					   uintptr_t caller)
{
	if (!time || !choose_wanted(WIRE_MODEL_ppoll, caller) ||
	    !late_valid(time) || (!time->tv_sec && !time->tv_nsec))
		return time;
	*longer = *time;
	late_add(longer, late_by(WIRE_MODEL_ppoll, length_of(time), 0));
	return longer;
}

_export_ int ppoll(struct pollfd *files, nfds_t n, const struct timespec *time,
		   const sigset_t *mask)
{
	CHOOSE_NEXT(ppoll, -1)
	struct timespec longer;
	int ready = next(files, n, ppoll_longer(time, &longer, CHOOSE_CALLER()),
			 mask);
	late_end(!ready);
	return ready;
}

int __ppoll_chk(struct pollfd *files, nfds_t n, const struct timespec *time,
		const sigset_t *mask, size_t room);
_export_ int __ppoll_chk(struct pollfd *files, nfds_t n,
			 const struct timespec *time, const sigset_t *mask,
			 size_t room)
{
	CHOOSE_NEXT(__ppoll_chk, -1)
	struct timespec longer;
	int ready = next(files, n, ppoll_longer(time, &longer, CHOOSE_CALLER()),
			 mask, room);
	late_end(!ready);
	return ready;
}

_export_ int sem_timedwait(sem_t *semaphore, const struct timespec *time)
{
	CHOOSE_NEXT(sem_timedwait, -1)
	struct timespec longer, real;
	time = clocks_deadline(time, &real);
	if (choose_wanted(WIRE_MODEL_sem_timedwait, CHOOSE_CALLER()) &&
	    late_time(WIRE_MODEL_sem_timedwait, time, choose_object(semaphore),
		      &longer))
		time = &longer;
	int failed = next(semaphore, time);
	return late_result(failed, errno);
}

_export_ int sem_clockwait(sem_t *semaphore, clockid_t clock,
			   const struct timespec *time)
{
	CHOOSE_NEXT(sem_clockwait, -1)
	struct timespec longer, real;
	time = clocks_deadline(time, &real);
	if (choose_wanted(WIRE_MODEL_sem_timedwait, CHOOSE_CALLER()) &&
	    late_time(WIRE_MODEL_sem_timedwait, time, choose_object(semaphore),
		      &longer))
		time = &longer;
	int failed = next(semaphore, clock, time);
	return late_result(failed, errno);
}

_export_ int pthread_mutex_timedlock(pthread_mutex_t *mutex,
				     const struct timespec *time)
{
	CHOOSE_NEXT(pthread_mutex_timedlock, ENOSYS)
	struct timespec longer, real;
	time = clocks_deadline(time, &real);
	if (choose_wanted(WIRE_MODEL_pthread_mutex_timedlock,
			  CHOOSE_CALLER()) &&
	    late_time(WIRE_MODEL_pthread_mutex_timedlock, time,
		      choose_object(mutex), &longer))
		time = &longer;
	int failed = next(mutex, time);
	return late_result(failed, failed);
}

_export_ int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				     const struct timespec *time)
{
	CHOOSE_NEXT(pthread_mutex_clocklock, ENOSYS)
	struct timespec longer, real;
	time = clocks_deadline(time, &real);
	if (choose_wanted(WIRE_MODEL_pthread_mutex_timedlock,
			  CHOOSE_CALLER()) &&
	    late_time(WIRE_MODEL_pthread_mutex_timedlock, time,
		      choose_object(mutex), &longer))
		time = &longer;
	int failed = next(mutex, clock, time);
	return late_result(failed, failed);
}

_export_ int pthread_join(pthread_t thread, void **ret)
{
	CHOOSE_NEXT(pthread_join, ENOSYS)
	int failed = next(thread, ret);
	if (!failed && choose_wanted(WIRE_MODEL_pthread_join, CHOOSE_CALLER()))
		sleep_longer(WIRE_MODEL_pthread_join, USUAL);
	return failed;
}

/*
 * Models of waiting for other threads: condition variables, locks that are
 * tried, barriers.
 */
#include "models/threads_internal.h"

#include <pthread.h>
#include <threads.h>

/* What follows a call that ended without reason is left alone: loops get on. */
static __thread bool again __attribute__((tls_model("initial-exec")));

/* 0: as usual. @passed: the time has, so that it cannot return without reason. */
static uint64_t thread_choose_wake(enum wire_model model, const void *object,
				   uint64_t alternatives, bool passed)
{
	if (again) {
		again = false;
		return 0;
	}
	uint64_t number = choose_object(object);
	struct choose_keys keys = { .equal = number, .object = number };
	uint64_t pick = choose_pick(model, alternatives, keys);
	if (pick == 1 && passed)
		pick = 0;
	again = pick == 1;
	return pick;
}

#define SPURIOUS "returned without having been signaled"
#define ALL_WOKEN "woke all threads that waited"

/* ---- POSIX ---- */

/* A cancellation is acted upon with the mutex held, as in pthread_cond_wait(). */
static int thread_wake_spuriously(pthread_mutex_t *mutex)
{
	pthread_testcancel();
	int failed = pthread_mutex_unlock(mutex);
	if (failed)
		return failed;
	sys_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	return pthread_mutex_lock(mutex);
}

_export_ int pthread_cond_wait(pthread_cond_t *condition,
			       pthread_mutex_t *mutex)
{
	CHOOSE_NEXT(pthread_cond_wait, ENOSYS)
	if (choose_wanted(WIRE_MODEL_pthread_cond_wait, CHOOSE_CALLER()) &&
	    thread_choose_wake(WIRE_MODEL_pthread_cond_wait, condition, 2,
			       false)) {
		choose_did(SPURIOUS);
		return thread_wake_spuriously(mutex);
	}
	return next(condition, mutex);
}

/*
 * A time that has passed when one begins to wait is an error, not a reason to
 * wake. It is a choice all the same: how busy the machine is must not change
 * which choice comes next. The clock is the condition's: others than the calendar's began with the
 * machine.
 */
static bool has_passed(const struct timespec *time)
{
	struct timespec now = {};
	long clock =
		time->tv_sec >= 500000000 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	sys_call(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
	return now.tv_sec > time->tv_sec ||
	       (now.tv_sec == time->tv_sec && now.tv_nsec >= time->tv_nsec);
}

/* True: it is to return at once; otherwise @time may be a later one. */
static bool wake_timed(enum wire_model model, const void *condition,
		       const struct timespec **time, struct timespec *later)
{
	if (!late_valid(*time))
		return false;
	uint64_t pick = thread_choose_wake(
		model, condition, late_alternatives(3), has_passed(*time));
	if (pick == 1) {
		choose_did(SPURIOUS);
		return true;
	}
	if (pick == 2) {
		choose_did("the time-out came 5 ms late");
		*later = **time;
		late_add(later, 5 * LATE_MS);
		*time = later;
	}
	if (pick == 3)
		late_by_much(5 * LATE_MS);
	return false;
}

_export_ int pthread_cond_timedwait(pthread_cond_t *condition,
				    pthread_mutex_t *mutex,
				    const struct timespec *time)
{
	CHOOSE_NEXT(pthread_cond_timedwait, ENOSYS)
	struct timespec later, real;
	time = clocks_deadline(time, &real);
	if (choose_wanted(WIRE_MODEL_pthread_cond_timedwait, CHOOSE_CALLER()) &&
	    wake_timed(WIRE_MODEL_pthread_cond_timedwait, condition, &time,
		       &later))
		return thread_wake_spuriously(mutex);
	int failed = next(condition, mutex, time);
	return late_result(failed, failed);
}

_export_ int pthread_cond_clockwait(pthread_cond_t *condition,
				    pthread_mutex_t *mutex, clockid_t clock,
				    const struct timespec *time)
{
	CHOOSE_NEXT(pthread_cond_clockwait, ENOSYS)
	struct timespec later, real;
	time = clocks_deadline(time, &real);
	if (choose_wanted(WIRE_MODEL_pthread_cond_clockwait, CHOOSE_CALLER()) &&
	    wake_timed(WIRE_MODEL_pthread_cond_clockwait, condition, &time,
		       &later))
		return thread_wake_spuriously(mutex);
	int failed = next(condition, mutex, clock, time);
	return late_result(failed, failed);
}

static bool wake_all(enum wire_model model, const void *condition)
{
	uint64_t number = choose_object(condition);
	struct choose_keys keys = { .equal = number, .object = number };
	if (!choose_pick(model, 2, keys))
		return false;
	choose_did(ALL_WOKEN);
	return true;
}

_export_ int pthread_cond_signal(pthread_cond_t *condition)
{
	CHOOSE_NEXT(pthread_cond_signal, ENOSYS)
	if (choose_wanted(WIRE_MODEL_pthread_cond_signal, CHOOSE_CALLER()) &&
	    wake_all(WIRE_MODEL_pthread_cond_signal, condition))
		return pthread_cond_broadcast(condition);
	return next(condition);
}

/* ---- C11 ---- */

static int c11_spurious(mtx_t *mutex)
{
	pthread_testcancel();
	int failed = mtx_unlock(mutex);
	if (failed != thrd_success)
		return failed;
	sys_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	return mtx_lock(mutex);
}

_export_ int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	CHOOSE_NEXT(cnd_wait, thrd_error)
	if (choose_wanted(WIRE_MODEL_cnd_wait, CHOOSE_CALLER()) &&
	    thread_choose_wake(WIRE_MODEL_cnd_wait, condition, 2, false)) {
		choose_did(SPURIOUS);
		return c11_spurious(mutex);
	}
	return next(condition, mutex);
}

_export_ int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
			   const struct timespec *restrict time)
{
	CHOOSE_NEXT(cnd_timedwait, thrd_error)
	struct timespec later, real;
	const struct timespec *until = clocks_deadline(time, &real);
	if (choose_wanted(WIRE_MODEL_cnd_timedwait, CHOOSE_CALLER()) &&
	    wake_timed(WIRE_MODEL_cnd_timedwait, condition, &until, &later))
		return c11_spurious(mutex);
	int failed = next(condition, mutex, until);
	late_end(failed == thrd_timedout);
	return failed;
}

_export_ int cnd_signal(cnd_t *condition)
{
	CHOOSE_NEXT(cnd_signal, thrd_error)
	if (choose_wanted(WIRE_MODEL_cnd_signal, CHOOSE_CALLER()) &&
	    wake_all(WIRE_MODEL_cnd_signal, condition))
		return cnd_broadcast(condition);
	return next(condition);
}

_export_ int mtx_trylock(mtx_t *mutex)
{
	CHOOSE_NEXT(mtx_trylock, thrd_error)
	if (choose_wanted(WIRE_MODEL_mtx_trylock, CHOOSE_CALLER()) &&
	    thread_choose_wake(WIRE_MODEL_mtx_trylock, mutex, 2, false)) {
		choose_did("failed although the mutex was free");
		return thrd_busy;
	}
	return next(mutex);
}

/* ---- GLib: its own condition variables, on the kernel's futexes ---- */

void g_cond_wait(void *condition, void *mutex);
int g_cond_wait_until(void *condition, void *mutex, int64_t end);
void g_cond_signal(void *condition);

static void g_spurious(void *mutex)
{
	void (*unlock)(void *) =
		(void (*)(void *))lookup_next("g_mutex_unlock");
	void (*lock)(void *) = (void (*)(void *))lookup_next("g_mutex_lock");
	if (!unlock || !lock)
		return;
	unlock(mutex);
	sys_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	lock(mutex);
}

_export_ void g_cond_wait(void *condition, void *mutex)
{
	CHOOSE_NEXT(g_cond_wait, )
	if (choose_wanted(WIRE_MODEL_g_cond_wait, CHOOSE_CALLER()) &&
	    thread_choose_wake(WIRE_MODEL_g_cond_wait, condition, 2, false)) {
		choose_did(SPURIOUS);
		g_spurious(mutex);
		return;
	}
	next(condition, mutex);
}

/* @end: microseconds of the monotonic clock. */
_export_ int g_cond_wait_until(void *condition, void *mutex, int64_t end)
{
	CHOOSE_NEXT(g_cond_wait_until, 0)
	struct timespec time = { end / 1000000, end % 1000000 * 1000 }, real;
	const struct timespec *until = clocks_deadline(&time, &real);
	if (until == &real)
		end = real.tv_sec * 1000000 + real.tv_nsec / 1000;
	if (end > 0 &&
	    choose_wanted(WIRE_MODEL_g_cond_wait_until, CHOOSE_CALLER())) {
		uint64_t pick = thread_choose_wake(
			WIRE_MODEL_g_cond_wait_until, condition,
			late_alternatives(3), has_passed(until));
		if (pick == 1) {
			choose_did(SPURIOUS);
			g_spurious(mutex);
			return 1;
		}
		if (pick == 2 && end < INT64_MAX - 5000) {
			choose_did("the time-out came 5 ms late");
			end += 5000;
		}
		if (pick == 3)
			late_by_much(5 * LATE_MS);
	}
	int signaled = next(condition, mutex, end);
	late_end(!signaled);
	return signaled;
}

_export_ void g_cond_signal(void *condition)
{
	CHOOSE_NEXT(g_cond_signal, )
	void (*all)(void *) = (void (*)(void *))lookup_next("g_cond_broadcast");
	if (all && choose_wanted(WIRE_MODEL_g_cond_signal, CHOOSE_CALLER()) &&
	    wake_all(WIRE_MODEL_g_cond_signal, condition))
		all(condition);
	else
		next(condition);
}

/* ---- barriers ---- */

/*
 * The library tells the last thread to arrive that it is the serial thread. It
 * may pass that on to another one of its round. That no two rounds are mixed
 * follows from this: a round ends while all its threads are inside; if one of
 * another round is inside as well, there have been more at once than the
 * barrier counts, and both see that, because they look after their round has
 * ended.
 */
#define BARRIERS 64

struct barrier {
	uintptr_t address; /* 0: free */
	uint32_t count;
	uint32_t inside, most;
	uint32_t offer; /* 1: the thread that takes it is the serial thread */
};
static struct barrier barriers[BARRIERS];

static struct barrier *barrier_find(const void *address)
{
	for (size_t i = 0; i < BARRIERS; i++) {
		if (__atomic_load_n(&barriers[i].address, __ATOMIC_ACQUIRE) ==
		    (uintptr_t)address)
			return &barriers[i];
	}
	return NULL;
}

static void barrier_add(const void *address, uint32_t count)
{
	struct barrier *barrier = barrier_find(address);
	for (size_t i = 0; !barrier && i < BARRIERS; i++) {
		uintptr_t none = 0;
		if (__atomic_compare_exchange_n(
			    &barriers[i].address, &none, (uintptr_t)1, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			barrier = &barriers[i];
	}
	if (!barrier)
		return;
	barrier->count = count;
	barrier->inside = barrier->most = barrier->offer = 0;
	__atomic_store_n(&barrier->address, (uintptr_t)address,
			 __ATOMIC_RELEASE);
}

/*
 * A thread that leaves still reads it: if that takes too long, its place stays
 * taken.
 */
static void barrier_forget(const void *address)
{
	struct barrier *barrier = barrier_find(address);
	if (!barrier)
		return;
	__atomic_store_n(&barrier->address, (uintptr_t)1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 100; i++) {
		if (!__atomic_load_n(&barrier->inside, __ATOMIC_SEQ_CST)) {
			__atomic_store_n(&barrier->address, 0,
					 __ATOMIC_SEQ_CST);
			return;
		}
		threads_let_time_pass(100 * LATE_US);
	}
}

static void barrier_enter(struct barrier *barrier)
{
	uint32_t inside =
		__atomic_add_fetch(&barrier->inside, 1, __ATOMIC_SEQ_CST);
	uint32_t most = __atomic_load_n(&barrier->most, __ATOMIC_SEQ_CST);
	while (most < inside && !__atomic_compare_exchange_n(
					&barrier->most, &most, inside, false,
					__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/* Looks for some time whether the offer has become (or is no longer) there. */
#define BARRIER_TRIES 40

static bool barrier_hand_on(struct barrier *barrier)
{
	__atomic_store_n(&barrier->offer, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < BARRIER_TRIES; i++) {
		if (!__atomic_load_n(&barrier->offer, __ATOMIC_SEQ_CST))
			return true;
		threads_let_time_pass(100 * LATE_US);
	}
	uint32_t mine = 1;
	return !__atomic_compare_exchange_n(&barrier->offer, &mine, 0, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static bool barrier_take(struct barrier *barrier)
{
	for (int i = 0; i < BARRIER_TRIES / 2; i++) {
		uint32_t theirs = 1;
		if (__atomic_compare_exchange_n(&barrier->offer, &theirs, 0,
						false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return true;
		threads_let_time_pass(100 * LATE_US);
	}
	return false;
}

static bool is_exact(const struct barrier *barrier)
{
	return __atomic_load_n(&barrier->most, __ATOMIC_SEQ_CST) <=
	       barrier->count;
}

static int barrier_leave(struct barrier *barrier, int serial, uint64_t pick)
{
	if (pick && is_exact(barrier)) {
		if (serial && barrier_hand_on(barrier))
			serial = 0;
		else if (!serial && barrier_take(barrier))
			serial = PTHREAD_BARRIER_SERIAL_THREAD;
	}
	__atomic_sub_fetch(&barrier->inside, 1, __ATOMIC_SEQ_CST);
	return serial;
}

_export_ int pthread_barrier_init(pthread_barrier_t *barrier,
				  const pthread_barrierattr_t *attributes,
				  unsigned count)
{
	CHOOSE_NEXT(pthread_barrier_init, ENOSYS)
	int failed = next(barrier, attributes, count);
	int shared = PTHREAD_PROCESS_PRIVATE;
	if (attributes)
		pthread_barrierattr_getpshared(attributes, &shared);
	if (!failed && choose_block && count > 1 &&
	    shared == PTHREAD_PROCESS_PRIVATE)
		barrier_add(barrier, count);
	return failed;
}

_export_ int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	CHOOSE_NEXT(pthread_barrier_destroy, ENOSYS)
	int failed = next(barrier);
	if (!failed && choose_block)
		barrier_forget(barrier);
	return failed;
}

_export_ int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	CHOOSE_NEXT(pthread_barrier_wait, ENOSYS)
	struct barrier *known = choose_block ? barrier_find(barrier) : NULL;
	if (!known)
		return next(barrier);
	uint64_t pick = 0;
	if (choose_wanted(WIRE_MODEL_pthread_barrier_wait, CHOOSE_CALLER())) {
		uint64_t number = choose_object(barrier);
		struct choose_keys keys = { .equal = number, .object = number };
		pick = choose_pick(WIRE_MODEL_pthread_barrier_wait, 2, keys);
		choose_did("another thread than the last one was the serial "
			   "thread");
	}
	barrier_enter(known);
	int serial = next(barrier);
	return barrier_leave(known, serial, pick);
}

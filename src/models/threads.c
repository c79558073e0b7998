/*
 * Models of threads and processes: when they begin, and what is called when
 * they end. A thread's key (wire/choices.h) follows from its creator's: here it
 * is set, whether the model is in use or not.
 */
#include "models/threads_internal.h"

#include <pthread.h>
#include <threads.h>
#include <unistd.h>

/* ---- a new thread ---- */

/*
 * What a new thread begins with; it is free again as soon as that has been read.
 * Were there no room left, the thread would begin without a key of its own.
 */
#define STARTS 1024

struct start {
	uint32_t used;
	uint32_t late; /* nanoseconds */
	uint64_t key;
	void *argument;
	void *(*posix)(void *);
	int (*c11)(void *);
};
static struct start starts[STARTS];

static struct start *start_create(void *(*posix)(void *), int (*c11)(void *),
				  void *argument)
{
	static uint32_t last;
	for (uint32_t i = 0; choose_block && i < STARTS; i++) {
		uint32_t at =
			__atomic_fetch_add(&last, 1, __ATOMIC_RELAXED) % STARTS;
		if (__atomic_exchange_n(&starts[at].used, 1, __ATOMIC_ACQUIRE))
			continue;
		starts[at].late = 0;
		starts[at].argument = argument;
		starts[at].posix = posix;
		starts[at].c11 = c11;
		starts[at].key = choose_child_key();
		return &starts[at];
	}
	return NULL;
}

static void start_destroy(struct start *start)
{
	__atomic_store_n(&start->used, 0, __ATOMIC_RELEASE);
}

static struct start thread_start_begin(void *at)
{
	struct start start = *(struct start *)at;
	start_destroy(at);
	choose_set_key(start.key);
	threads_let_time_pass(start.late);
	return start;
}

static void *begin_posix(void *at)
{
	struct start start = thread_start_begin(at);
	return start.posix(start.argument);
}

static int begin_c11(void *at)
{
	struct start start = thread_start_begin(at);
	return start.c11(start.argument);
}

/*
 * Which one is delayed: the new thread (its start is reported), or its creator.
 */
static long late_start(enum wire_model model, struct start *start,
		       const void *function)
{
	uint64_t object = choose_object(function);
	struct choose_keys keys = { .equal = object, .object = object };
	uint64_t pick = choose_pick(model, 4, keys);
	if (pick == 3) {
		choose_did("its creator continued only after the thread began");
		return 2 * LATE_MS;
	}
	if (pick)
		choose_did("the thread began late");
	start->late = (uint32_t)(pick == 1   ? 2 * LATE_MS
				 : pick == 2 ? 10 * LATE_MS
					     : 0);
	return 0;
}

#define SMALL_STACK ((size_t)256 << 10)

/* @ret is the attribute of a small stack where that is chosen. */
static bool small_stack(const void *function, pthread_attr_t *ret)
{
	uint64_t object = choose_object(function);
	struct choose_keys keys = { .equal = object, .object = object };
	if (!choose_pick(WIRE_MODEL_thread_stack, 2, keys) ||
	    pthread_attr_init(ret))
		return false;
	choose_did("the thread got a stack of 256 KiB");
	if (!pthread_attr_setstacksize(ret, SMALL_STACK))
		return true;
	pthread_attr_destroy(ret);
	return false;
}

_export_ int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			    void *(*function)(void *), void *argument)
{
	CHOOSE_NEXT(pthread_create, EAGAIN)
	struct start *start = start_create(function, NULL, argument);
	if (!start)
		return next(thread, attributes, function, argument);
	uintptr_t caller = CHOOSE_CALLER();
	long pause = 0;
	pthread_attr_t small;
	bool is_small = !attributes &&
			choose_wanted(WIRE_MODEL_thread_stack, caller) &&
			small_stack((const void *)function, &small);
	if (is_small)
		attributes = &small;
	if (choose_wanted(WIRE_MODEL_pthread_create, caller))
		pause = late_start(WIRE_MODEL_pthread_create, start,
				   (const void *)function);
	int failed = next(thread, attributes, begin_posix, start);
	if (is_small)
		pthread_attr_destroy(&small);
	if (failed)
		start_destroy(start);
	else
		threads_let_time_pass(pause);
	return failed;
}

_export_ int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	CHOOSE_NEXT(thrd_create, thrd_error)
	struct start *start = start_create(NULL, function, argument);
	if (!start)
		return next(thread, function, argument);
	long pause = 0;
	if (choose_wanted(WIRE_MODEL_thrd_create, CHOOSE_CALLER()))
		pause = late_start(WIRE_MODEL_thrd_create, start,
				   (const void *)function);
	int failed = next(thread, begin_c11, start);
	if (failed != thrd_success)
		start_destroy(start);
	else
		threads_let_time_pass(pause);
	return failed;
}

/* ---- a new process ---- */

static pid_t fork_with(pid_t (*next)(void), uintptr_t caller)
{
	if (!choose_block)
		return next();
	uint64_t pick = 0, key = choose_child_key();
	if (choose_wanted(WIRE_MODEL_fork, caller)) {
		struct choose_keys keys = {};
		pick = choose_pick(WIRE_MODEL_fork, 3, keys);
		choose_did("the %s continued late",
			   pick == 1 ? "child" : "parent");
	}
	pid_t child = next();
	if (!child)
		choose_set_key(key);
	if ((!child && pick == 1) || (child > 0 && pick == 2))
		threads_let_time_pass(5 * LATE_MS);
	return child;
}

_export_ pid_t fork(void)
{
	CHOOSE_NEXT(fork, -1)
	return fork_with(next, CHOOSE_CALLER());
}

_export_ pid_t _Fork(void)
{
	CHOOSE_NEXT(_Fork, -1)
	return fork_with(next, CHOOSE_CALLER());
}

/* ---- the end ---- */

static bool is_later(enum wire_model model, const void *destructor)
{
	uint64_t object = choose_object(destructor);
	struct choose_keys keys = { .equal = object, .object = object };
	if (!choose_pick(model, 2, keys))
		return false;
	choose_did("its destructor ran after that of the next key");
	return true;
}

/*
 * Destructors are called in the order of keys, and the lowest free one is given:
 * where it is taken for a moment, the next key gets it.
 */
_export_ int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	CHOOSE_NEXT(pthread_key_create, EAGAIN)
	pthread_key_t lower;
	bool later =
		destructor &&
		choose_wanted(WIRE_MODEL_pthread_key_create, CHOOSE_CALLER()) &&
		is_later(WIRE_MODEL_pthread_key_create,
			 (const void *)destructor) &&
		!next(&lower, NULL);
	int failed = next(key, destructor);
	if (later)
		pthread_key_delete(lower);
	/* It was the last one. */
	return failed && later ? next(key, destructor) : failed;
}

_export_ int tss_create(tss_t *key, tss_dtor_t destructor)
{
	CHOOSE_NEXT(tss_create, thrd_error)
	tss_t lower;
	bool later =
		destructor &&
		choose_wanted(WIRE_MODEL_tss_create, CHOOSE_CALLER()) &&
		is_later(WIRE_MODEL_tss_create, (const void *)destructor) &&
		next(&lower, NULL) == thrd_success;
	int failed = next(key, destructor);
	if (later)
		tss_delete(lower);
	return failed != thrd_success && later ? next(key, destructor) : failed;
}

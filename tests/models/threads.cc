/*
 * Cases of the models of time and threads. Long because a family has one program, and
 * this one thirty models with two cases each.
 */
#include "cases.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <threads.h>

using clock_type = std::chrono::steady_clock;

static double milliseconds(clock_type::time_point since)
{
	return std::chrono::duration<double, std::milli>(clock_type::now() -
							 since)
		.count();
}

/*
 * How long @action takes at least, of some tries: what a busy machine adds is
 * not what is looked for.
 */
template <typename Action> static double quickest(Action action)
{
	double best = 1e9;
	for (int i = 0; i < 4; i++) {
		auto since = clock_type::now();
		action();
		double took = milliseconds(since);
		if (took < best)
			best = took;
	}
	return best;
}

static timespec from_now(clockid_t clock, long nanoseconds)
{
	timespec time;
	clock_gettime(clock, &time);
	time.tv_nsec += nanoseconds;
	if (time.tv_nsec >= 1000000000) {
		time.tv_nsec -= 1000000000;
		time.tv_sec++;
	}
	return time;
}

/* ---- time ---- */

static const timespec half = { 0, 500000 };

/* fragile: it lasts about as long; correct: at least as long. */
#define LASTS(name, least, most, action)                                       \
	static bool name##_fragile()                                           \
	{                                                                      \
		return quickest([] { action; }) < (most);                      \
	}                                                                      \
	static bool name##_correct()                                           \
	{                                                                      \
		return quickest([] { action; }) >= (least);                    \
	}

LASTS(nanosleep, 0.5, 2.5, nanosleep(&half, nullptr))
LASTS(usleep, 0.5, 2.5, usleep(500))
LASTS(clock_nanosleep, 0.5, 2.5,
      clock_nanosleep(CLOCK_MONOTONIC, 0, &half, nullptr))
LASTS(poll, 1, 5, poll(nullptr, 0, 1))
LASTS(ppoll, 0.5, 2.5, ppoll(nullptr, 0, &half, nullptr))

static bool sleep_fragile()
{
	for (int i = 0; i < 2; i++) {
		auto since = clock_type::now();
		sleep(1);
		if (milliseconds(since) < 1025)
			return true;
	}
	return false;
}

static bool sleep_correct()
{
	return sleep(0) == 0;
}

static void wait_semaphore()
{
	sem_t semaphore;
	sem_init(&semaphore, 0, 0);
	timespec end = from_now(CLOCK_REALTIME, 500000);
	while (sem_timedwait(&semaphore, &end) && errno == EINTR)
		;
}

LASTS(sem_timedwait, 0.5, 2.5, wait_semaphore())

static void wait_mutex()
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&mutex);
	timespec end = from_now(CLOCK_REALTIME, 500000);
	pthread_mutex_timedlock(&mutex, &end);
}

LASTS(pthread_mutex_timedlock, 0.5, 2.5, wait_mutex())

static void *nothing(void *argument)
{
	return argument;
}

static void create_and_join()
{
	pthread_t thread;
	if (pthread_create(&thread, nullptr, nothing, nullptr))
		abort();
	pthread_join(thread, nullptr);
}

LASTS(pthread_join, 0, 2, create_and_join())

static uint64_t expirations()
{
	itimerspec every = { { 0, 8000000 }, { 0, 8000000 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t n = 0;
	timerfd_settime(fd, 0, &every, nullptr);
	if (read(fd, &n, sizeof(n)) != sizeof(n))
		abort();
	close(fd);
	return n;
}

static bool timerfd_fragile()
{
	for (int i = 0; i < 3; i++) {
		if (expirations() == 1)
			return true;
	}
	return false;
}

static bool timerfd_correct()
{
	return expirations() >= 1;
}

/* ---- conditions ---- */

/* POSIX, in the ways that there are to wait. */
enum way { PLAIN, TIMED, CLOCK };

struct gate {
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	bool ready = false;
};

static void *open_gate(void *argument)
{
	auto *gate = static_cast<struct gate *>(argument);
	usleep(300);
	pthread_mutex_lock(&gate->mutex);
	gate->ready = true;
	pthread_cond_signal(&gate->condition);
	pthread_mutex_unlock(&gate->mutex);
	return nullptr;
}

static bool passes(enum way way, bool loop)
{
	gate gate;
	pthread_t thread;
	int failed = 0;
	pthread_mutex_lock(&gate.mutex);
	pthread_create(&thread, nullptr, open_gate, &gate);
	timespec real = from_now(CLOCK_REALTIME, 0);
	timespec monotonic = from_now(CLOCK_MONOTONIC, 0);
	real.tv_sec += 15;
	monotonic.tv_sec += 15;
	while (!gate.ready && !failed) {
		failed = way == PLAIN ? pthread_cond_wait(&gate.condition,
							  &gate.mutex)
			 : way == TIMED
				 ? pthread_cond_timedwait(&gate.condition,
							  &gate.mutex, &real)
				 : pthread_cond_clockwait(
					   &gate.condition, &gate.mutex,
					   CLOCK_MONOTONIC, &monotonic);
		if (!loop)
			break;
	}
	bool ready = gate.ready;
	/* It is held: nobody else gets it. */
	bool held = pthread_mutex_trylock(&gate.mutex) == EBUSY;
	pthread_mutex_unlock(&gate.mutex);
	pthread_join(thread, nullptr);
	return ready && held && !failed;
}

/* A thread that waits can be cancelled, and cleans up with the mutex held. */
static void unlock(void *mutex)
{
	pthread_mutex_unlock(static_cast<pthread_mutex_t *>(mutex));
}

static void *wait_for_ever(void *argument)
{
	auto *gate = static_cast<struct gate *>(argument);
	pthread_mutex_lock(&gate->mutex);
	pthread_cleanup_push(unlock, &gate->mutex);
	while (!gate->ready)
		pthread_cond_wait(&gate->condition, &gate->mutex);
	pthread_cleanup_pop(1);
	return nullptr;
}

static bool is_cancelled()
{
	gate gate;
	pthread_t thread;
	void *result = nullptr;
	pthread_create(&thread, nullptr, wait_for_ever, &gate);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	return result == PTHREAD_CANCELED &&
	       pthread_mutex_trylock(&gate.mutex) == 0;
}

static bool cpp_passes()
{
	std::mutex mutex;
	std::condition_variable condition;
	bool ready = false;
	std::unique_lock<std::mutex> lock(mutex);
	std::thread thread([&] {
		std::lock_guard<std::mutex> guard(mutex);
		ready = true;
		condition.notify_one();
	});
	condition.wait(lock, [&] { return ready; });
	bool in_time = condition.wait_for(lock, std::chrono::seconds(15),
					  [&] { return ready; });
	lock.unlock();
	thread.join();
	return ready && in_time;
}

static bool pthread_cond_wait_fragile()
{
	return passes(PLAIN, false);
}

static bool pthread_cond_wait_correct()
{
	return passes(PLAIN, true) && is_cancelled() && cpp_passes();
}

static bool pthread_cond_timedwait_fragile()
{
	return passes(TIMED, false);
}

static bool times_out()
{
	gate gate;
	auto since = clock_type::now();
	timespec end = from_now(CLOCK_REALTIME, 500000);
	int failed = 0;
	pthread_mutex_lock(&gate.mutex);
	while (!failed)
		failed = pthread_cond_timedwait(&gate.condition, &gate.mutex,
						&end);
	return failed == ETIMEDOUT && milliseconds(since) >= 0.3;
}

/* What has passed is told at once, whatever else may wake. */
static bool has_passed()
{
	gate gate;
	cnd_t condition;
	mtx_t mutex;
	timespec real = from_now(CLOCK_REALTIME, 0);
	timespec monotonic = from_now(CLOCK_MONOTONIC, 0);
	cnd_init(&condition);
	mtx_init(&mutex, mtx_plain);
	mtx_lock(&mutex);
	pthread_mutex_lock(&gate.mutex);
	for (int i = 0; i < 3; i++) {
		if (pthread_cond_timedwait(&gate.condition, &gate.mutex, &real) != ETIMEDOUT ||
		    pthread_cond_clockwait(&gate.condition, &gate.mutex, CLOCK_MONOTONIC,
					   &monotonic) != ETIMEDOUT ||
		    cnd_timedwait(&condition, &mutex, &real) != thrd_timedout)
			return false;
	}
	return true;
}

static bool pthread_cond_timedwait_correct()
{
	return passes(TIMED, true) && times_out() && has_passed();
}

static bool pthread_cond_clockwait_fragile()
{
	return passes(CLOCK, false);
}

static bool pthread_cond_clockwait_correct()
{
	return passes(CLOCK, true);
}

/* Two wait; fragile: a signal wakes one, and without a loop each gets something. */
struct shop {
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	mtx_t c11_mutex;
	cnd_t c11_condition;
	int waiting = 0, goods = 0, woken = 0, sold = 0;
	bool loop = false;
};

static void *buy(void *argument)
{
	auto *shop = static_cast<struct shop *>(argument);
	pthread_mutex_lock(&shop->mutex);
	shop->waiting++;
	do
		pthread_cond_wait(&shop->condition, &shop->mutex);
	while (shop->loop && !shop->goods);
	shop->woken++;
	if (shop->goods > 0) {
		shop->goods--;
		shop->sold++;
	}
	pthread_mutex_unlock(&shop->mutex);
	return nullptr;
}

/* An article is put there whenever the last is gone: each gets one? */
static bool sells(bool loop)
{
	shop shop;
	shop.loop = loop;
	pthread_t threads[2];
	for (auto &thread : threads)
		pthread_create(&thread, nullptr, buy, &shop);
	for (int waiting = 0; waiting < 2;) {
		pthread_mutex_lock(&shop.mutex);
		waiting = shop.waiting;
		pthread_mutex_unlock(&shop.mutex);
		usleep(200);
	}
	for (int put = 0, woken = 0; woken < 2;) {
		pthread_mutex_lock(&shop.mutex);
		woken = shop.woken;
		if (put == woken && woken < 2) {
			put++;
			shop.goods++;
			pthread_cond_signal(&shop.condition);
		}
		pthread_mutex_unlock(&shop.mutex);
		usleep(200);
	}
	for (auto thread : threads)
		pthread_join(thread, nullptr);
	return shop.sold == 2;
}

static bool pthread_cond_signal_fragile()
{
	return sells(false);
}

static bool pthread_cond_signal_correct()
{
	return sells(true);
}

/* ---- C11 ---- */

struct c11_gate {
	mtx_t mutex;
	cnd_t condition;
	bool ready = false;
	c11_gate()
	{
		mtx_init(&mutex, mtx_timed);
		cnd_init(&condition);
	}
};

static int c11_open(void *argument)
{
	auto *gate = static_cast<c11_gate *>(argument);
	usleep(300);
	mtx_lock(&gate->mutex);
	gate->ready = true;
	cnd_signal(&gate->condition);
	mtx_unlock(&gate->mutex);
	return 7;
}

static bool c11_passes(bool timed, bool loop)
{
	c11_gate gate;
	thrd_t thread;
	int result = 0, failed = thrd_success;
	timespec end = from_now(CLOCK_REALTIME, 0);
	end.tv_sec += 15;
	mtx_lock(&gate.mutex);
	thrd_create(&thread, c11_open, &gate);
	while (!gate.ready && failed == thrd_success) {
		failed = timed ? cnd_timedwait(&gate.condition, &gate.mutex,
					       &end)
			       : cnd_wait(&gate.condition, &gate.mutex);
		if (!loop)
			break;
	}
	bool ready = gate.ready;
	mtx_unlock(&gate.mutex);
	thrd_join(thread, &result);
	return ready && result == 7 && failed == thrd_success;
}

static bool cnd_wait_fragile()
{
	return c11_passes(false, false);
}

static bool cnd_wait_correct()
{
	return c11_passes(false, true);
}

static bool cnd_timedwait_fragile()
{
	return c11_passes(true, false);
}

static bool cnd_timedwait_correct()
{
	return c11_passes(true, true);
}

static int c11_buy(void *argument)
{
	auto *shop = static_cast<struct shop *>(argument);
	mtx_lock(&shop->c11_mutex);
	shop->waiting++;
	do
		cnd_wait(&shop->c11_condition, &shop->c11_mutex);
	while (shop->loop && !shop->goods);
	shop->woken++;
	if (shop->goods > 0) {
		shop->goods--;
		shop->sold++;
	}
	mtx_unlock(&shop->c11_mutex);
	return 0;
}

static bool c11_sells(bool loop)
{
	shop shop;
	shop.loop = loop;
	mtx_init(&shop.c11_mutex, mtx_plain);
	cnd_init(&shop.c11_condition);
	thrd_t threads[2];
	for (auto &thread : threads)
		thrd_create(&thread, c11_buy, &shop);
	for (int waiting = 0; waiting < 2;) {
		mtx_lock(&shop.c11_mutex);
		waiting = shop.waiting;
		mtx_unlock(&shop.c11_mutex);
		usleep(200);
	}
	for (int put = 0, woken = 0; woken < 2;) {
		mtx_lock(&shop.c11_mutex);
		woken = shop.woken;
		if (put == woken && woken < 2) {
			put++;
			shop.goods++;
			cnd_signal(&shop.c11_condition);
		}
		mtx_unlock(&shop.c11_mutex);
		usleep(200);
	}
	for (auto thread : threads)
		thrd_join(thread, nullptr);
	return shop.sold == 2;
}

static bool cnd_signal_fragile()
{
	return c11_sells(false);
}

static bool cnd_signal_correct()
{
	return c11_sells(true);
}

static bool mtx_trylock_fragile()
{
	mtx_t mutex;
	mtx_init(&mutex, mtx_plain);
	return mtx_trylock(&mutex) == thrd_success;
}

/* pthread_mutex_trylock() and what is held are as ever. */
static bool mtx_trylock_correct()
{
	mtx_t mutex;
	pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
	mtx_init(&mutex, mtx_plain);
	while (mtx_trylock(&mutex) != thrd_success)
		;
	for (int i = 0; i < 5; i++) {
		if (mtx_trylock(&mutex) != thrd_busy)
			return false;
	}
	mtx_unlock(&mutex);
	return pthread_mutex_trylock(&other) == 0;
}

/* ---- GLib, which this program is not linked with ---- */

struct glib {
	void (*wait)(void *, void *);
	int (*wait_until)(void *, void *, int64_t);
	void (*signal)(void *);
	void (*lock)(void *);
	void (*unlock)(void *);
	bool loaded = false;

	template <typename Function>
	void find(Function &function, const char *name)
	{
		void *found = dlsym(RTLD_DEFAULT, name);
		memcpy(&function, &found, sizeof(found));
		loaded = loaded && found;
	}
	glib()
	{
		loaded = dlopen("libglib-2.0.so.0", RTLD_NOW | RTLD_GLOBAL);
		find(wait, "g_cond_wait");
		find(wait_until, "g_cond_wait_until");
		find(signal, "g_cond_signal");
		find(lock, "g_mutex_lock");
		find(unlock, "g_mutex_unlock");
	}
};

struct g_gate {
	glib *library;
	void *mutex = nullptr; /* GMutex: a pointer, 0 at first */
	struct {
		void *pointer = nullptr;
		unsigned numbers[2] = {};
	} condition;
	bool ready = false, loop = false;
	int waiting = 0, goods = 0, woken = 0, sold = 0;
};

static void *g_open(void *argument)
{
	auto *gate = static_cast<g_gate *>(argument);
	usleep(300);
	gate->library->lock(&gate->mutex);
	gate->ready = true;
	gate->library->signal(&gate->condition);
	gate->library->unlock(&gate->mutex);
	return nullptr;
}

static bool g_passes(bool timed, bool loop)
{
	glib library;
	if (!library.loaded)
		return loop;
	g_gate gate;
	pthread_t thread;
	gate.library = &library;
	library.lock(&gate.mutex);
	pthread_create(&thread, nullptr, g_open, &gate);
	timespec now = from_now(CLOCK_MONOTONIC, 0);
	bool in_time = true;
	while (!gate.ready && in_time) {
		if (timed)
			in_time = library.wait_until(
				&gate.condition, &gate.mutex,
				(now.tv_sec + 15) * 1000000LL);
		else
			library.wait(&gate.condition, &gate.mutex);
		if (!loop)
			break;
	}
	bool ready = gate.ready;
	library.unlock(&gate.mutex);
	pthread_join(thread, nullptr);
	return ready && in_time;
}

static bool g_cond_wait_fragile()
{
	return g_passes(false, false);
}

static bool g_cond_wait_correct()
{
	return g_passes(false, true);
}

static bool g_cond_wait_until_fragile()
{
	return g_passes(true, false);
}

static bool g_cond_wait_until_correct()
{
	return g_passes(true, true);
}

static void *g_buy(void *argument)
{
	auto *shop = static_cast<g_gate *>(argument);
	shop->library->lock(&shop->mutex);
	shop->waiting++;
	do
		shop->library->wait(&shop->condition, &shop->mutex);
	while (shop->loop && !shop->goods);
	shop->woken++;
	if (shop->goods > 0) {
		shop->goods--;
		shop->sold++;
	}
	shop->library->unlock(&shop->mutex);
	return nullptr;
}

static bool g_sells(bool loop)
{
	glib library;
	if (!library.loaded)
		return loop;
	g_gate shop;
	shop.library = &library;
	shop.loop = loop;
	pthread_t threads[2];
	for (auto &thread : threads)
		pthread_create(&thread, nullptr, g_buy, &shop);
	for (int waiting = 0; waiting < 2;) {
		library.lock(&shop.mutex);
		waiting = shop.waiting;
		library.unlock(&shop.mutex);
		usleep(200);
	}
	for (int put = 0, woken = 0; woken < 2;) {
		library.lock(&shop.mutex);
		woken = shop.woken;
		if (put == woken && woken < 2) {
			put++;
			shop.goods++;
			library.signal(&shop.condition);
		}
		library.unlock(&shop.mutex);
		usleep(200);
	}
	for (auto thread : threads)
		pthread_join(thread, nullptr);
	return shop.sold == 2;
}

static bool g_cond_signal_fragile()
{
	return g_sells(false);
}

static bool g_cond_signal_correct()
{
	return g_sells(true);
}

/* ---- beginning ---- */

static void *set_flag(void *argument)
{
	static_cast<std::atomic<bool> *>(argument)->store(true);
	return nullptr;
}

static int c11_set_flag(void *argument)
{
	set_flag(argument);
	return 5;
}

/* Long enough for any thread to begin, one thinks. */
static bool pthread_create_fragile()
{
	for (int i = 0; i < 3; i++) {
		std::atomic<bool> flag{ false };
		pthread_t thread;
		pthread_create(&thread, nullptr, set_flag, &flag);
		usleep(1000);
		bool was = flag;
		pthread_join(thread, nullptr);
		if (was)
			return true;
	}
	return false;
}

static void *exits(void *argument)
{
	pthread_exit(argument);
}

static void *throws(void *argument)
{
	try {
		throw 3;
	} catch (int) {
		return argument;
	}
}

static void *sleeps(void *)
{
	for (;;)
		sleep(10);
}

/* Results, exits, exceptions and cancellation get through. */
static bool pthread_create_correct()
{
	int object;
	void *(*const functions[])(void *) = { nothing, exits, throws };
	for (auto function : functions) {
		pthread_t thread;
		void *result = nullptr;
		if (pthread_create(&thread, nullptr, function, &object) ||
		    pthread_join(thread, &result) || result != &object)
			return false;
	}
	pthread_t thread;
	void *result = nullptr;
	pthread_create(&thread, nullptr, sleeps, nullptr);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	int value = 0;
	std::thread([&] { value = 4; }).join();
	return result == PTHREAD_CANCELED && value == 4;
}

static bool thrd_create_fragile()
{
	for (int i = 0; i < 3; i++) {
		std::atomic<bool> flag{ false };
		thrd_t thread;
		thrd_create(&thread, c11_set_flag, &flag);
		usleep(1000);
		bool was = flag;
		thrd_join(thread, nullptr);
		if (was)
			return true;
	}
	return false;
}

static bool thrd_create_correct()
{
	std::atomic<bool> flag{ false };
	thrd_t thread;
	int result = 0;
	return thrd_create(&thread, c11_set_flag, &flag) == thrd_success &&
	       thrd_join(thread, &result) == thrd_success && result == 5 &&
	       flag;
}

static void *needs_stack(void *)
{
	volatile char room[1 << 20];
	for (size_t i = 0; i < sizeof(room); i += 4096)
		room[i] = 1;
	return nullptr;
}

static bool thread_stack_fragile()
{
	pthread_t thread;
	pthread_create(&thread, nullptr, needs_stack, nullptr);
	return pthread_join(thread, nullptr) == 0;
}

static bool thread_stack_correct()
{
	pthread_t thread;
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 4 << 20);
	pthread_create(&thread, &attributes, needs_stack, nullptr);
	return pthread_join(thread, nullptr) == 0;
}

/* Fragile: the child has done its part soon. */
static bool fork_fragile()
{
	auto *flag = static_cast<std::atomic<int> *>(
		mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	for (int i = 0; i < 3; i++) {
		*flag = 0;
		pid_t child = fork();
		if (!child) {
			*flag = 1;
			_exit(0);
		}
		usleep(2000);
		int was = *flag;
		waitpid(child, nullptr, 0);
		if (was)
			return true;
	}
	return false;
}

static bool fork_correct()
{
	int status = 0;
	pid_t child = fork();
	if (!child)
		_exit(getppid() > 0 ? 9 : 1);
	return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 9;
}

/* ---- ending ---- */

static std::atomic<int> ended, order;

static void first_ends(void *)
{
	order = order * 10 + 1;
	ended++;
}

static void second_ends(void *)
{
	order = order * 10 + 2;
	ended++;
}

static pthread_key_t keys[2];
static tss_t c11_keys[2];

static void *set_keys(void *argument)
{
	pthread_setspecific(keys[0], argument);
	pthread_setspecific(keys[1], argument);
	return pthread_getspecific(keys[0]) == argument ? argument : nullptr;
}

static bool ends(bool in_order)
{
	pthread_t thread;
	int object;
	void *result = nullptr;
	if (pthread_key_create(&keys[0], first_ends) ||
	    pthread_key_create(&keys[1], second_ends) || keys[0] == keys[1])
		return false;
	pthread_create(&thread, nullptr, set_keys, &object);
	pthread_join(thread, &result);
	return ended == 2 && result == &object && (!in_order || order == 12);
}

static bool pthread_key_create_fragile()
{
	return ends(true);
}

static bool pthread_key_create_correct()
{
	return ends(false);
}

static void *set_c11_keys(void *argument)
{
	tss_set(c11_keys[0], argument);
	tss_set(c11_keys[1], argument);
	return nullptr;
}

static bool c11_ends(bool in_order)
{
	pthread_t thread;
	int object;
	tss_create(&c11_keys[0], first_ends);
	tss_create(&c11_keys[1], second_ends);
	pthread_create(&thread, nullptr, set_c11_keys, &object);
	pthread_join(thread, nullptr);
	return ended == 2 && (!in_order || order == 12);
}

static bool tss_create_fragile()
{
	return c11_ends(true);
}

static bool tss_create_correct()
{
	return c11_ends(false);
}

/* ---- barriers ---- */

struct meeting {
	pthread_barrier_t barrier;
	std::atomic<int> here{ 0 }, serial{ 0 };
	int rounds = 1;
};

static void *meet(void *argument)
{
	auto *meeting = static_cast<struct meeting *>(argument);
	for (int i = 0; i < meeting->rounds; i++) {
		meeting->here++;
		if (pthread_barrier_wait(&meeting->barrier) ==
		    PTHREAD_BARRIER_SERIAL_THREAD)
			meeting->serial++;
	}
	return nullptr;
}

/* Fragile: the last to come is the serial thread. */
static bool pthread_barrier_wait_fragile()
{
	meeting meeting;
	pthread_t thread;
	pthread_barrier_init(&meeting.barrier, nullptr, 2);
	pthread_create(&thread, nullptr, meet, &meeting);
	while (!meeting.here)
		usleep(100);
	usleep(5000);
	bool serial = pthread_barrier_wait(&meeting.barrier) ==
		      PTHREAD_BARRIER_SERIAL_THREAD;
	pthread_join(thread, nullptr);
	return serial;
}

/* One a round, also where more threads come than it counts. */
static bool pthread_barrier_wait_correct()
{
	for (unsigned n = 2; n <= 4; n += 2) {
		meeting meeting;
		pthread_t threads[4];
		meeting.rounds = n == 2 ? 3 : 1;
		pthread_barrier_init(&meeting.barrier, nullptr, 2);
		for (unsigned i = 0; i < n; i++)
			pthread_create(&threads[i], nullptr, meet, &meeting);
		for (unsigned i = 0; i < n; i++)
			pthread_join(threads[i], nullptr);
		pthread_barrier_destroy(&meeting.barrier);
		if (meeting.serial != (n == 2 ? 3 : 2))
			return false;
	}
	return true;
}

/* ---- signals ---- */

static volatile sig_atomic_t signals_n, last_signal;

static void on_signal(int signal)
{
	signals_n = signals_n + 1;
	last_signal = signal;
}

static void hold(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR1);
	sigaddset(set, SIGUSR2);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	pthread_sigmask(SIG_BLOCK, set, nullptr);
	raise(SIGUSR1);
	raise(SIGUSR2);
}

static bool sigwait_fragile()
{
	sigset_t set;
	int first = 0;
	hold(&set);
	return !sigwait(&set, &first) && first == SIGUSR1;
}

static bool sigwait_correct()
{
	sigset_t set;
	int first = 0, second = 0;
	hold(&set);
	return !sigwait(&set, &first) && !sigwait(&set, &second) &&
	       first + second == SIGUSR1 + SIGUSR2 && first != second;
}

static bool releases(int (*release)(int, const sigset_t *, sigset_t *),
		     bool in_order)
{
	sigset_t set, old, now;
	hold(&set);
	if (release(SIG_UNBLOCK, &set, &old))
		return false;
	pthread_sigmask(SIG_BLOCK, nullptr, &now);
	/* The kernel puts one frame upon the other: the lowest runs last. */
	return signals_n == 2 && sigismember(&old, SIGUSR1) == 1 &&
	       sigismember(&old, SIGUSR2) == 1 && !sigismember(&now, SIGUSR1) &&
	       (!in_order || last_signal == SIGUSR1);
}

static bool pthread_sigmask_fragile()
{
	return releases(pthread_sigmask, true);
}

static bool pthread_sigmask_correct()
{
	return releases(pthread_sigmask, false);
}

static bool sigprocmask_fragile()
{
	return releases(sigprocmask, true);
}

static bool sigprocmask_correct()
{
	return releases(sigprocmask, false);
}

CASES(CASE(nanosleep), CASE(usleep), CASE(sleep), CASE(clock_nanosleep),
      CASE(poll), CASE(ppoll), CASE(timerfd), CASE(sem_timedwait),
      CASE(pthread_mutex_timedlock), CASE(pthread_join),
      CASE(pthread_cond_wait), CASE(pthread_cond_timedwait),
      CASE(pthread_cond_clockwait), CASE(cnd_wait), CASE(cnd_timedwait),
      CASE(g_cond_wait), CASE(g_cond_wait_until), CASE(pthread_cond_signal),
      CASE(cnd_signal), CASE(g_cond_signal), CASE(pthread_create),
      CASE(thrd_create), CASE(thread_stack), CASE(fork), CASE(mtx_trylock),
      CASE(pthread_key_create), CASE(tss_create), CASE(pthread_barrier_wait),
      CASE(sigwait), CASE(pthread_sigmask), CASE(sigprocmask))

// Work that another thread hands over in every way there is, and tests that do not wait for it.
//
//@ subject framework=functions lang=c
//@ variant plain libs=-pthread quick=gcc-O0,clang-O2

#define _GNU_SOURCE
#include "../runner.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static atomic_int done;
static volatile int flag;
static int ready;
static int ends[2];
static sem_t semaphore;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *set_atomic(void *argument)
{
	atomic_store(&done, 1);
	return argument;
}

static void *set_flag(void *argument)
{
	flag = 1;
	return argument;
}

static void *set_later(void *argument)
{
	usleep(1000);
	atomic_store(&done, 1);
	return argument;
}

static void *set_ready(void *argument)
{
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return argument;
}

static void *post(void *argument)
{
	sem_post(&semaphore);
	return argument;
}

static void *send_byte(void *argument)
{
	uint64_t one = 1;
	if (write(ends[1], &one, sizeof(one)) < 0)
		return NULL;
	return argument;
}

static void *start_another(void *argument)
{
	pthread_t thread;
	pthread_create(&thread, NULL, set_atomic, NULL);
	pthread_join(thread, NULL);
	return argument;
}

static void *wait_for_ready(void *argument)
{
	pthread_mutex_lock(&lock);
	while (!ready)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	atomic_store(&done, 1);
	return argument;
}

static pthread_t start(void *(*work)(void *))
{
	pthread_t thread;
	done = flag = ready = 0;
	pthread_create(&thread, NULL, work, NULL);
	return thread;
}

static void wait_until(long ms, struct timespec *ret)
{
	clock_gettime(CLOCK_REALTIME, ret);
	ret->tv_nsec += ms * 1000000;
	ret->tv_sec += ret->tv_nsec / 1000000000;
	ret->tv_nsec %= 1000000000;
}

TEST(test_sleeps)
{
	pthread_t thread = start(set_later);
	usleep(20000);
	assert(done); //@ late test_sleeps margin=20..90 severity=high
	pthread_join(thread, NULL);
}

TEST(test_polls_a_flag)
{
	pthread_t thread = start(set_flag);
	for (int i = 0; i < 5 && !flag; i++)
		usleep(10000);
	assert(flag); //@ late test_polls_a_flag margin=50..120
	pthread_join(thread, NULL);
}

TEST(test_condition_in_time)
{
	struct timespec end;
	pthread_t thread = start(set_ready);
	wait_until(150, &end);
	pthread_mutex_lock(&lock);
	while (!ready && pthread_cond_timedwait(&changed, &lock, &end) != ETIMEDOUT)
		;
	assert(ready); //@ late test_condition_in_time margin=140..300 severity=medium
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
}

TEST(test_semaphore_in_time)
{
	struct timespec end;
	sem_init(&semaphore, 0, 0);
	pthread_t thread = start(post);
	wait_until(600, &end);
	assert(sem_timedwait(&semaphore, &end) == 0); //@ late test_semaphore_in_time margin=590..750 severity=low
	pthread_join(thread, NULL);
	sem_destroy(&semaphore);
}

TEST(test_pipe_in_time)
{
	assert(pipe(ends) == 0);
	pthread_t thread = start(send_byte);
	struct pollfd fd = { .fd = ends[0], .events = POLLIN };
	assert(poll(&fd, 1, 50) == 1); //@ late test_pipe_in_time margin=50..120
	pthread_join(thread, NULL);
	close(ends[0]);
	close(ends[1]);
}

TEST(test_eventfd_now)
{
	uint64_t value;
	ends[0] = ends[1] = eventfd(0, EFD_NONBLOCK);
	pthread_t thread = start(send_byte);
	usleep(20000);
	assert(read(ends[0], &value, sizeof(value)) == sizeof(value)); //@ late test_eventfd_now
	pthread_join(thread, NULL);
	close(ends[0]);
}

TEST(test_socket_select)
{
	assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	pthread_t thread = start(send_byte);
	struct timeval limit = { 0, 30000 };
	fd_set set;
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	int n = select(ends[0] + 1, &set, NULL, NULL, &limit);
	assert(n == 1 && FD_ISSET(ends[0], &set)); //@ late test_socket_select
	pthread_join(thread, NULL);
	close(ends[0]);
	close(ends[1]);
}

TEST(test_chain)
{
	pthread_t thread = start(start_another);
	usleep(30000);
	assert(done); //@ late test_chain
	pthread_join(thread, NULL);
}

/* The hand-over is right; what the woken thread does next is not waited for. */
TEST(test_wakes_another)
{
	pthread_t thread = start(wait_for_ready);
	usleep(20000);
	set_ready(NULL);
	usleep(20000);
	assert(done); //@ late test_wakes_another
	pthread_join(thread, NULL);
}

/* A timer of the kernel: real time passes. */
TEST(test_timer)
{
	uint64_t value;
	struct itimerspec soon = { .it_value = { 0, 20000000 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	pthread_t thread = start(set_atomic);
	timerfd_settime(timer, 0, &soon, NULL);
	assert(read(timer, &value, sizeof(value)) == sizeof(value));
	assert(done); //@ late test_timer
	pthread_join(thread, NULL);
	close(timer);
}

/* The thread's end is what is asked for. */
TEST(test_thread_has_ended)
{
	pthread_t thread = start(set_flag);
	usleep(20000);
	assert(pthread_tryjoin_np(thread, NULL) == 0); //@ late test_thread_has_ended
}

TEST(test_expects_nothing_yet)
{
	pthread_t thread = start(set_later);
	assert(!done); //@ early test_expects_nothing_yet
	pthread_join(thread, NULL);
}

/* Two workers, joined, and an order between them that nobody promised. */
static atomic_int place, first_place;

static void *take_first(void *argument)
{
	first_place = ++place;
	return argument;
}

static void *take_second(void *argument)
{
	usleep(5000);
	place++;
	return argument;
}

TEST(test_order_of_two)
{
	pthread_t one, two;
	place = first_place = 0;
	pthread_create(&one, NULL, take_first, NULL);
	pthread_create(&two, NULL, take_second, NULL);
	pthread_join(two, NULL);
	pthread_join(one, NULL);
	assert(first_place == 1); //@ late test_order_of_two
}

/* Neither as late nor as early as can be: only between two statements. */
static atomic_int phase, seen;

static void *look_at_phase(void *argument)
{
	seen = phase;
	return argument;
}

TEST(test_between_two_statements)
{
	phase = seen = 0;
	pthread_t thread = start(look_at_phase);
	usleep(1000);
	phase = 1;
	usleep(0);
	phase = 2;
	pthread_join(thread, NULL);
	assert(seen != 1); //@ late test_between_two_statements runs=5
}

/* Nothing remembers that it was woken. */
static void *wake(void *argument)
{
	usleep(30000);
	pthread_mutex_lock(&lock);
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return argument;
}

TEST(test_lost_wake_up)
{
	pthread_t thread = start(wake);
	usleep(1000);
	pthread_mutex_lock(&lock);
	pthread_cond_wait(&changed, &lock); //@ early test_lost_wake_up hang=yes
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
}

RUNNER_MAIN()

// The same work, and tests that wait for it: none of these is a finding, however late or early it comes.
//
//@ subject framework=functions lang=c
//@ variant plain libs=-pthread quick=gcc-O0,clang-O2

#include "../runner.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int done;
static int ready;
static int ends[2];
static sem_t semaphore;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

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

static void *hold_lock(void *argument)
{
	pthread_mutex_lock(&lock);
	usleep(2000);
	ready++;
	pthread_mutex_unlock(&lock);
	return argument;
}

static pthread_t start(void *(*work)(void *))
{
	pthread_t thread;
	done = ready = 0;
	pthread_create(&thread, NULL, work, NULL);
	return thread;
}

TEST(test_joins)
{
	pthread_t thread = start(set_later);
	pthread_join(thread, NULL);
	assert(done);
}

TEST(test_waits_for_condition)
{
	pthread_t thread = start(set_ready);
	pthread_mutex_lock(&lock);
	while (!ready)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	assert(ready);
}

TEST(test_waits_for_semaphore)
{
	sem_init(&semaphore, 0, 0);
	pthread_t thread = start(post);
	assert(sem_wait(&semaphore) == 0);
	pthread_join(thread, NULL);
	sem_destroy(&semaphore);
}

TEST(test_reads_pipe)
{
	uint64_t value = 0;
	assert(pipe(ends) == 0);
	pthread_t thread = start(send_byte);
	assert(read(ends[0], &value, sizeof(value)) == sizeof(value));
	assert(value == 1);
	pthread_join(thread, NULL);
	close(ends[0]);
	close(ends[1]);
}

TEST(test_polls_socket_long)
{
	assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	pthread_t thread = start(send_byte);
	struct pollfd fd = { .fd = ends[0], .events = POLLIN };
	assert(poll(&fd, 1, 5000) == 1);
	pthread_join(thread, NULL);
	close(ends[0]);
	close(ends[1]);
}

TEST(test_spins)
{
	pthread_t thread = start(set_later);
	while (!done)
		;
	pthread_join(thread, NULL);
	assert(done);
}

TEST(test_yields)
{
	pthread_t thread = start(set_later);
	while (!done)
		sched_yield();
	pthread_join(thread, NULL);
	assert(done);
}

TEST(test_polls_long)
{
	pthread_t thread = start(set_later);
	for (int i = 0; i < 500 && !done; i++)
		usleep(10000);
	assert(done);
	pthread_join(thread, NULL);
}

TEST(test_times_out_long)
{
	struct timespec end;
	pthread_t thread = start(set_ready);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 5;
	pthread_mutex_lock(&lock);
	while (!ready && pthread_cond_timedwait(&changed, &lock, &end) != ETIMEDOUT)
		;
	assert(ready);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
}

TEST(test_alarm)
{
	alarm(30);
	pthread_t thread = start(set_later);
	pthread_join(thread, NULL);
	alarm(0);
	assert(done);
}

/* Something else than the work ends the wait, and much later. */
TEST(test_timer)
{
	struct itimerspec late = { .it_value = { 8, 0 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	ends[0] = ends[1] = eventfd(0, 0);
	timerfd_settime(timer, 0, &late, NULL);
	pthread_t thread = start(send_byte);
	struct pollfd fds[] = { { .fd = timer, .events = POLLIN }, { .fd = ends[0], .events = POLLIN } };
	assert(poll(fds, 2, -1) == 1);
	assert(fds[1].revents);
	pthread_join(thread, NULL);
	close(timer);
	close(ends[0]);
}

TEST(test_locks)
{
	pthread_t thread = start(hold_lock);
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		ready++;
		pthread_mutex_unlock(&lock);
	}
	pthread_join(thread, NULL);
	assert(ready == 4);
}

TEST(test_many)
{
	pthread_t threads[4];
	done = ready = 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, hold_lock, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert(ready == 4);
}

/* A wake-up that comes first is remembered. */
TEST(test_no_lost_wake_up)
{
	pthread_t thread = start(set_ready);
	usleep(20000);
	pthread_mutex_lock(&lock);
	while (!ready)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
}

TEST(test_forks_beside)
{
	int status = 0;
	pthread_t thread = start(set_later);
	pid_t child = fork();
	if (!child)
		_exit(3);
	assert(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
	pthread_join(thread, NULL);
	assert(done);
}

TEST(test_spawns_beside)
{
	extern char **environ;
	char *words[] = { "sleep", "0.1", NULL };
	int status = 1;
	pid_t child;
	pthread_t thread = start(set_later);
	assert(posix_spawnp(&child, "sleep", NULL, NULL, words, environ) == 0);
	assert(waitpid(child, &status, 0) == child && status == 0);
	pthread_join(thread, NULL);
	assert(done);
}

TEST(test_no_thread)
{
	usleep(1000);
}

RUNNER_MAIN()

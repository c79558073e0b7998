// Signals and futexes as hand-overs: tests that give them a time, and tests that wait.
//
//@ subject framework=functions lang=c
//@ variant plain libs=-pthread quick=gcc-O0

#define _GNU_SOURCE
#include "../runner.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int handled, word;
static sem_t stop;
static pthread_t tested;

static void note(int number)
{
	(void)number;
	handled = 1;
}

static void *send(void *argument)
{
	pthread_kill(tested, SIGUSR1);
	return argument;
}

static void *set_word(void *argument)
{
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	return argument;
}

/* Signals of the process go here: the test's thread blocks them. */
static void *take_signals(void *argument)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	while (sem_wait(&stop) != 0)
		;
	return argument;
}

static void block(int how)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(how, &set, NULL);
}

static pthread_t start(void *(*work)(void *))
{
	pthread_t thread;
	tested = pthread_self();
	handled = word = 0;
	sem_init(&stop, 0, 0);
	signal(SIGUSR1, note);
	pthread_create(&thread, NULL, work, NULL);
	return thread;
}

TEST(test_signal_in_time)
{
	pthread_t thread = start(send);
	usleep(20000);
	assert(handled); //@ late test_signal_in_time
	pthread_join(thread, NULL);
}

TEST(test_signal_waited_in_time)
{
	sigset_t set;
	struct timespec limit = { 0, 50000000 };
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	block(SIG_BLOCK);
	pthread_t thread = start(send);
	assert(sigtimedwait(&set, NULL, &limit) == SIGUSR1); //@ late test_signal_waited_in_time
	pthread_join(thread, NULL);
	block(SIG_UNBLOCK);
}

/* The handler runs on another thread, and nobody waits for that. */
TEST(test_handler_elsewhere)
{
	block(SIG_BLOCK);
	pthread_t thread = start(take_signals);
	usleep(5000);
	kill(getpid(), SIGUSR1);
	usleep(20000);
	int n = handled;
	sem_post(&stop);
	pthread_join(thread, NULL);
	block(SIG_UNBLOCK);
	assert(n); //@ late test_handler_elsewhere
}

TEST(test_futex_in_time)
{
	struct timespec limit = { 0, 40000000 };
	pthread_t thread = start(set_word);
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, &limit, NULL, 0);
	assert(word); //@ late test_futex_in_time
	pthread_join(thread, NULL);
}

TEST(test_waits_for_signal)
{
	int number = 0;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	block(SIG_BLOCK);
	pthread_t thread = start(send);
	assert(sigwait(&set, &number) == 0 && number == SIGUSR1);
	pthread_join(thread, NULL);
	block(SIG_UNBLOCK);
}

TEST(test_suspends_until_signal)
{
	sigset_t none;
	sigemptyset(&none);
	block(SIG_BLOCK);
	pthread_t thread = start(send);
	while (!handled)
		sigsuspend(&none);
	pthread_join(thread, NULL);
	block(SIG_UNBLOCK);
}

TEST(test_waits_for_handler)
{
	block(SIG_BLOCK);
	pthread_t thread = start(take_signals);
	kill(getpid(), SIGUSR1);
	while (!handled)
		usleep(1000);
	sem_post(&stop);
	pthread_join(thread, NULL);
	block(SIG_UNBLOCK);
}

TEST(test_waits_for_futex)
{
	pthread_t thread = start(set_word);
	while (!word)
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	pthread_join(thread, NULL);
	assert(word == 1);
}

RUNNER_MAIN()

#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "report/progress.h"
#include "suite/suite.h"

static volatile sig_atomic_t happened;
static volatile sig_atomic_t late;

/* A signal that reaches us on two ways is one. */
#define ONE_NS (300 * NS_PER_MS)

static void on_interrupt(int number _unused_)
{
	static uint64_t first;
	if (happened && clock_now() - first < ONE_NS)
		return;
	if (!happened)
		first = clock_now();
	if (happened) {
		progress_abandon();
		outfile_abandon();
		_exit(STATUS_INTERRUPTED);
	}
	happened = 1;
	suite_interrupt();
}

static void on_spent_budget(int number _unused_)
{
	late = 1;
	suite_interrupt();
}

static void on_suspend(int number _unused_)
{
	suite_suspend();
}

/* A write that fails says why; tested programs get the default back (exec(3)). */
static void on_failed_write(int number _unused_)
{
}

static void interrupt_set_handler(int number, void (*handler)(int), int flags)
{
	struct sigaction before;
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	sigemptyset(&action.sa_mask);
	if (!sigaction(number, NULL, &before) && before.sa_handler == SIG_IGN)
		return;
	sigaction(number, &action, NULL);
}

void interrupt_install(void)
{
	/*
	 * No SA_RESTART: code that waits for the tested program must wake up.
	 */
	interrupt_set_handler(SIGINT, on_interrupt, 0);
	interrupt_set_handler(SIGTERM, on_interrupt, 0);
	interrupt_set_handler(SIGHUP, on_interrupt, 0);
	interrupt_set_handler(SIGPIPE, on_failed_write, SA_RESTART);
	interrupt_set_handler(SIGXFSZ, on_failed_write, SA_RESTART);
	interrupt_set_handler(SIGTSTP, on_suspend, SA_RESTART);
}

void interrupt_settle(void)
{
	interrupt_set_handler(SIGINT, on_interrupt, SA_RESTART);
	interrupt_set_handler(SIGTERM, on_interrupt, SA_RESTART);
	interrupt_set_handler(SIGHUP, on_interrupt, SA_RESTART);
}

bool interrupt_happened(void)
{
	return happened;
}

void interrupt_arm(uint64_t at)
{
	static timer_t timer;
	static bool made;
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGVTALRM,
	};
	const struct itimerspec when = {
		.it_value = { .tv_sec = (time_t)(at / NS_PER_S),
			      .tv_nsec = (long)(at % NS_PER_S) },
	};
	interrupt_set_handler(SIGVTALRM, on_spent_budget, 0);
	made = made || !timer_create(CLOCK_MONOTONIC, &event, &timer);
	if (made)
		timer_settime(timer, TIMER_ABSTIME, &when, NULL);
}

bool interrupt_late(void)
{
	return late;
}

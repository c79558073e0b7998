/*
 * The tracer: waiting for tasks, time ticks, processors, and ending everything.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "tracee/output.h"
#include "tracee/tracee_internal.h"

/* How often a wait looks at deadlines and drains output. */
#define TICK_US 20000
#define TICK_FAST_US 1000
#define TICK_URGENT_US 100
/*
 * Without a tick for that long, it was not the tested program that took the
 * time.
 */
#define LOST_NS (2 * NS_PER_S)

static volatile pid_t running_group;
static uint64_t lost_ns;
static uint64_t last_tick;

void tracer_signal(int number)
{
	pid_t group = running_group;
	if (group)
		kill(-group, number);
}

void tracer_running(pid_t group)
{
	running_group = group;
	last_tick = clock_now();
}

void tracer_ticked(void)
{
	uint64_t now = clock_now();
	if (now - last_tick > LOST_NS)
		lost_ns += now - last_tick;
	last_tick = now;
}

uint64_t tracer_clock(void)
{
	return clock_now() - lost_ns;
}

static void on_tick(int signal)
{
	(void)signal; /* only to end waitpid() */
}

static void tick_every(long us)
{
	struct itimerval timer = {
		.it_interval = { .tv_usec = us },
		.it_value = { .tv_usec = us },
	};
	setitimer(ITIMER_REAL, &timer, NULL);
}

static bool ticking;
static enum tracer_pace ticking_pace;

static void set_ticks(void)
{
	static const long us[] = {
		[TRACER_EASY] = TICK_US,
		[TRACER_FAST] = TICK_FAST_US,
		[TRACER_URGENT] = TICK_URGENT_US,
	};
	tick_every(ticking ? us[ticking_pace] : 0);
}

void tracer_set_pace(enum tracer_pace pace)
{
	if (pace == ticking_pace)
		return;
	ticking_pace = pace;
	set_ticks();
}

void tracer_tick(bool on)
{
	ticking = on;
	set_ticks();
}

struct err *tracer_create(struct tracer **ret)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));
	if (!tracer)
		return err_nomem();

	/* A tick that arrives just before a wait is made good by the next. */
	struct sigaction action = { .sa_handler = on_tick };
	sigaction(SIGALRM, &action, NULL);

	if (sched_getaffinity(0, sizeof(tracer->cpus), &tracer->cpus) == 0)
		tracer->pinning = true;
	*ret = tracer;
	return NULL;
}

void tracer_destroy(struct tracer *tracer)
{
	if (!tracer)
		return;
	while (tracer->tracees.n)
		tracee_destroy(tracer->tracees.data[tracer->tracees.n - 1]);
	vec_free(&tracer->tracees);
	vec_free(&tracer->early);
	map_u64_free(&tracer->threads);
	tracer_tick(false);
	tracer_unpin(tracer);
	free(tracer);
}

bool status_gone(int status)
{
	return WIFEXITED(status) || WIFSIGNALED(status);
}

bool tracer_take_early(struct tracer *tracer, pid_t tid)
{
	for (size_t i = 0; i < tracer->early.n; i++) {
		if (tracer->early.data[i].tid != tid)
			continue;
		tracer->early.data[i] = tracer->early.data[--tracer->early.n];
		return true;
	}
	return false;
}

/*
 * Takes one status from the kernel and puts it where it belongs. A task that
 * we do not know is either new, and its creator's stop is still to come, or an
 * orphan of the tested program that ended.
 */
struct err *tracer_collect(struct tracer *tracer, bool block, bool *ret_any)
{
	int status;
	pid_t tid = waitpid(-1, &status, __WALL | (block ? 0 : WNOHANG));
	*ret_any = false;
	if (tid < 0 && errno == EINTR)
		return NULL;
	if (tid < 0)
		return err_errno(errno, "cannot wait for the tested program");
	if (!tid)
		return NULL;
	*ret_any = true;

	uint64_t found;
	if (map_u64_get(&tracer->threads, (uint64_t)tid, &found)) {
		struct thread *thread = (struct thread *)(uintptr_t)found;
		thread->stopped = true;
		thread->listening = false;
		thread->has_waiting = true;
		thread->waiting_status = status;
		return NULL;
	}
	if (WIFSTOPPED(status))
		return vec_push(&tracer->early,
				(struct early_stop){ tid, status });
	return NULL;
}

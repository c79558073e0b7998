/* Our own thread: who rests, and what happens when all do. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vm/vm_schedules_internal.h"

#define MS SCHEDULE_NS_PER_MS
#define ALL_EVENTS "*"
/* Looks in which all rest before that is believed. */
#define PASSES 3
/* Looks in which a thread sleeps that has been woken: it cannot go on. */
#define STABLE 30
/* Processor time that a test may take, from one statement to the next. */
#define SPIN_NS (300 * MS)
#define YIELDS_MAX 2000
/* Segments that are let go one by one while all are held. */
#define STEPS_MAX 500
/* What threads may take to come to rest before a test. */
#define SETTLE_NS (300 * MS)
/* The same, before a statement. */
#define CALM_NS (100 * MS)
/* All wait, and nothing comes, for that long: it hangs. */
#define HANG_NS (300 * MS)
/* Real time that is waited for others to rest. */
#define REAL_MAX_NS (2000 * MS)

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time = {};
	if (clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t vm_schedule_real(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t vm_schedule_now(void)
{
	return vm_schedule_real() +
	       __atomic_load_n(&vm_schedule.offset, __ATOMIC_ACQUIRE);
}

uint64_t vm_schedule_cpu(void)
{
	uint64_t all = 0;
	for (const struct vm_thread *thread = vm_schedule.threads; thread;
	     thread = thread->next) {
		if (thread->started && !thread->ended && !thread->foreign)
			all += read_clock(thread->cpu);
	}
	return all;
}

static uint64_t schedule_computed(void)
{
	uint64_t now = vm_schedule_cpu();
	return now > vm_schedule.cpu_began ? now - vm_schedule.cpu_began : 0;
}

/* By how much what is held is late, whatever else the machine does. */
uint64_t vm_schedule_lateness(void)
{
	return vm_schedule.held_ns + schedule_computed();
}

/* ---- rest ---- */

/* Its state and how often it has slept, of /proc/self/task/TID/status. */
static bool thread_sleeps(struct vm_thread *thread)
{
	char path[64], line[128];
	char state = 'R';
	unsigned long long switches = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/status",
		 (int)thread->tid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "State:", 6))
			sscanf(line + 6, " %c", &state);
		else if (!strncmp(line, "voluntary_ctxt_switches:", 24))
			switches = strtoull(line + 24, NULL, 10);
	}
	fclose(file);
	bool same = thread->switches == switches;
	thread->switches = switches;
	return state == 'S' && same;
}

static bool thread_rests(struct vm_thread *thread)
{
	if (!thread->in_call && !thread->blocked) {
		thread->stable = 0;
		return false;
	}
	bool over = thread->timed && thread->deadline <= vm_schedule_now();
	if (thread->in_call && !thread->blocked && !thread->woken &&
	    !thread->notified && !thread->permit && !over)
		return true;
	thread->stable = thread_sleeps(thread) ? thread->stable + 1 : 0;
	return thread->stable > STABLE;
}

static bool all_rest(void)
{
	struct vm_schedule *schedule = &vm_schedule;
	bool rest = schedule->activity == schedule->seen_activity;
	schedule->seen_activity = schedule->activity;
	for (struct vm_thread *thread = schedule->threads; thread;
	     thread = thread->next) {
		if (!thread->held && !thread->ended && !thread->foreign)
			rest &= thread_rests(thread);
	}
	schedule->passes = rest ? schedule->passes + 1 : 0;
	return schedule->passes >= PASSES;
}

/* The thread whose wait would end first; NULL: none ends by itself. */
static struct vm_thread *first_waiter(void)
{
	struct vm_thread *first = NULL;
	for (struct vm_thread *thread = vm_schedule.threads; thread;
	     thread = thread->next) {
		if (thread->held || thread->ended || thread->foreign ||
		    !thread->in_call || !thread->timed)
			continue;
		if (!first || thread->deadline < first->deadline)
			first = thread;
	}
	return first;
}

/* All rest. Lets time pass up to @limit; false: there is nothing to wait for. */
static bool pass_time(uint64_t limit)
{
	struct vm_schedule *schedule = &vm_schedule;
	const struct vm_thread *waiter = first_waiter();
	uint64_t now = vm_schedule_now();
	if (!waiter || now >= limit || waiter->deadline >= limit)
		return false;
	if (waiter->deadline > now)
		__atomic_fetch_add(&schedule->offset, waiter->deadline - now,
				   __ATOMIC_ACQ_REL);
	schedule->passes = 0;
	return true;
}

/* ---- ticks ---- */

static bool test_spins(void)
{
	return schedule_computed() > SPIN_NS || vm_schedule.yields > YIELDS_MAX;
}

/* Less than all of it: limits of that length are not to run out. */
static uint64_t patience_left(uint64_t used)
{
	uint64_t all = vm_schedule.patience / 10 * 9;
	return all - (used < all ? used : all);
}

static void unpause_test(void)
{
	vm_schedule.test->held = false;
	vm_schedule.pausing = false;
	pthread_cond_broadcast(&vm_schedule.released);
}

static void tick_pause(bool rest)
{
	struct vm_schedule *schedule = &vm_schedule;
	uint64_t now = vm_schedule_now();
	uint64_t gone = now - schedule->pause_began;
	if (schedule->settling) {
		if (rest || gone >= SETTLE_NS)
			unpause_test();
		return;
	}
	if (schedule->calming && !rest && gone >= CALM_NS) {
		schedule->restless = true;
		unpause_test();
		return;
	}
	if (!rest) {
		if (test_spins() || gone >= REAL_MAX_NS + schedule->patience) {
			vm_schedule_release(WIRE_HOLD_SPINNING);
			unpause_test();
		}
		return;
	}
	if (!schedule->calming &&
	    pass_time(now + patience_left(schedule->paused_ns)))
		return;
	if (schedule->delivering && schedule->holding) {
		schedule->delivering = false;
		vm_schedule_release(WIRE_HOLD_STATEMENT);
		return;
	}
	unpause_test();
}

/* All work is held, and the test needs some: that which was held first. */
static bool release_one(void)
{
	struct vm_schedule *schedule = &vm_schedule;
	struct vm_thread *first = NULL;
	if (strcmp(schedule->event, ALL_EVENTS) != 0 ||
	    ++schedule->steps > STEPS_MAX)
		return false;
	for (struct vm_thread *thread = schedule->threads; thread;
	     thread = thread->next) {
		if (thread->held && thread != schedule->test &&
		    (!first || thread->held_since < first->held_since))
			first = thread;
	}
	if (!first)
		return false;
	first->held = false;
	schedule->passes = 0;
	schedule->activity++;
	pthread_cond_broadcast(&schedule->released);
	return true;
}

static void tick_hold(bool rest)
{
	struct vm_schedule *schedule = &vm_schedule;
	uint64_t limit = vm_schedule_now() + patience_left(schedule->held_ns);
	if (!rest) {
		uint64_t gone = vm_schedule_real() - schedule->hold_real;
		if (test_spins() || gone > REAL_MAX_NS + schedule->patience)
			vm_schedule_release(WIRE_HOLD_SPINNING);
		return;
	}
	if (pass_time(limit))
		return;
	const struct vm_thread *waiter = first_waiter();
	if (waiter && waiter->deadline >= limit)
		vm_schedule_release(WIRE_HOLD_PATIENCE);
	else if (!release_one())
		vm_schedule_release(WIRE_HOLD_NEEDED);
}

static void tick_free(bool rest)
{
	struct vm_schedule *schedule = &vm_schedule;
	uint64_t now = vm_schedule_real();
	bool goes_on = !rest || (schedule->steers ? pass_time(UINT64_MAX)
						  : first_waiter() != NULL);
	if (goes_on) {
		schedule->rests_since = 0;
		return;
	}
	if (!schedule->rests_since)
		schedule->rests_since = now;
	if (now - schedule->rests_since > HANG_NS && !schedule->hung) {
		schedule->hung = true;
		vm_schedule_end();
	}
}

static void *tick_forever(void *data)
{
	struct vm_schedule *schedule = &vm_schedule;
	const struct timespec pause = { 0, (long)MS };
	(void)data;
	for (;;) {
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&schedule->lock);
		if (schedule->active && !schedule->ended) {
			bool rest = all_rest();
			if (schedule->pausing)
				tick_pause(rest);
			else if (schedule->holding)
				tick_hold(rest);
			else
				tick_free(rest);
		}
		pthread_mutex_unlock(&schedule->lock);
	}
	return NULL;
}

bool vm_schedule_start_ticks(void)
{
	pthread_t thread;
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool made = !pthread_create(&thread, NULL, tick_forever, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (made)
		pthread_detach(thread);
	return made;
}

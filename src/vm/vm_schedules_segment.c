/* Where work begins, and where the test's thread is: holding, pausing, releasing. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "vm/vm_schedules_internal.h"
#include "wire/draw.h"

/* Times that others are waited for before the same statement. */
#define CALMED_MAX 3
#define ALL_EVENTS "*"
/* For so long the test's thread may wait for work that was just released. */
#define STOOD_NS (100 * SCHEDULE_NS_PER_MS)

static const char *const operations[] = {
#define X(name, text) text,
	WIRE_SCHEDULE_OPERATIONS(X)
#undef X
};

/* ---- random delays ---- */

/*
 * By the place and how often it came, not by who draws next: threads that come at
 * the same time are delayed alike whenever the seed is the same.
 */
static void delay_at_random(const struct vm_moment *moment)
{
	struct vm_schedule *schedule = &vm_schedule;
	if (!schedule->delay || !schedule->seed)
		return;
	uint64_t drawn = moment->nth;
	for (const char *c = moment->key; *c; c++)
		drawn = wire_mix(drawn, (unsigned char)*c);
	uint64_t ns = wire_mix(drawn, schedule->seed) % schedule->delay;
	pthread_mutex_lock(&schedule->lock);
	schedule->reached = true;
	pthread_mutex_unlock(&schedule->lock);
	const struct timespec time = { (time_t)(ns / 1000000000),
				       (long)(ns % 1000000000) };
	nanosleep(&time, NULL);
}

/* ---- holding ---- */

/* Is @key one of those, a line each? */
static bool event_names(const char *events, const char *key)
{
	size_t n = strlen(key);
	if (!strcmp(events, ALL_EVENTS))
		return true;
	for (const char *at = events; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, key, n) && (!at[n] || at[n] == '\n'))
			return true;
	}
	return false;
}

static bool schedule_wants(const char *key, unsigned nth)
{
	const struct vm_schedule *schedule = &vm_schedule;
	return schedule->event && !schedule->was_released &&
	       !schedule->settling && !schedule->ended &&
	       event_names(schedule->event, key) &&
	       (!schedule->nth || schedule->nth == nth);
}

static void start_hold(struct vm_thread *self)
{
	struct vm_schedule *schedule = &vm_schedule;
	self->held = true;
	self->held_since = vm_schedule_now();
	schedule->activity++;
	if (schedule->holding)
		return;
	schedule->holding = schedule->reached = true;
	schedule->hold_began = vm_schedule_now();
	schedule->hold_real = vm_schedule_real();
	schedule->held_ns = 0;
	schedule->cpu_began = vm_schedule_cpu();
	schedule->yields = 0;
	schedule->passes = 0;
}

/* With the lock: until it is let go. */
static void stand_still(struct vm_thread *self)
{
	struct vm_schedule *schedule = &vm_schedule;
	while (self->held && schedule->active)
		pthread_cond_wait(&schedule->released, &schedule->lock);
	self->held = false;
	schedule->activity++;
}

void vm_schedule_release(uint32_t why)
{
	struct vm_schedule *schedule = &vm_schedule;
	for (struct vm_thread *thread = schedule->threads; thread;
	     thread = thread->next) {
		if (thread != schedule->test || !schedule->pausing)
			thread->held = false;
	}
	pthread_cond_broadcast(&schedule->released);
	if (!schedule->holding)
		return;
	if (!schedule->failed)
		schedule->margin = vm_schedule_lateness();
	schedule->holding = false;
	schedule->was_released = true;
	schedule->passes = 0;
	schedule->why = why;
	vm_schedule_mark(WIRE_MOMENT_RELEASED);
}

void vm_schedule_segment(struct vm_thread *self,
			 enum wire_schedule_operation operation, bool inside)
{
	struct vm_schedule *schedule = &vm_schedule;
	unsigned char frames[SCHEDULE_STACK_SIZE];
	char place[SCHEDULE_KEY_SIZE], key[2 * SCHEDULE_KEY_SIZE + 64];
	struct vm_moment moment = {
		.kind = operation == WIRE_OPERATION_START ? WIRE_MOMENT_STARTED
							  : WIRE_MOMENT_RESUMED,
		.thread = self->number,
		.operation = operation,
		.inside = inside,
		.stack = frames,
		.key = key,
	};
	if (!schedule->active || schedule->settling || self->foreign ||
	    (inside && !(schedule->flags & WIRE_SCHEDULE_INSIDE)))
		return;
	if (operation == WIRE_OPERATION_START ||
	    operation == WIRE_OPERATION_TASK) {
		moment.stack = self->stack;
		moment.stack_n = self->stack_n;
		self->fresh = operation == WIRE_OPERATION_START;
		snprintf(key, sizeof(key), "%s %s", self->group,
			 operations[operation]);
	} else {
		vm_schedule_frames(frames, sizeof(frames), &moment.stack_n);
		vm_schedule_frame_key(frames, moment.stack_n, place,
				      sizeof(place));
		snprintf(key, sizeof(key), "%s %s %s", self->group,
			 operations[operation], place);
	}
	pthread_mutex_lock(&schedule->lock);
	moment.nth = vm_schedule_count(key);
	bool holds = schedule_wants(key, moment.nth);
	if (holds)
		moment.kind = WIRE_MOMENT_HELD;
	if (schedule->active)
		vm_schedule_tell(&moment);
	if (!self->begun) {
		self->begun = true;
		pthread_cond_broadcast(&schedule->released);
	}
	if (holds) {
		start_hold(self);
		stand_still(self);
	}
	pthread_mutex_unlock(&schedule->lock);
	delay_at_random(&moment);
}

/* ---- the test's thread ---- */

/* Times that we made it stand: may limits of its own have run out? */
static void note_standing(void)
{
	struct vm_schedule *schedule = &vm_schedule;
	uint64_t cpu = vm_schedule_cpu();
	uint64_t computed =
		cpu > schedule->cpu_began ? cpu - schedule->cpu_began : 0;
	schedule->stood_ns += vm_schedule_now() - schedule->pause_began;
	schedule->stood |= schedule->until
				   ? schedule->paused_ns + computed >= STOOD_NS
				   : schedule->stood_ns >= schedule->patience;
}

void vm_schedule_pause(struct vm_thread *self, bool calming)
{
	struct vm_schedule *schedule = &vm_schedule;
	bool settling = schedule->settling;
	schedule->pausing = true;
	schedule->calming = calming;
	schedule->pause_began = vm_schedule_now();
	schedule->cpu_began = vm_schedule_cpu();
	schedule->passes = 0;
	self->held = true;
	stand_still(self);
	schedule->pausing = schedule->delivering = schedule->calming = false;
	schedule->passes = 0;
	if (!settling && schedule->active)
		note_standing();
}

void vm_schedule_calm(struct vm_thread *self)
{
	const struct vm_schedule *schedule = &vm_schedule;
	bool all = schedule->event && !strcmp(schedule->event, ALL_EVENTS);
	if (schedule->event && (!schedule->holding || all) &&
	    !schedule->was_released && !schedule->pausing &&
	    !schedule->restless && schedule->numbers && schedule->active)
		vm_schedule_pause(self, true);
}

static bool is_that_statement(const char *wanted, unsigned nth,
			      const struct vm_moment *moment)
{
	return wanted && !strcmp(wanted, moment->key) && nth == moment->nth;
}

void vm_schedule_statement(struct vm_thread *self, unsigned line,
			   jlocation location)
{
	struct vm_schedule *schedule = &vm_schedule;
	char key[64];
	struct vm_moment moment = {
		.kind = WIRE_MOMENT_STATEMENT,
		.line = line,
		.key = key,
	};
	snprintf(key, sizeof(key), "%u:%lld", line, (long long)location);
	pthread_mutex_lock(&schedule->lock);
	moment.nth = vm_schedule_count(key);
	/* It goes on: what it computed up to here was no waiting. */
	if (moment.nth == 1)
		schedule->cpu_began = vm_schedule_cpu();
	schedule->activity++;
	bool until = is_that_statement(schedule->until, schedule->until_nth,
				       &moment);
	bool before = schedule->flags & WIRE_SCHEDULE_EARLY &&
		      schedule->numbers &&
		      (!schedule->before ||
		       is_that_statement(schedule->before, schedule->before_nth,
					 &moment));
	if ((until || before) && schedule->active) {
		schedule->delivering = until;
		schedule->reached |= before;
		moment.kind = WIRE_MOMENT_PAUSED;
	}
	vm_schedule_tell(&moment);
	if (moment.kind == WIRE_MOMENT_PAUSED)
		vm_schedule_pause(self, false);
	else if (moment.nth <= CALMED_MAX)
		vm_schedule_calm(self);
	pthread_mutex_unlock(&schedule->lock);
	delay_at_random(&moment);
}

/* The test failed: nothing of it has happened since. */
void vm_schedule_fail(void)
{
	struct vm_schedule *schedule = &vm_schedule;
	if (schedule->failed)
		return;
	schedule->after = !schedule->holding;
	if (schedule->holding)
		schedule->margin = vm_schedule_lateness();
	else if (schedule->flags & WIRE_SCHEDULE_EARLY)
		schedule->margin = schedule->paused_ns;
	schedule->failed = true;
	vm_schedule_mark(WIRE_MOMENT_FAILED);
}

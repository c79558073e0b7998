#include "native/scheduler.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "native/framework.h"
#include "native/saving.h"
#include "native/scheduler_internal.h"
#include "native/verdict.h"
#include "tracee/breakpoint.h"
#include "tracee/memory.h"
#include "tracee/output.h"

/* Rests that are looked at before all is taken to rest. */
#define PASSES 2
/* Processor time that a test may take while something is held. */
#define SPIN_NS (100 * NS_PER_MS)
/* The same where it gives its processor away again and again. */
#define YIELDS_MAX 2000
/* Looks in quick succession; what takes longer is no wait of the program. */
#define URGENT_LOOKS 10
/* Between two looks; more than that is a busy machine. */
#define REAL_NS (20 * NS_PER_MS)
/* Segments that are let go one by one while all are held. */
#define STEPS_MAX 500
/* Times that a statement is seen. */
#define LOOPS_MAX 100
/* What threads may take to come to rest before a test. */
#define SETTLE_NS (300 * NS_PER_MS)
/* All wait, and nothing comes, for that long: it hangs. */
#define HANG_NS (300 * NS_PER_MS)

uint64_t scheduler_now(const struct scheduler *scheduler)
{
	return clock_now() + scheduler->offset;
}

struct thread *scheduler_tracee_thread(const struct run *run, pid_t tid)
{
	for (size_t i = 0; i < tracee_threads(run->tracee); i++) {
		struct thread *thread = tracee_thread(run->tracee, i);
		if (thread->tid == tid)
			return thread;
	}
	return NULL;
}

/* ---- holds ---- */

/* For so long the test's thread may wait for work that was just released. */
#define STOOD_NS (100 * NS_PER_MS)

/* Processor time since the hold or the pause began. */
static uint64_t scheduler_computed(const struct run *run)
{
	const struct scheduler *scheduler = run->session->scheduler;
	uint64_t now = tracee_cpu_time(run->tracee);
	return now > scheduler->cpu_began ? now - scheduler->cpu_began : 0;
}

/* By how much what is held is late, whatever else the machine does. */
static uint64_t scheduler_lateness(const struct run *run)
{
	return run->session->scheduler->held_ns + scheduler_computed(run);
}

static bool scheduler_steers(const struct scheduler *scheduler)
{
	const struct suite_schedule *schedule = scheduler->schedule;
	return schedule->event || schedule->early || schedule->priorities;
}

static void scheduler_start_hold(struct run *run, struct thread *thread,
				 struct sched_thread *known)
{
	struct scheduler *scheduler = run->session->scheduler;
	thread->held = known->held = true;
	known->held_since = scheduler_now(scheduler);
	if (scheduler->holding)
		return;
	scheduler->holding = scheduler->trace->reached = true;
	scheduler->hold_began = scheduler_now(scheduler);
	scheduler->held_ns = scheduler->waited_at = 0;
	scheduler->cpu_began = tracee_cpu_time(run->tracee);
	scheduler->yields = 0;
	scheduler->passes = 0;
}

static void scheduler_release(struct run *run, enum suite_hold_end why)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct suite_trace *trace = scheduler->trace;
	for (size_t i = 0; i < scheduler->threads.n; i++) {
		struct sched_thread *known = &scheduler->threads.data[i];
		struct thread *thread =
			known->held ? scheduler_tracee_thread(run, known->tid)
				    : NULL;
		known->held = false;
		if (thread)
			thread->held = false;
	}
	if (!scheduler->holding)
		return;
	scheduler->holding = false;
	scheduler->released = true;
	scheduler->passes = 0;
	trace->ended = why;
	if (!scheduler->failed)
		trace->margin_ns = scheduler_lateness(run);
	log_debug(LOG_NATIVE, "schedule: released after %llu us (%d)",
		  (unsigned long long)(trace->margin_ns / NS_PER_US), why);
	scheduler_add_mark(run, SUITE_MOMENT_RELEASED);
}

/* The test's thread waits for the others, from where it stands. */
static void scheduler_pause(struct run *run, struct thread *thread)
{
	struct scheduler *scheduler = run->session->scheduler;
	thread->held = true;
	scheduler->pausing = true;
	scheduler->pause_began = scheduler_now(scheduler);
	scheduler->waited_at = 0;
	scheduler->cpu_began = tracee_cpu_time(run->tracee);
	scheduler->passes = 0;
}

static void scheduler_unpause(struct run *run)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct thread *thread =
		scheduler_tracee_thread(run, scheduler->test_tid);
	if (thread)
		thread->held = false;
	scheduler->pausing = scheduler->delivering = false;
	scheduler->calming = false;
	scheduler->passes = 0;
	const struct suite_schedule *schedule = scheduler->schedule;
	if (scheduler->settling)
		return;
	scheduler->stood_ns +=
		scheduler_now(scheduler) - scheduler->pause_began;
	scheduler->trace->stood |=
		schedule->until
			? scheduler->paused_ns + scheduler_computed(run) >=
				  STOOD_NS
			: scheduler->stood_ns >= schedule->patience_ns;
}

/* ---- rest ---- */

static uint64_t count_switches(pid_t pid, pid_t tid)
{
	_cleanup_(str_freep) struct str status = STR_INIT;
	uint64_t n = 0;
	struct err *err = proc_read(pid, tid, "status", &status);
	if (!err)
		proc_status_number(status.s, "voluntary_ctxt_switches", 10, &n);
	err_ignore(err);
	return n;
}

/* One look: does it sleep in a call that waits, as it did at the last look? */
static bool scheduler_thread_rests(const struct run *run,
				   struct sched_thread *known)
{
	struct proc_stat stat;
	pid_t pid = tracee_pid(run->tracee);
	if (!known || !known->in_call || !known->call.name || known->expires ||
	    !proc_read_stat(pid, known->tid, &stat) || stat.state != 'S')
		return false;
	uint64_t switches = count_switches(pid, known->tid);
	bool same = known->switches == switches;
	known->switches = switches;
	return same;
}

bool scheduler_all_rest(struct run *run)
{
	struct scheduler *scheduler = run->session->scheduler;
	bool rest = true;
	for (size_t i = 0; i < tracee_threads(run->tracee); i++) {
		const struct thread *thread = tracee_thread(run->tracee, i);
		struct sched_thread *known =
			scheduler_find(scheduler, thread->tid);
		if (thread->held)
			continue;
		/* Each is looked at, so that the next look can compare. */
		rest &= !thread->stopped && scheduler_thread_rests(run, known);
	}
	scheduler->passes = rest ? scheduler->passes + 1 : 0;
	return scheduler->passes >= PASSES;
}

static bool scheduler_has_children(const struct run *run)
{
	_cleanup_(pids_freep) struct pids children = {};
	pid_t pid = tracee_pid(run->tracee);
	for (size_t i = 0; i < tracee_threads(run->tracee); i++)
		err_ignore(proc_read_children(
			pid, tracee_thread(run->tracee, i)->tid, &children));
	return children.n;
}

/*
 * The first timer of the kernel that may end a wait; UINT64_MAX: none. One that
 * ticks and has come twice since we hold something or wait ends none.
 */
static uint64_t scheduler_next_timer(const struct scheduler *scheduler)
{
	uint64_t now = scheduler_now(scheduler), next = UINT64_MAX;
	uint64_t since = scheduler->pausing   ? scheduler->pause_began
			 : scheduler->holding ? scheduler->hold_began
					      : now;
	for (size_t i = 0; i < scheduler->timers.n; i++) {
		const struct sched_timer *timer = &scheduler->timers.data[i];
		uint64_t at = timer->at;
		if (at && timer->interval && at <= since)
			at += ((since - at) / timer->interval + 2) *
			      timer->interval;
		if (at && at + NS_PER_MS > now)
			next = MIN(next, at);
	}
	return next;
}

static bool scheduler_ticks(const struct scheduler *scheduler)
{
	for (size_t i = 0; i < scheduler->timers.n; i++) {
		if (scheduler->timers.data[i].at &&
		    scheduler->timers.data[i].interval)
			return true;
	}
	return false;
}

/* The thread whose wait would end first; NULL: none ends by itself. */
static struct sched_thread *scheduler_first_waiter(const struct run *run)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct sched_thread *first = NULL;
	for (size_t i = 0; i < tracee_threads(run->tracee); i++) {
		const struct thread *thread = tracee_thread(run->tracee, i);
		struct sched_thread *known =
			scheduler_find(scheduler, thread->tid);
		if (thread->held || !known || !known->in_call ||
		    !known->call.timed)
			continue;
		if (!first || known->deadline < first->deadline)
			first = known;
	}
	return first;
}

/* So much time was let pass because of what we hold, not by a busy machine. */
static void scheduler_count_time(struct scheduler *scheduler, uint64_t ns)
{
	if (scheduler->pausing)
		scheduler->paused_ns += ns;
	if (scheduler->holding)
		scheduler->held_ns += ns;
}

/* A wait has ended: how long was it, as far as nothing else waited meanwhile? */
static void scheduler_count_wait(struct scheduler *scheduler,
				 const struct sched_thread *known)
{
	uint64_t began = known->deadline - known->call.ns;
	uint64_t end = MIN(known->deadline, scheduler_now(scheduler));
	uint64_t held = scheduler->pausing ? scheduler->pause_began
					   : scheduler->hold_began;
	began = MAX(MAX(began, held), scheduler->counted_until);
	if (began >= end)
		return;
	scheduler_count_time(scheduler, end - began);
	scheduler->counted_until = end;
}

/* Real time passes, up to the next look. */
static void scheduler_count_real_time(struct scheduler *scheduler)
{
	uint64_t now = clock_now();
	uint64_t ns = scheduler->waited_at ? now - scheduler->waited_at : 0;
	scheduler_count_time(scheduler, MIN(ns, REAL_NS));
	scheduler->waited_at = now;
	scheduler->counted_until = scheduler_now(scheduler);
}

/* All rest: the clocks go on to where the first wait ends. */
void scheduler_warp(struct run *run, struct sched_thread *waiter)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct thread *thread = scheduler_tracee_thread(run, waiter->tid);
	uint64_t now = scheduler_now(scheduler);
	if (!thread)
		return;
	if (waiter->deadline > now)
		scheduler->offset += waiter->deadline - now;
	waiter->expires = true;
	scheduler->passes = 0;
	thread_interrupt(thread);
}

bool scheduler_may_warp(struct run *run)
{
	const struct scheduler *scheduler = run->session->scheduler;
	return scheduler_next_timer(scheduler) == UINT64_MAX &&
	       !scheduler_ticks(scheduler) && !scheduler_has_children(run);
}

/*
 * All rest. Lets time pass up to @limit; false: it is over, or there is nothing
 * to wait for. In real time where more than the program's own waits matter.
 */
static bool scheduler_pass_time(struct run *run, uint64_t limit)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct sched_thread *waiter = scheduler_first_waiter(run);
	uint64_t timer = scheduler_next_timer(scheduler);
	bool external = scheduler_has_children(run);
	if (!waiter && timer >= limit && !external)
		return false;
	if (scheduler_now(scheduler) >= limit)
		return false;
	if (waiter && waiter->deadline >= limit &&
	    (timer >= limit && !external))
		return false;
	if (timer == UINT64_MAX && !external && !scheduler_ticks(scheduler))
		scheduler_warp(run, waiter);
	else
		scheduler_count_real_time(scheduler);
	return true;
}

/* ---- ticks ---- */

bool scheduler_spins(const struct run *run)
{
	const struct scheduler *scheduler = run->session->scheduler;
	return scheduler_computed(run) > SPIN_NS ||
	       scheduler->yields > YIELDS_MAX;
}

/* Less than all of it: limits of that length are not to run out. */
static uint64_t scheduler_patience(const struct scheduler *scheduler)
{
	return scheduler->schedule->patience_ns / 10 * 9;
}

static void scheduler_tick_pause(struct run *run, bool rest)
{
	struct scheduler *scheduler = run->session->scheduler;
	uint64_t patience = scheduler_patience(scheduler);
	uint64_t left = patience - MIN(scheduler->paused_ns, patience);
	if (scheduler->settling) {
		if (!rest && scheduler_now(scheduler) - scheduler->pause_began <
				     SETTLE_NS)
			return;
		log_debug(LOG_NATIVE,
			  "schedule: other threads %s after %llu us",
			  rest ? "rest" : "do not rest",
			  (unsigned long long)((scheduler_now(scheduler) -
						scheduler->pause_began) /
					       NS_PER_US));
		scheduler_unpause(run);
		scheduler->settling = false;
		scheduler->paused_ns = 0;
		return;
	}
	if (!rest) {
		if (scheduler_spins(run)) {
			scheduler_release(run, SUITE_HOLD_SPINNING);
			scheduler_unpause(run);
		}
		return;
	}
	if (!scheduler->calming &&
	    scheduler_pass_time(run, scheduler_now(scheduler) + left))
		return;
	if (scheduler->delivering && scheduler->holding) {
		scheduler->delivering = false;
		scheduler_release(run, SUITE_HOLD_STATEMENT);
		return;
	}
	scheduler_unpause(run);
}

/*
 * All work is held, and the test needs some: that which was held first, and only
 * its next segment. False: there is none, or there were too many.
 */
static bool scheduler_release_one(struct run *run)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct sched_thread *first = NULL;
	if (strcmp(scheduler->schedule->event, SUITE_ALL_EVENTS) != 0 ||
	    ++scheduler->steps > STEPS_MAX)
		return false;
	for (size_t i = 0; i < scheduler->threads.n; i++) {
		struct sched_thread *known = &scheduler->threads.data[i];
		if (known->held &&
		    (!first || known->held_since < first->held_since))
			first = known;
	}
	struct thread *thread =
		first ? scheduler_tracee_thread(run, first->tid) : NULL;
	if (!thread)
		return false;
	thread->held = first->held = false;
	scheduler->passes = 0;
	return true;
}

static void scheduler_tick_hold(struct run *run, bool rest)
{
	struct scheduler *scheduler = run->session->scheduler;
	uint64_t patience = scheduler_patience(scheduler);
	uint64_t limit = scheduler_now(scheduler) + patience -
			 MIN(scheduler->held_ns, patience);
	if (!rest) {
		if (scheduler_spins(run))
			scheduler_release(run, SUITE_HOLD_SPINNING);
		return;
	}
	if (scheduler_pass_time(run, limit))
		return;
	const struct sched_thread *waiter = scheduler_first_waiter(run);
	if (waiter && waiter->deadline >= limit)
		scheduler_release(run, SUITE_HOLD_PATIENCE);
	else if (!scheduler_release_one(run))
		scheduler_release(run, SUITE_HOLD_NEEDED);
}

/* Nothing is held: waits end as they would, only sooner. */
void scheduler_tick_free(struct run *run, bool rest, bool *ret_hung)
{
	struct scheduler *scheduler = run->session->scheduler;
	uint64_t now = clock_now();
	if (!rest) {
		scheduler->rests_since = 0;
		return;
	}
	bool waits = scheduler_first_waiter(run);
	if (!scheduler_steers(scheduler)
		    ? waits || scheduler->timers.n
		    : scheduler_pass_time(run, UINT64_MAX)) {
		scheduler->rests_since = 0;
		return;
	}
	if (!scheduler->rests_since)
		scheduler->rests_since = now;
	if (now - scheduler->rests_since > HANG_NS)
		*ret_hung = scheduler->trace->hung = true;
}

static void scheduler_note_expired(struct run *run)
{
	struct scheduler *scheduler = run->session->scheduler;
	uint64_t now = scheduler_now(scheduler);
	for (size_t i = 0; i < scheduler->timers.n; i++) {
		struct sched_timer *timer = &scheduler->timers.data[i];
		if (timer->at && timer->at <= now && timer->moment.key)
			err_ignore(scheduler_add_moment(run, &timer->moment));
	}
}

static void scheduler_tick(struct run *run, bool *ret_hung)
{
	struct scheduler *scheduler = run->session->scheduler;
	if (scheduler->schedule->delay_ns) {
		scheduler_tick_delays(run);
		return;
	}
	if (scheduler->schedule->priorities && !scheduler->settling) {
		scheduler_tick_priorities(run, ret_hung);
		return;
	}
	scheduler_note_expired(run);
	bool rest = scheduler_all_rest(run);
	if (scheduler->pausing)
		scheduler_tick_pause(run, rest);
	else if (scheduler->holding)
		scheduler_tick_hold(run, rest);
	else
		scheduler_tick_free(run, rest, ret_hung);
}

/* ---- threads and their calls ---- */

/* Is @key one of those, a line each? */
static bool schedule_names(const char *events, const char *key)
{
	size_t n = strlen(key);
	if (!strcmp(events, SUITE_ALL_EVENTS))
		return true;
	for (const char *at = events; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, key, n) && (!at[n] || at[n] == '\n'))
			return true;
	}
	return false;
}

static bool scheduler_wants(const struct scheduler *scheduler,
			    const struct suite_moment *moment)
{
	const struct suite_schedule *schedule = scheduler->schedule;
	return schedule->event && !scheduler->released &&
	       !scheduler->settling && moment->key &&
	       schedule_names(schedule->event, moment->key) &&
	       (!schedule->nth || schedule->nth == moment->nth);
}

struct err *scheduler_segment(struct run *run, struct thread *thread,
			      struct sched_thread *known,
			      const struct thread *at, const char *operation,
			      bool inside)
{
	struct scheduler *scheduler = run->session->scheduler;
	if (scheduler->settling)
		return NULL;
	struct suite_moment moment = {
		.kind = strcmp(operation, "start") != 0 ? SUITE_MOMENT_RESUMED
							: SUITE_MOMENT_STARTED,
		.thread = known->number,
		.operation = operation,
		.inside = inside,
	};
	TRY(scheduler_describe(run, at, known, &moment));
	bool holds = scheduler_wants(scheduler, &moment);
	if (holds)
		moment.kind = SUITE_MOMENT_HELD;
	TRY(scheduler_add_moment(run, &moment));
	if (holds)
		scheduler_start_hold(run, thread, known);
	scheduler_delay(run, thread);
	return NULL;
}

static struct err *scheduler_take_clone(struct run *run,
					const struct tracee_event *event)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct sched_thread *known;
	scheduler->trace->threads = true;
	TRY(scheduler_add_thread(run, event->other, event->thread, &known));
	return scheduler_segment(run, event->other, known, event->thread,
				 "start", false);
}

/* Reading a file is no waiting for others. */
static bool scheduler_is_file(const struct run *run,
			      const struct thread *thread)
{
	char path[64], link[256];
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", tracee_pid(run->tracee),
		 (int)regs_syscall_arg(&thread->regs, 0));
	ssize_t n = readlink(path, link, sizeof(link));
	return n <= 0 || link[0] == '/';
}

static struct err *scheduler_note_timer(struct run *run,
					const struct thread *thread,
					const struct sched_thread *known)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct sched_timer timer = {};
	uint64_t ns = 0;
	if (!timed_call_arms(thread, &timer.which, &ns, &timer.interval))
		return NULL;
	timer.at = ns ? scheduler_now(scheduler) + ns : 0;
	timer.moment = (struct suite_moment){
		.kind = SUITE_MOMENT_EXPIRED,
		.operation = "timer",
	};
	struct err *err = NULL;
	if (timer.at)
		err = scheduler_describe(run, thread, known, &timer.moment);
	scheduler->trace->threads |= timer.at;
	for (size_t i = 0; i < scheduler->timers.n; i++) {
		struct sched_timer *old = &scheduler->timers.data[i];
		if (err || old->which != timer.which)
			continue;
		suite_moment_free(&old->moment);
		*old = timer;
		return NULL;
	}
	if (!err)
		err = vec_push(&scheduler->timers, timer);
	if (err)
		suite_moment_free(&timer.moment);
	return err;
}

static void scheduler_enter_call(struct scheduler *scheduler,
				 const struct thread *thread,
				 struct sched_thread *known)
{
	long number = regs_syscall(&thread->regs);
	known->in_call = true;
	known->switches = 0;
	if (number == SYS_sched_yield)
		scheduler->yields++;
	/* What was interrupted goes on, until the same moment. */
	if (number == SYS_restart_syscall && known->call.name)
		return;
	known->call = timed_call_read(thread, scheduler->offset);
	known->deadline = known->call.timed
				  ? scheduler_now(scheduler) + known->call.ns
				  : 0;
}

static struct err *scheduler_leave_call(struct run *run, struct thread *thread,
					struct sched_thread *known)
{
	struct scheduler *scheduler = run->session->scheduler;
	bool expires = known->expires;
	known->expires = false;
	if (thread_call_interrupted(thread)) {
		known->restarted = true;
		if (!expires)
			return NULL; /* it is restarted, or a signal came */
		timed_call_expire(thread);
	}
	bool waited = known->restarted;
	known->in_call = known->restarted = false;
	if (known->call.timed)
		scheduler_count_wait(scheduler, known);
	timed_call_advance(thread, scheduler->offset);
	TRY(scheduler_note_timer(run, thread, known));
	const struct timed_call *call = &known->call;
	if (known->tid == scheduler->test_tid && call->name && call->segment &&
	    scheduler->schedule->event && !scheduler->holding &&
	    !scheduler->released && !scheduler->pausing &&
	    tracee_threads(run->tracee) > 1) {
		/*
		 * The others have come as far as they can before what is to be
		 * held is handed to them: the same in every run.
		 */
		scheduler_pause(run, thread);
		scheduler->calming = true;
		return NULL;
	}
	bool begins = call->segment ||
		      (call->hands_over && scheduler->schedule->inside);
	if (known->tid == scheduler->test_tid || !call->name || !begins ||
	    (call->descriptor && scheduler_is_file(run, thread)))
		return NULL;
	/*
	 * What it wanted to wait for was there already. That depends on chance,
	 * so it is no event of its own; but where such work is to be held, this
	 * is the same work.
	 */
	if (regs_result(&thread->regs) == (uint64_t)-EAGAIN && !waited &&
	    (!scheduler->schedule->event || scheduler->schedule->nth))
		return NULL;
	return scheduler_segment(run, thread, known, thread, call->name,
				 !call->segment);
}

/*
 * Nothing can happen any more but that a wait ends: a test that polls gets there
 * a thousand times.
 */
static void scheduler_set_pace(struct run *run)
{
	struct scheduler *scheduler = run->session->scheduler;
	bool all =
		scheduler_steers(scheduler) && scheduler->looks < URGENT_LOOKS;
	for (size_t i = 0; all && i < tracee_threads(run->tracee); i++) {
		const struct thread *thread = tracee_thread(run->tracee, i);
		const struct sched_thread *known =
			thread->held ? NULL
				     : scheduler_find(scheduler, thread->tid);
		all = thread->held || (known && known->in_call &&
				       known->call.name && !known->expires);
	}
	tracee_tick_urgently(run->tracee, all);
}

static struct err *scheduler_take_event(struct run *run,
					const struct tracee_event *event)
{
	struct scheduler *scheduler = run->session->scheduler;
	if (event->kind == TRACEE_CLONED)
		return scheduler_take_clone(run, event);
	struct sched_thread *known =
		scheduler_find(scheduler, event->thread->tid);
	if (!known)
		TRY(scheduler_add_thread(run, event->thread, NULL, &known));
	if (event->kind == TRACEE_SIGNAL)
		return known->tid == scheduler->test_tid
			       ? NULL
			       : scheduler_segment(run, event->thread, known,
						   event->thread, "signal",
						   false);
	if (event->leaves)
		return scheduler_leave_call(run, event->thread, known);
	scheduler_enter_call(scheduler, event->thread, known);
	return NULL;
}

struct err *scheduler_take(struct run *run, const struct tracee_event *event,
			   bool *ret_hung)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct err *err = NULL;
	*ret_hung = false;
	if (!scheduler || !scheduler->active || run->executed)
		return NULL;
	if (event->kind == TRACEE_TICK) {
		scheduler->looks++;
		scheduler_tick(run, ret_hung);
	} else {
		scheduler->looks = scheduler->passes = 0;
		err = scheduler_take_event(run, event);
	}
	scheduler_set_pace(run);
	return err;
}

/* ---- statements ---- */

static bool is_statement(const char *key, unsigned nth,
			 const struct suite_moment *moment)
{
	return key && !strcmp(key, moment->key) && nth == moment->nth;
}

static struct err *on_statement(struct run *run, struct thread *thread,
				uint64_t arg)
{
	struct scheduler *scheduler = run->session->scheduler;
	(void)arg;
	if (!scheduler || !scheduler->active)
		return NULL;
	if (thread->tid != scheduler->test_tid)
		return scheduler_return_inside(run, thread);
	const struct suite_schedule *schedule = scheduler->schedule;
	struct suite_moment moment = { .kind = SUITE_MOMENT_STATEMENT };
	TRY(scheduler_describe_statement(run, regs_pc(&thread->regs), &moment));
	if (!moment.key)
		return NULL;
	/* A loop that waits is to run as fast as it does. */
	if (moment.nth > LOOPS_MAX)
		TRY(run_unbreak(run, regs_pc(&thread->regs)));
	bool until =
		is_statement(schedule->until, schedule->until_nth, &moment);
	bool before =
		schedule->early &&
		(tracee_threads(run->tracee) > 1 || scheduler->timers.n) &&
		(!schedule->before ||
		 is_statement(schedule->before, schedule->before_nth, &moment));
	if (until || before) {
		scheduler->delivering = until;
		scheduler->trace->reached |= before;
		moment.kind = SUITE_MOMENT_PAUSED;
		scheduler_pause(run, thread);
	}
	if (schedule->priorities)
		scheduler_delay(run, thread);
	return scheduler_add_moment(run, &moment);
}

struct err *scheduler_attach(struct run *run)
{
	struct scheduler *scheduler = run->session->scheduler;
	if (!scheduler)
		return NULL;
	TRY(scheduler_find_statements(run));
	for (size_t i = 0; i < scheduler->statements.n; i++) {
		struct raddr at = scheduler->statements.data[i].address;
		uint64_t word;
		/* The adapter's own are not to be disturbed. */
		if (breakpoint_at(run->tracee, at, &word))
			continue;
		TRY(run_break(run, at, on_statement, 0));
	}
	return scheduler_attach_inside(run);
}

/* ---- a test's life ---- */

struct err *scheduler_begin(struct run *run)
{
	struct scheduler *scheduler = run->session->scheduler;
	if (!scheduler || scheduler->active)
		return NULL;
	struct sched_thread *known;
	scheduler_warm_up(run);
	scheduler->active = true;
	run->limit_ns = scheduler->schedule->limit_ns;
	scheduler->began = scheduler_now(scheduler);
	scheduler->test_tid = run->at ? run->at->tid : tracee_pid(run->tracee);
	for (size_t i = 0; i < tracee_threads(run->tracee); i++)
		TRY(scheduler_add_thread(run, tracee_thread(run->tracee, i),
					 NULL, &known));
	scheduler->trace->threads = tracee_threads(run->tracee) > 1;
	TRY(tracee_follow_threads(run->tracee, true));
	/* A pool that stands before the test: its members come to rest. */
	struct thread *own = scheduler_tracee_thread(run, scheduler->test_tid);
	if (scheduler->trace->threads && own) {
		scheduler->settling = true;
		scheduler_pause(run, own);
	}
	return NULL;
}

void scheduler_note_failure(struct run *run)
{
	struct scheduler *scheduler = run->session->scheduler;
	if (!scheduler || !scheduler->active || scheduler->failed)
		return;
	scheduler->failed = true;
	scheduler->trace->after = !scheduler->holding;
	if (scheduler->holding)
		scheduler->trace->margin_ns = scheduler_lateness(run);
	else if (scheduler->schedule->early)
		scheduler->trace->margin_ns = scheduler->paused_ns;
	else if (scheduler->schedule->priorities)
		scheduler->trace->margin_ns = scheduler->offset;
	scheduler_add_mark(run, SUITE_MOMENT_FAILED);
}

void scheduler_end(struct run *run)
{
	struct scheduler *scheduler = run->session->scheduler;
	if (!scheduler || !scheduler->active)
		return;
	scheduler->active = false;
	if (scheduler->holding && !scheduler->failed)
		scheduler->trace->margin_ns = scheduler_lateness(run);
	for (size_t i = 0; i < tracee_threads(run->tracee); i++)
		tracee_thread(run->tracee, i)->held = false;
	err_ignore(tracee_follow_threads(run->tracee, false));
}

static struct err *scheduler_run_test(struct session *session,
				      const size_t *test)
{
	_cleanup_(run_destroyp) struct run *run = NULL;
	TRY(saving_put_back(session));
	TRY(session_process(session, &run));
	run->order = test;
	run->n = 1;
	run->stop_after = !run->framework->exit_status_counts;
	run->defer = run->framework->exit_status_counts;
	TRY(scheduler_attach(run));
	TRY(run->framework->start(run, run->ready_thread));
	enum run_state state;
	TRY(run_loop(run, &state));
	if (state == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	output_restart(session->output);
	return NULL;
}

struct err *scheduler_run(struct suite *suite, size_t test,
			  const struct suite_schedule *schedule,
			  const struct suite_observer *observer,
			  struct suite_trace *ret)
{
	struct session *session = (struct session *)suite;
	_cleanup_(suite_trace_free) struct suite_trace trace = {};
	_cleanup_(scheduler_free) struct scheduler scheduler = {
		.schedule = schedule,
		.trace = &trace,
		.test = test,
		.random = schedule->seed ? schedule->seed : 1,
	};
	TRY(verdict_learn(session));
	if (!session->schedule_unwinder)
		TRY(unwinder_create(&session->schedule_unwinder));
	session->observer = observer;
	session->reported = 0;
	session->scheduler = &scheduler;
	tracer_tick(true);
	struct err *err = scheduler_run_test(session, &test);
	tracer_tick(false);
	session->scheduler = NULL;
	session->observer = NULL;
	struct err *failed = saving_put_back(session);
	if (err) {
		err_ignore(failed);
		return err;
	}
	TRY(failed);
	*ret = trace;
	trace = (struct suite_trace){};
	return NULL;
}

struct err *scheduler_hide_vdso(struct tracee *tracee)
{
	const struct thread *thread = tracee_thread(tracee, 0);
	struct raddr at = regs_sp(&thread->regs);
	uint64_t word;
	/* The number of arguments, those, NULL, the environment, NULL. */
	TRY(memory_read_u64(tracee, at, &word));
	at = raddr_add(at, 8 * ((int64_t)word + 2));
	for (size_t i = 0; i < VDSO_WORDS_MAX; i++) {
		TRY(memory_read_u64(tracee, at, &word));
		at = raddr_add(at, 8);
		if (!word)
			break;
	}
	for (size_t i = 0; i < VDSO_WORDS_MAX; i++) {
		TRY(memory_read_u64(tracee, at, &word));
		if (word == AT_SYSINFO_EHDR)
			return memory_write_u64(tracee, at, AT_IGNORE);
		if (word == AT_NULL)
			break;
		at = raddr_add(at, 16);
	}
	return NULL;
}

/*
 * Schedules that are left to chance: delays, and priorities.
 *
 * With priorities one thread runs at a time, of those that can the one with the
 * highest (Burckhardt et al., A Randomized Scheduler with Probabilistic
 * Guarantees of Finding Bugs, 2010). Threads stand still where a segment of
 * theirs or a statement of the test begins. At some of these points the priority
 * of the thread that is there falls below all others. A thread that sleeps keeps
 * its turn, on clocks that run ahead, as long as the patience lasts: otherwise
 * whatever sleeps would wait for all others.
 */
#include "base/clock.h"
#include "native/scheduler_internal.h"

static uint64_t draw_random(struct scheduler *scheduler)
{
	/* xorshift64* */
	uint64_t x = scheduler->random;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	scheduler->random = x;
	return x * UINT64_C(2685821657736338717);
}

/* ---- delays ---- */

static void delay_thread(struct run *run, struct thread *thread,
			 struct sched_thread *known)
{
	struct scheduler *scheduler = run->session->scheduler;
	uint64_t most = scheduler->schedule->delay_ns;
	known->delayed_until =
		clock_now() + draw_random(scheduler) % (most + 1);
	thread->held = true;
	scheduler->trace->reached = true;
}

void scheduler_tick_delays(struct run *run)
{
	struct scheduler *scheduler = run->session->scheduler;
	uint64_t now = clock_now();
	for (size_t i = 0; i < scheduler->threads.n; i++) {
		struct sched_thread *known = &scheduler->threads.data[i];
		if (!known->delayed_until || known->delayed_until > now)
			continue;
		struct thread *thread =
			scheduler_tracee_thread(run, known->tid);
		known->delayed_until = 0;
		if (thread)
			thread->held = false;
	}
}

/* ---- priorities ---- */

/* Above those that fell; the same for a thread in each run with the seed. */
static uint64_t draw_priority(struct scheduler *scheduler)
{
	return (draw_random(scheduler) >> 1) + SCHED_POINTS + 1;
}

static void prepare_priorities(struct scheduler *scheduler)
{
	scheduler->lowest = SCHED_POINTS;
	for (size_t i = 0; i < SCHED_CHANGES; i++)
		scheduler->changes[i] =
			1 + (unsigned)(draw_random(scheduler) % SCHED_POINTS);
	for (size_t i = 0; i < scheduler->threads.n; i++)
		scheduler->threads.data[i].priority = draw_priority(scheduler);
}

static void await_turn(struct run *run, struct thread *thread,
		       struct sched_thread *known)
{
	struct scheduler *scheduler = run->session->scheduler;
	if (!scheduler->points++)
		prepare_priorities(scheduler);
	if (!known->priority)
		known->priority = draw_priority(scheduler);
	for (size_t i = 0; i < SCHED_CHANGES; i++) {
		if (scheduler->changes[i] == scheduler->points)
			known->priority = scheduler->lowest--;
	}
	known->waits_turn = thread->held = true;
	scheduler->trace->reached |= tracee_threads(run->tracee) > 1;
	scheduler->passes = 0;
}

void scheduler_delay(struct run *run, struct thread *thread)
{
	struct scheduler *scheduler = run->session->scheduler;
	struct sched_thread *known = scheduler_find(scheduler, thread->tid);
	if (!known || scheduler->settling)
		return;
	if (scheduler->schedule->priorities)
		await_turn(run, thread, known);
	else if (scheduler->schedule->delay_ns)
		delay_thread(run, thread, known);
}

/* It may run: it waits for its turn, or for a time that can be passed over. */
static bool can_take_turn(const struct scheduler *scheduler,
			  const struct sched_thread *known, bool warps)
{
	return known->waits_turn ||
	       (warps && known->in_call && known->call.timed &&
		known->deadline <
			scheduler->began + scheduler->schedule->patience_ns);
}

void scheduler_tick_priorities(struct run *run, bool *ret_hung)
{
	struct scheduler *scheduler = run->session->scheduler;
	bool rest = scheduler_all_rest(run);
	/* One that does not rest may wait for the others by computing. */
	if (!rest && !scheduler_spins(run))
		return;
	bool warps = rest && scheduler_may_warp(run);
	struct sched_thread *best = NULL;
	for (size_t i = 0; i < tracee_threads(run->tracee); i++) {
		struct sched_thread *known = scheduler_find(
			scheduler, tracee_thread(run->tracee, i)->tid);
		if (known && can_take_turn(scheduler, known, warps) &&
		    (!best || known->priority > best->priority))
			best = known;
	}
	scheduler->cpu_began = tracee_cpu_time(run->tracee);
	scheduler->yields = 0;
	if (!best) {
		scheduler_tick_free(run, rest, ret_hung);
		return;
	}
	scheduler->passes = 0;
	if (!best->waits_turn) {
		scheduler_warp(run, best);
		return;
	}
	struct thread *thread = scheduler_tracee_thread(run, best->tid);
	best->waits_turn = false;
	if (thread)
		thread->held = false;
}

/*
 * Processors. While a tested process has one thread, it and the controller take
 * turns, and hand-over on one processor is several times faster than waking up
 * another one. The program must not notice: calls that ask for its processors
 * are answered by native/, and children and threads get them all back before
 * they run.
 */
#include "base/clock.h"
#include "base/log.h"
#include "tracee/tracee_internal.h"

/* How long controller and tested process stay on the processor they chose. */
#define STAY_NS (250 * NS_PER_MS)

static cpu_set_t cpu_set_of_one(int cpu)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return one;
}

void tracer_unpin(struct tracer *tracer)
{
	if (tracer->self_pinned)
		sched_setaffinity(0, sizeof(tracer->cpus), &tracer->cpus);
	tracer->self_pinned = false;
}

bool tracee_pinned(const struct tracee *tracee, cpu_set_t *ret)
{
	if (tracee->pinned)
		*ret = tracee->tracer->cpus;
	return tracee->pinned;
}

void processors_release_task(const struct tracee *like, pid_t tid)
{
	cpu_set_t now, one = cpu_set_of_one(like->cpu);
	/* Where the program chose processors itself, they stay. */
	if (like->pinned && sched_getaffinity(tid, sizeof(now), &now) == 0 &&
	    CPU_EQUAL(&now, &one))
		sched_setaffinity(tid, sizeof(like->tracer->cpus),
				  &like->tracer->cpus);
}

void processors_release(struct tracee *tracee)
{
	for (size_t i = 0; i < tracee->threads.n; i++)
		processors_release_task(tracee, tracee->threads.data[i]->tid);
	tracee->pinned = false;
}

void tracee_leave_processors(struct tracee *tracee)
{
	if (tracee->pinned)
		processors_release(tracee);
	tracee->chooses = true;
}

/* The controller stays on the processor where it happens to be. */
static bool pin_self(struct tracer *tracer)
{
	if (tracer->self_pinned)
		return true;
	tracer->cpu = sched_getcpu();
	cpu_set_t one = cpu_set_of_one(MAX(tracer->cpu, 0));
	tracer->self_pinned = tracer->cpu >= 0 &&
			      CPU_ISSET(tracer->cpu, &tracer->cpus) &&
			      sched_setaffinity(0, sizeof(one), &one) == 0;
	tracer->stay_until = clock_now() + STAY_NS;
	return tracer->self_pinned;
}

/*
 * Before a tracee continues. Other processes may have come to our processor
 * while another one is idle, so from time to time the kernel may choose again
 * for a turn.
 */
void processors_turn(struct tracee *tracee)
{
	struct tracer *tracer = tracee->tracer;
	if (!tracer->pinning || tracee->threads.n != 1 || tracee->owner ||
	    tracee->chooses)
		return;
	if (tracer->self_pinned && clock_now() > tracer->stay_until) {
		tracer_unpin(tracer);
		if (tracee->pinned)
			processors_release(tracee);
		return;
	}
	if (tracee->pinned && tracer->self_pinned && tracee->cpu == tracer->cpu)
		return;

	/* A copy of a process that shared another processor with us? */
	if (tracee->pinned)
		processors_release(tracee);
	cpu_set_t now;
	if (sched_getaffinity(tracee->pid, sizeof(now), &now) < 0 ||
	    !CPU_EQUAL(&now, &tracer->cpus))
		return; /* the program chose for itself */
	if (!pin_self(tracer)) {
		log_debug(LOG_TRACEE, "one processor is not shared with the "
				      "tested program: we cannot choose ours");
		tracer->pinning = false;
		return;
	}
	cpu_set_t one = cpu_set_of_one(tracer->cpu);
	tracee->cpu = tracer->cpu;
	tracee->pinned = sched_setaffinity(tracee->pid, sizeof(one), &one) == 0;
}

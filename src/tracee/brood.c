#include "tracee/brood.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "nest/nest.h"
#include "tracee/tracee_internal.h"

/* More of them are ended with the nest, not before. */
#define STARTED_MAX 4096
#define END_ROUNDS 2000
#define END_PAUSE_US 250

struct brood {
	struct nest *nest;
	size_t users;
	const struct tracee *running; /* the last one that ran */
	bool started;		      /* a child went free */
};

struct err *brood_create(struct nest *nest, struct tracee *tracee)
{
	struct brood *brood = calloc(1, sizeof(*brood));
	if (!brood)
		return err_nomem();
	brood->nest = nest;
	brood->users = 1;
	tracee->brood = brood;
	return NULL;
}

static bool brood_is_tracee(const struct tracee *any, pid_t pid)
{
	uint64_t found;
	return map_u64_get(&any->tracer->threads, (uint64_t)pid, &found);
}

/* Is it on the list of a tracee that is there? */
static bool brood_has(const struct tracee *any, pid_t pid)
{
	const struct tracer *tracer = any->tracer;
	for (size_t i = 0; i < tracer->tracees.n; i++) {
		const struct tracee *tracee = tracer->tracees.data[i];
		if (tracee->brood == any->brood && !tracee->gone &&
		    pids_have(&tracee->started, pid))
			return true;
	}
	return false;
}

/* The orphans, the children of @running, and what all these started. */
static struct err *brood_list(const struct brood *brood,
			      const struct tracee *running, struct pids *ret)
{
	TRY(nest_children(brood->nest, ret));
	for (size_t i = 0; i < running->threads.n; i++)
		TRY(proc_read_children(running->pid,
				       running->threads.data[i]->tid, ret));
	for (size_t i = 0; i < ret->n && ret->n < STARTED_MAX; i++) {
		pid_t pid = ret->data[i];
		if (!brood_is_tracee(running, pid))
			TRY(proc_read_children(pid, pid, ret));
	}
	return NULL;
}

/* What is there and on no list yet was started by the one that ran. */
static void brood_look(const struct tracee *any)
{
	const struct tracer *tracer = any->tracer;
	struct brood *brood = any->brood;
	struct tracee *running = NULL;
	for (size_t i = 0; i < tracer->tracees.n; i++) {
		if (tracer->tracees.data[i] == brood->running)
			running = tracer->tracees.data[i];
	}
	if (!running || !brood->started)
		return;
	_cleanup_(pids_freep) struct pids pids = {};
	struct err *err = brood_list(brood, running, &pids);
	for (size_t i = 0; !err && i < pids.n; i++) {
		pid_t pid = pids.data[i];
		if (!brood_is_tracee(running, pid) && !brood_has(running, pid))
			err = vec_push(&running->started, pid);
	}
	err_ignore(err); /* then it ends with the nest */
}

struct err *brood_add_copy(struct tracee *from, struct tracee *copy)
{
	brood_look(from);
	TRY(vec_append(&copy->started, from->started.data, from->started.n));
	copy->brood = from->brood;
	copy->brood->users++;
	return NULL;
}

void brood_note_child(struct tracee *parent)
{
	parent->brood->started = true;
}

void brood_run(struct tracee *tracee)
{
	struct brood *brood = tracee->brood;
	if (!brood || brood->running == tracee)
		return;
	brood_look(tracee);
	brood->running = tracee;
}

struct err *brood_started(struct tracee *tracee, struct pids *ret)
{
	struct proc_status status;
	if (!tracee->brood)
		return NULL;
	brood_look(tracee);
	for (size_t i = 0; i < tracee->started.n; i++) {
		pid_t pid = tracee->started.data[i];
		if (proc_read_status(pid, &status) && status.state != 'Z' &&
		    status.state != 'X')
			TRY(vec_push(ret, pid));
	}
	return NULL;
}

void brood_prepare_end(struct tracee *tracee)
{
	if (tracee->brood)
		brood_look(tracee);
}

/* One that is to be killed, and not dead yet. */
static bool brood_is_left(const struct tracee *any, pid_t pid)
{
	struct proc_status status;
	return !brood_is_tracee(any, pid) && !brood_has(any, pid) &&
	       proc_read_status(pid, &status) && status.state != 'Z' &&
	       status.state != 'X' && status.tracer != getpid();
}

/*
 * Whom a killed process leaves comes to the nest, hence the rounds; and all
 * are waited for, so that a port or a lock they had is free.
 */
static void brood_end_left(const struct tracee *any)
{
	struct brood *brood = any->brood;
	for (int round = 0; round < END_ROUNDS; round++) {
		_cleanup_(pids_freep) struct pids pids = {};
		bool left = false;
		err_ignore(nest_children(brood->nest, &pids));
		for (size_t i = 0; i < pids.n; i++) {
			pid_t pid = pids.data[i];
			if (!brood_is_left(any, pid))
				continue;
			if (!round)
				log_debug(LOG_TRACEE,
					  "killed: process %d, which the "
					  "tested program left running",
					  pid);
			kill(pid, SIGKILL);
			left = true;
		}
		if (!left)
			return;
		nest_poke(brood->nest);
		usleep(END_PAUSE_US);
	}
}

void brood_leave(struct tracee *tracee)
{
	struct brood *brood = tracee->brood;
	if (!brood)
		return;
	if (--brood->users) {
		if (brood->started)
			brood_end_left(tracee);
		if (brood->running == tracee)
			brood->running = NULL;
	} else {
		nest_end(brood->nest);
		free(brood);
	}
	tracee->brood = NULL;
}

struct err *tracee_orphans(const struct tracee *tracee, struct pids *ret)
{
	return tracee->brood ? nest_children(tracee->brood->nest, ret) : NULL;
}

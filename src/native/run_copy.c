/* Copies of a run, in forked processes. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "native/framework.h"
#include "native/session.h"
#include "tracee/checkpoint.h"

static struct err *run_tell_copied(struct run *copy)
{
	const struct framework *framework = copy->framework;
	return framework->copied
		       ? framework->copied(copy, tracee_thread(copy->tracee, 0))
		       : NULL;
}

struct err *run_fork(struct run *run, struct run **ret)
{
	_cleanup_(tracee_destroyp) struct tracee *tracee = NULL;
	TRY(checkpoint_fork(run->ready_thread, &tracee));
	_cleanup_(run_destroyp) struct run *copy =
		run_create(run->session, tracee);
	if (!copy)
		return err_nomem();
	take_ptr(tracee);
	memcpy(copy->state, run->state, run->framework->state_size);
	TRY(run_copy_given(copy, run));
	copy->ready = true;
	copy->ready_thread = tracee_thread(copy->tracee, 0);
	TRY(run_tell_copied(copy));
	*ret = take_ptr(copy);
	return NULL;
}

struct err *run_copy(struct run *run, struct thread *thread, struct run **ret)
{
	_cleanup_(tracee_destroyp) struct tracee *tracee = NULL;
	TRY(checkpoint_fork(thread, &tracee));
	_cleanup_(run_destroyp) struct run *copy =
		run_create(run->session, tracee);
	if (!copy)
		return err_nomem();
	take_ptr(tracee);
	memcpy(copy->state, run->state, run->framework->state_size);
	copy->order = run->order;
	copy->n = run->n;
	copy->next = run->next;
	if (run->begun) {
		copy->begun = malloc(run_tests(run));
		if (!copy->begun)
			return err_nomem();
		memcpy(copy->begun, run->begun, run_tests(run));
	}
	TRY(run_copy_given(copy, run));
	copy->parting = run->parting;
	copy->resume = run->resume;
	copy->ready_thread = tracee_thread(copy->tracee, 0);
	copy->in_test = run->in_test;
	copy->explained = run->explained;
	copy->faulted = run->faulted;
	copy->current = run->current;
	copy->point = run->point;
	copy->began_ns = run->began_ns;
	copy->outcome = run->outcome;
	copy->line = run->line;
	copy->allowed_exit = run->allowed_exit;
	copy->allowed_signal = run->allowed_signal;
	copy->limit_ns = run->limit_ns;
	copy->body = run->body;
	copy->judged = run->judged;
	copy->failed = run->failed;
	copy->unjudged = run->unjudged;
	copy->blind = run->blind;
	copy->seen = run->seen;
	copy->seen.file = NULL;
	/* Copies have no watchpoints. */
	memset(copy->seen.armed, 0, sizeof(copy->seen.armed));
	TRY(str_copy(run->seen.file, &copy->seen.file));
	TRY(str_copy(run->message, &copy->message));
	TRY(str_copy(run->file, &copy->file));
	TRY(run_tell_copied(copy));
	*ret = take_ptr(copy);
	return NULL;
}

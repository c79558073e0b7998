#include "native/middle.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "native/framework.h"
#include "native/saving.h"
#include "native/verdict.h"
#include "restore/positions.h"
#include "tracee/checkpoint.h"
#include "watch/watch.h"

/* The first copy is made after this time … */
#define FIRST_NS (50 * NS_PER_MS)
/* … and the next after half as much again as has passed. */
#define LATER(ns) ((ns) + (ns) / 2)
/* One of three is at 0.44 to 0.67 of the time, whenever the order ends. */
#define COPIES 3
/* They are to cost less than this share of the time. */
#define COST_SHARE 100

struct middle_copy {
	struct run *run;
	struct positions *positions;
	uint64_t after_ns; /* that the order had taken by then */
};

struct middle {
	struct middle_copy
		copies[COPIES]; /* the latest first; .run NULL: none */
	uint64_t start, last, due;
	size_t chosen;
};

static void copy_free(struct middle_copy *copy)
{
	run_destroy(copy->run);
	positions_destroy(copy->positions);
	*copy = (struct middle_copy){};
}

static void forget_copies(struct middle *middle)
{
	for (size_t i = 0; i < COPIES; i++)
		copy_free(&middle->copies[i]);
}

void middle_forget(struct session *session)
{
	if (!session->middle)
		return;
	forget_copies(session->middle);
	free(take_ptr(session->middle));
}

struct err *middle_keep(struct suite *suite, bool keeps)
{
	struct session *session = (struct session *)suite;
	if (!keeps) {
		middle_forget(session);
		return NULL;
	}
	if (!session->framework->branches || session->tests_forked ||
	    session->chooser)
		return NULL;
	if (!session->middle)
		session->middle = calloc(1, sizeof(*session->middle));
	if (!session->middle)
		return err_nomem();
	session->keeps_middle = true;
	return NULL;
}

void middle_begin(struct session *session)
{
	struct middle *middle = session->middle;
	if (!middle || !session->keeps_middle)
		return;
	/* One that takes over from another is not where the order began. */
	session->keeps_middle = !session->reported;
	if (session->reported)
		return;
	forget_copies(middle);
	middle->start = clock_now();
	middle->due = middle->start + FIRST_NS;
}

void middle_pass(struct run *run, struct thread *thread, struct hook hook)
{
	struct session *session = run->session;
	struct middle *middle = session->middle;
	uint64_t now = clock_now();
	if (now < middle->due || !run->next || run->next >= run->n ||
	    session->initialising.calls.n || checkpoint_obstacle(run->tracee) ||
	    (session->watch && !watch_allows_copies(session->watch)))
		return;
	struct middle_copy copy = { .after_ns = now - middle->start };
	run->resume = hook;
	struct err *err = run_copy(run, thread, &copy.run);
	run->resume = (struct hook){};
	if (!err)
		err = positions_take(copy.run->tracee, &copy.positions);
	uint64_t cost = clock_now() - now;
	middle->due = middle->start + LATER(copy.after_ns) + COST_SHARE * cost;
	if (err) {
		log_debug(LOG_NATIVE, "no copy on the way: %s",
			  err_message(err));
		err_ignore(err);
		copy_free(&copy);
		return;
	}
	copy_free(&middle->copies[COPIES - 1]);
	memmove(middle->copies + 1, middle->copies,
		(COPIES - 1) * sizeof(*middle->copies));
	middle->copies[0] = copy;
}

void middle_end(struct session *session)
{
	if (session->middle && session->keeps_middle)
		session->middle->last = clock_now();
	session->keeps_middle = false;
}

size_t middle_find(struct suite *suite, const size_t *order, size_t n)
{
	const struct session *session = (const struct session *)suite;
	struct middle *middle = session->middle;
	if (!middle || saving_shares_files(session) ||
	    verdict_rehearses(session))
		return 0;
	uint64_t half = (middle->last - middle->start) / 2, best = UINT64_MAX;
	size_t entry = 0;
	for (size_t i = 0; i < COPIES; i++) {
		const struct middle_copy *copy = &middle->copies[i];
		uint64_t off = copy->after_ns > half ? copy->after_ns - half
						     : half - copy->after_ns;
		if (!copy->run || copy->run->order != order ||
		    copy->run->n != n || off >= best)
			continue;
		best = off;
		middle->chosen = i;
		entry = copy->run->next;
	}
	return entry;
}

struct err *middle_resume(struct session *session, struct run **ret)
{
	struct middle_copy *from =
		&session->middle->copies[session->middle->chosen];
	BUG_ON(!from->run);
	_cleanup_(run_destroyp) struct run *run = NULL;
	TRY(run_copy(from->run, tracee_thread(from->run->tracee, 0), &run));
	TRY(positions_put_back(from->positions, tracee_thread(run->tracee, 0)));
	run->whole = true;
	session->reported = run->next - run->in_test;
	*ret = take_ptr(run);
	return NULL;
}

struct tracee *middle_origin(const struct session *session)
{
	return session->middle->copies[session->middle->chosen].run->tracee;
}

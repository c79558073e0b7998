#include "native/chooser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/callers.h"
#include "suite/choice_block.h"

struct chooser {
	struct choice_block memory;
	struct wire_choices *block; /* in it */
	char variable[96];
	bool chooses;
	struct suite_choices choices; /* where it does */
	bool started;		      /* some process began under choices */
	bool attached;		      /* the block has @callers */
	/* What was chosen before the first test. */
	uint64_t made[WIRE_MODELS_MAX], acted[WIRE_MODELS_MAX];
	struct wire_choice_thread threads[WIRE_CHOICE_THREADS];
	uint64_t threads_n, records_n;
};

struct err *chooser_create(const struct suite_options *options,
			   struct chooser **ret)
{
	char path[48];
	struct chooser *chooser = calloc(1, sizeof(*chooser));
	if (!chooser)
		return err_nomem();
	struct err *err = choice_block_create(options, &chooser->memory);
	if (err) {
		free(chooser);
		return err;
	}
	chooser->block = chooser->memory.shared;
	choice_block_path(&chooser->memory, path);
	snprintf(chooser->variable, sizeof(chooser->variable),
		 WIRE_CHOICES_VARIABLE "=%s", path);
	*ret = chooser;
	return NULL;
}

void chooser_destroy(struct chooser *chooser)
{
	if (!chooser)
		return;
	choice_block_free(&chooser->memory);
	free(chooser);
}

const char *chooser_variable(const struct chooser *chooser)
{
	return chooser->variable;
}

struct wire_choices *chooser_block(struct chooser *chooser)
{
	return chooser->block;
}

bool chooser_chooses(const struct chooser *chooser)
{
	return chooser && chooser->chooses;
}

/* Does the process before the first test depend on them? */
static bool same_start(const struct suite_choices *a,
		       const struct suite_choices *b)
{
	return !a->startup && !b->startup;
}

static void forget_start(struct chooser *chooser)
{
	memset(chooser->made, 0, sizeof(chooser->made));
	memset(chooser->acted, 0, sizeof(chooser->acted));
	chooser->threads_n = chooser->records_n = 0;
}

struct err *chooser_choose(struct suite *suite,
			   const struct suite_choices *choices)
{
	struct session *session = (struct session *)suite;
	struct chooser *chooser = session->chooser;
	static const struct suite_choices none;
	BUG_ON(!chooser);
	if (choices && !chooser->block->attached)
		return err_hint(
			err_create(ERR_SUITE,
				   "our library could not be loaded into the "
				   "program, so nothing can be chosen in it"),
			"statically linked programs and such as run with "
			"other rights than their caller's cannot be helped");
	const struct suite_choices *old =
		chooser->chooses ? &chooser->choices : &none;
	if (!same_start(old, choices ? choices : &none)) {
		session_forget_origin(session);
		forget_start(chooser);
	}
	chooser->chooses = choices;
	chooser->block->active = 0;
	if (choices) {
		chooser->choices = *choices;
		choice_block_fill(chooser->block, choices);
	}
	return NULL;
}

static uint64_t chooser_sum_counts(const uint64_t counts[WIRE_MODELS_MAX])
{
	uint64_t all = 0;
	for (size_t i = 0; i < WIRE_MODELS_MAX; i++)
		all += counts[i];
	return all;
}

/* Numbering starts over; what was chosen before the first test stays. */
static void begin_epoch(struct chooser *chooser, uint64_t phase)
{
	struct wire_choices *block = chooser->block;
	block->start_made = chooser_sum_counts(chooser->made);
	block->start_acted = chooser_sum_counts(chooser->acted);
	memcpy(block->made, chooser->made, sizeof(block->made));
	memcpy(block->acted, chooser->acted, sizeof(block->acted));
	memset(block->left_alone, 0, sizeof(block->left_alone));
	memcpy(block->threads, chooser->threads,
	       chooser->threads_n * sizeof(*block->threads));
	block->threads_n = chooser->threads_n;
	block->records_n = chooser->records_n;
	block->trace_n = 0;
	block->phase = phase;
	block->epoch++;
	__atomic_store_n(&block->active, 1, __ATOMIC_RELEASE);
}

struct err *chooser_attach(struct run *run)
{
	struct chooser *chooser = run->session->chooser;
	size_t n = 0;
	/* The same file at each start: once is enough. */
	if (chooser->attached)
		return NULL;
	TRY(callers_find(run->program, run->program->own,
			 chooser->block->callers, WIRE_CALLERS, &n));
	chooser->block->callers_n = n;
	chooser->attached = true;
	return NULL;
}

bool chooser_starts_otherwise(const struct chooser *chooser)
{
	return chooser && chooser->started;
}

void chooser_starts(struct chooser *chooser)
{
	if (!chooser)
		return;
	chooser->block->attached = 0;
	chooser->block->active = 0;
	bool otherwise = chooser->chooses && chooser->choices.startup;
	chooser->started |= otherwise;
	if (!otherwise)
		return;
	forget_start(chooser);
	begin_epoch(chooser, 0);
}

void chooser_ready(struct chooser *chooser)
{
	if (!chooser || !chooser->block->active)
		return;
	struct wire_choices *block = chooser->block;
	__atomic_store_n(&block->active, 0, __ATOMIC_RELEASE);
	memcpy(chooser->made, block->made, sizeof(block->made));
	memcpy(chooser->acted, block->acted, sizeof(block->acted));
	chooser->threads_n =
		MIN(block->threads_n, (uint64_t)WIRE_CHOICE_THREADS);
	memcpy(chooser->threads, block->threads,
	       chooser->threads_n * sizeof(*block->threads));
	chooser->records_n =
		MIN(block->records_n, (uint64_t)WIRE_CHOICE_RECORDS);
}

void chooser_stop(struct chooser *chooser, bool stop)
{
	chooser->block->stop = stop;
	chooser->block->trace_on = stop || chooser->choices.trace;
	__atomic_store_n(&chooser->block->active, stop, __ATOMIC_RELEASE);
}

void chooser_begin(struct chooser *chooser, size_t test)
{
	if (!chooser_chooses(chooser))
		return;
	choice_block_test(chooser->block, &chooser->choices, test);
	begin_epoch(chooser, 1);
}

void chooser_pause(struct chooser *chooser)
{
	if (chooser_chooses(chooser))
		__atomic_store_n(&chooser->block->active, 0, __ATOMIC_RELEASE);
}

void chooser_end(struct chooser *chooser, const struct suite_observer *observer,
		 size_t entry, size_t test)
{
	if (!chooser_chooses(chooser))
		return;
	chooser_pause(chooser);
	if (observer && observer->chosen)
		observer->chosen(observer->data, entry, test, chooser->block);
}

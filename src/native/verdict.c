#include "native/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "base/tap.h"
#include "dwarf/unwind.h"
#include "keep/save.h"
#include "native/aside.h"
#include "native/chooser.h"
#include "native/framework.h"
#include "native/inlined.h"
#include "native/saving.h"
#include "native/unwind_thread.h"
#include "native/verdict_internal.h"
#include "restore/positions.h"
#include "tracee/checkpoint.h"
#include "tracee/memory.h"
#include "tracee/output.h"
#include "tracee/watchpoint.h"

#define STACK_BYTES ((size_t)64 << 10)
/*
 * So often a test may stop at watchpoints: one that writes the verdict in each
 * of its checks, whatever comes of them, would stop at each.
 */
#define STOPS_MAX 32

static bool verdict_learned(const struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->n; i++) {
		if (!verdict->places[i].dropped)
			return true;
	}
	return verdict->tap;
}

/*
 * Tests in children: may these tell the runner more than by their exit status? Then
 * the program's own exit status says so.
 */
static bool verdict_children_tell(const struct session *session)
{
	static const char *const ways[] = { "pipe",   "pipe2",	  "socketpair",
					    "mmap",   "mmap64",	  "shmget",
					    "mkfifo", "shm_open", "mq_open" };
	return session->verdict->status_says && !session->verdict->touches &&
	       program_uses_any(session->program, ways, ARRAY_SIZE(ways));
}

/*
 * Is there a test of which only the exit status might say that it failed, in a
 * program whose tests do not end by a failed assertion?
 */
static bool verdict_is_silent(const struct session *session)
{
	static const char *const loud[] = { "__assert_fail", "__assert",
					    "abort",	     "longjmp",
					    "_longjmp",	     "siglongjmp",
					    "__longjmp_chk", "__cxa_throw" };
	const struct verdict *verdict = session->verdict;
	if (session->tests_forked)
		return verdict_children_tell(session);
	/* What a rehearsal makes of these would be there in the run. */
	static const char *const lasting[] = {
		"shmget", "semget", "msgget", "shm_open", "sem_open", "mq_open"
	};
	return verdict->uniform && !verdict_learned(verdict) &&
	       verdict->status_says && !verdict->touches &&
	       !program_uses_any(session->program, lasting,
				 ARRAY_SIZE(lasting)) &&
	       !program_uses_any(session->program, loud, ARRAY_SIZE(loud));
}

struct err *verdict_learn(struct session *session)
{
	if (session->verdict || !session->suite.tests.n ||
	    !session->framework->exit_status_counts)
		return NULL;
	struct verdict *verdict = calloc(1, sizeof(*verdict));
	if (!verdict)
		return err_nomem();
	struct session_aside aside;
	session_step_aside(session, NULL, OUTPUT_KEPT, &aside);
	session->verdict = verdict;
	tracer_tick(true);
	struct err *err = verdict_search(session, verdict);
	verdict->unknown = verdict->surprised = false;
	tracer_tick(false);
	session_step_back(session, &aside);
	verdict->silent = verdict_is_silent(session);
	if (err && err_kind(err) != ERR_INTERRUPTED) {
		log_debug(LOG_NATIVE, "verdict: %s", err_message(err));
		err_ignore(err);
		err = NULL;
	}
	return err;
}

void verdict_destroy(struct verdict *verdict)
{
	if (!verdict)
		return;
	unwinder_destroy(verdict->unwinder);
	for (size_t i = 0; i < verdict->n_words; i++)
		free(verdict->words[i].name);
	scalars_destroy(verdict->scalars);
	free(verdict);
}

/* ---- another process, while one stands in a hook ---- */

/* What belongs to the process that stands, while another one runs. */
struct aside {
	struct session_aside session;
	struct positions *positions;
	struct saved *files;
};

static struct err *aside_begin(struct run *run, struct aside *ret)
{
	struct session *session = run->session;
	TRY(positions_take(run->tracee, &ret->positions));
	TRY(saving_take(session, &ret->files));
	session_step_aside(session, NULL, OUTPUT_IGNORED, &ret->session);
	return NULL;
}

static struct err *aside_end(struct run *run, struct aside *aside)
{
	struct session *session = run->session;
	session_step_back(session, &aside->session);
	struct err *err = saving_put_back_to(session, aside->files);
	if (!err)
		err = positions_put_back(aside->positions, run->at);
	saved_destroy(aside->files);
	positions_destroy(aside->positions);
	return err;
}

/* The time since @start was not the test's. */
static void verdict_give_back(struct run *run, uint64_t start)
{
	uint64_t took = clock_now() - start;
	run->began_ns += took;
	run->deadline += took;
}

/* ---- rehearsing ---- */

static void verdict_drop_place(struct session *session,
			       struct verdict_place *place)
{
	struct program *program = session->program;
	size_t n = 0;
	place->dropped = true;
	for (size_t i = 0; i < program->runner_spans.n; i++) {
		if (program->runner_spans.data[i].start !=
		    place->scalar->address)
			program->runner_spans.data[n++] =
				program->runner_spans.data[i];
	}
	program->runner_spans.n = n;
	log_debug(LOG_NATIVE,
		  "verdict: '%s' is state of the tests: they restore it",
		  place->scalar->name);
}

struct err *verdict_run_own_order(struct session *session, bool *ret_good)
{
	_cleanup_(run_destroyp) struct run *run = NULL;
	size_t n = session->suite.tests.n;
	_cleanup_(freep) size_t *order = calloc(n, sizeof(*order));
	if (!order)
		return err_nomem();
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	enum run_state state;
	TRY(saving_put_back(session));
	TRY(session_process(session, &run));
	run->order = order;
	run->n = n;
	TRY(run->framework->start(run, run->ready_thread));
	TRY(run_loop(run, &state));
	if (state == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	*ret_good = state == RUN_GONE && !run->killed_by && !run->exit_status &&
		    run->next == n;
	return NULL;
}

/*
 * The whole program, as it runs by itself: what tests write and put back again,
 * so that it ends well, is their own.
 */
static struct err *verdict_rehearse(struct run *run)
{
	struct session *session = run->session;
	struct verdict *verdict = session->verdict;
	struct aside aside = {};
	bool good = false;
	for (size_t i = 0; i < verdict->n; i++)
		verdict->places[i].failed = verdict->places[i].undone = false;
	uint64_t start = clock_now();
	TRY(aside_begin(run, &aside));
	verdict->rehearsing = true;
	struct err *err = verdict_run_own_order(session, &good);
	verdict->rehearsing = false;
	struct err *back = aside_end(run, &aside);
	verdict_give_back(run, start);
	if (err && err_kind(err) != ERR_INTERRUPTED) {
		log_debug(LOG_NATIVE, "verdict: no rehearsal: %s",
			  err_message(err));
		err_ignore(err);
		err = NULL;
	}
	for (size_t i = 0; !err && i < verdict->n; i++) {
		struct verdict_place *place = &verdict->places[i];
		if (place->undone || (place->failed && good))
			verdict_drop_place(session, place);
		place->confirmed = true;
	}
	if (!err)
		return back;
	err_ignore(back);
	return err;
}

/* ---- the exit status ---- */

/* Copies for each test are taken while that costs less in all. */
#define FORESIGHT_MAX_NS (UINT64_C(2000) * 1000 * 1000)
#define FORESIGHT_FORKED_NS (10 * FORESIGHT_MAX_NS)
#define FORESIGHT_COPY_NS (UINT64_C(1000) * 1000)
#define FORESIGHT_TRY_NS (UINT64_C(3000) * 1000 * 1000)

static bool verdict_foresight_takes(const struct session *session, uint64_t ns)
{
	uint64_t each = session->verdict->tail_ns + FORESIGHT_COPY_NS;
	return session->suite.tests.n * each <= ns;
}

/* Beyond what is known of the program: does it say enough of this test? */
static bool verdict_needs_foresight(const struct run *run)
{
	const struct session *session = run->session;
	const struct verdict *verdict = session->verdict;
	bool cheap = verdict_foresight_takes(session, FORESIGHT_MAX_NS);
	/* The copy forks for each of the tests that are left. */
	if (session->tests_forked && (run->whole || verdict->surprised))
		cheap = verdict_foresight_takes(session, FORESIGHT_FORKED_NS);
	if (session->tests_forked)
		return cheap && (verdict->silent || verdict->surprised);
	return verdict->surprised || verdict->silent ||
	       (run->whole && !verdict_learned(verdict) && cheap);
}

static bool verdict_wants_foresight(const struct run *run)
{
	const struct session *session = run->session;
	const struct verdict *verdict = session->verdict;
	bool last = run->next >= run->n && !run->parting;
	return run->in_test && !run->judged && !run->outcome && !run->failed &&
	       !run->foresight && !last && verdict->uniform &&
	       !verdict->touches && verdict->status_says &&
	       !verdict->rehearsing && !session->watch && !session->places &&
	       !session->tries && !session->explorer &&
	       !chooser_chooses(session->chooser) &&
	       verdict_needs_foresight(run) &&
	       !checkpoint_obstacle(run->tracee);
}

static struct err *verdict_copy(struct run *run, struct thread *thread,
				struct hook hook, struct run **ret)
{
	run->resume = hook;
	struct err *err = run_copy(run, thread, ret);
	run->resume = (struct hook){};
	return err;
}

static struct err *verdict_end_copy(struct run *run, struct thread *thread,
				    struct hook hook, int *ret)
{
	_cleanup_(run_destroyp) struct run *copy = NULL;
	TRY(verdict_copy(run, thread, hook, &copy));
	copy->n = copy->next;
	copy->parting = NULL;
	copy->foresight = true;
	run->session->suite.options.timeout_ns = FORESIGHT_TRY_NS;
	enum run_state state;
	TRY(run_loop(copy, &state));
	if (state == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	*ret = state == RUN_GONE && !copy->killed_by ? copy->exit_status : 0;
	return NULL;
}

struct err *verdict_foresee(struct run *run, struct thread *thread,
			    struct hook hook)
{
	struct verdict *verdict = run->session->verdict;
	struct aside aside = {};
	run->seen.foreseen = 0;
	if (verdict->keeps_end && run->in_test && run->next >= run->n) {
		run->stop = true;
		return verdict_copy(run, thread, hook, &verdict->end);
	}
	if (!verdict_wants_foresight(run)) {
		run->blind |=
			run->in_test && run->unjudged && run->next < run->n;
		return NULL;
	}
	uint64_t start = clock_now();
	TRY(aside_begin(run, &aside));
	struct err *err =
		verdict_end_copy(run, thread, hook, &run->seen.foreseen);
	struct err *back = aside_end(run, &aside);
	verdict_give_back(run, start);
	run->blind |= !!err;
	if (!err)
		return back;
	err_ignore(back);
	if (err_kind(err) == ERR_INTERRUPTED)
		return err;
	log_debug(LOG_NATIVE, "how the program would end is not known: %s",
		  err_message(err));
	err_ignore(err);
	return NULL;
}

static void verdict_note_expected(void *data, const struct suite_result *result)
{
	struct verdict *verdict = data;
	if (result->outcome == OUTCOME_FAIL &&
	    result->entry < verdict->n_expected && result->message)
		verdict->expected[result->entry] = strdup(result->message);
}

bool verdict_rehearses(const struct session *session)
{
	return session->verdict && session->verdict->silent;
}

struct err *
verdict_rehearse_order(struct session *session, const size_t *order, size_t n,
		       struct err *(*run)(struct session *session,
					  const size_t *order, size_t n))
{
	struct verdict *verdict = session->verdict;
	if (!verdict_rehearses(session) ||
	    (!session->watch && !session->places) ||
	    chooser_chooses(session->chooser))
		return NULL;
	verdict->expected = calloc(n, sizeof(*verdict->expected));
	if (!verdict->expected)
		return err_nomem();
	verdict->n_expected = n;
	const struct suite_observer observer = {
		.finished = verdict_note_expected,
		.data = verdict,
	};
	struct session_aside aside;
	session_step_aside(session, &observer, OUTPUT_IGNORED, &aside);
	struct err *err = run(session, order, n);
	session_step_back(session, &aside);
	return err;
}

void verdict_forget_rehearsal(struct session *session)
{
	struct verdict *verdict = session->verdict;
	for (size_t i = 0; verdict && i < verdict->n_expected; i++)
		free(verdict->expected[i]);
	if (!verdict)
		return;
	free(take_ptr(verdict->expected));
	verdict->n_expected = 0;
}

bool verdict_excuses_end(struct run *run)
{
	/* As without any test: it lacks those that were skipped. */
	if (run->session->dies_without_tests || run->excused)
		return true;
	/* A bad status says nothing more where an earlier test has failed. */
	return !run->killed_by && (!run->exit_status || run->failed ||
				   !verdict_status_counts(run->session) ||
				   inlined_explains_status(run));
}

bool verdict_is_known(const struct session *session)
{
	return session->verdict && verdict_learned(session->verdict);
}

bool verdict_status_counts(const struct session *session)
{
	const struct verdict *verdict = session->verdict;
	return !verdict || verdict->status_says || !verdict_learned(verdict);
}

void verdict_surprised(struct session *session)
{
	/* What those do that were inlined shows in no foresight. */
	if (session->verdict && !inlined_may_have_failed(session))
		session->verdict->surprised = true;
}

/* Can tests of this program fail by ending or leaving their function? */
static bool verdict_may_leave(const struct session *session)
{
	static const char *const ends[] = {
		"__assert_fail", "__assert",	"abort",	"exit",
		"_exit",	 "_Exit",	"quick_exit",	"raise",
		"kill",		 "longjmp",	"_longjmp",	"siglongjmp",
		"__longjmp_chk", "__cxa_throw", "pthread_exit", "err",
		"errx",
	};
	return program_uses_any(session->program, ends, ARRAY_SIZE(ends));
}

void verdict_tell(struct session *session)
{
	struct verdict *verdict = session->verdict;
	if (!verdict || verdict->told || !verdict->unknown ||
	    verdict_learned(verdict))
		return;
	if (session->tests_forked && verdict->surprised &&
	    (!verdict->status_says || verdict->touches ||
	     !verdict_foresight_takes(session, FORESIGHT_FORKED_NS)))
		suite_limit(session->observer,
			    "verdicts are unknown: the program forks for each "
			    "of its tests and says that some failed whose "
			    "children ended with exit status 0; which ones is "
			    "not known (--alone shows it)");
	else if (session->tests_forked)
		return;
	else if (verdict->surprised)
		suite_limit(session->observer,
			    "verdicts are unknown: the tests return nothing, "
			    "and no variable was found in which they tell the "
			    "runner that they failed; beyond crashes and "
			    "aborts only the program's exit status is seen, "
			    "which after one failure says nothing of others");
	else if (!verdict_may_leave(session))
		suite_limit(session->observer,
			    "verdicts are unknown: the tests return nothing, "
			    "do not abort, and no variable was found in which "
			    "they tell the runner that they failed; only "
			    "crashes, aborts and the program's exit status are "
			    "seen");
	else
		return;
	verdict->told = true;
}

/* ---- tests ---- */

struct scalar verdict_place_scalar(const struct verdict_place *place,
				   uint64_t argument)
{
	struct scalar scalar = *place->scalar;
	if (place->argument)
		scalar.address += argument;
	return scalar;
}

static bool verdict_measure(const struct run *run,
			    const struct verdict_place *place, uint64_t *ret)
{
	const struct scalar scalar =
		verdict_place_scalar(place, run->seen.argument);
	return scalar_measure(&scalar, run->tracee, ret);
}

/* A test found @before there and left @after: has it failed? */
bool verdict_place_fails(const struct verdict_place *place, uint64_t before,
			 uint64_t after)
{
	bool all = true;
	if (after == before)
		return false;
	switch (place->scalar->kind) {
	case SCALAR_POINTER:
		return after;
	case SCALAR_LIST:
	case SCALAR_VECTOR:
		return after > before;
	case SCALAR_NUMBER:
		break;
	}
	if (after == place->good)
		return false;
	for (unsigned i = 0; i < place->n_tried; i++) {
		if (place->tried[i].value == after)
			return place->tried[i].turns;
		all &= place->tried[i].turns;
	}
	return all;
}

/* Sets the next watchpoint that is free on a place's bytes at @at. */
static void verdict_arm(struct run *run, size_t place, struct raddr at,
			unsigned size)
{
	struct verdict_seen *seen = &run->seen;
	unsigned slot = 0;
	while (slot < VERDICT_WATCHPOINTS && seen->armed[slot])
		slot++;
	if (slot == VERDICT_WATCHPOINTS || at.v % size)
		return;
	struct err *err = watchpoint_set(run->tracee, slot, at, size);
	if (!err)
		seen->armed[slot] = (uint8_t)(place + 1);
	err_ignore(err);
}

bool verdict_uses_watchpoints(const struct session *session)
{
	return session->verdict && session->verdict->n;
}

static void verdict_disarm(struct run *run)
{
	struct verdict_seen *seen = &run->seen;
	for (unsigned i = 0; i < VERDICT_WATCHPOINTS; i++) {
		if (seen->armed[i])
			watchpoint_clear(run->tracee, i);
		seen->armed[i] = 0;
	}
}

/* On the bytes that tests write. */
static void verdict_arm_place(struct run *run, size_t place)
{
	const struct scalar scalar = verdict_place_scalar(
		&run->session->verdict->places[place], run->seen.argument);
	struct raddr at, end;
	if (!scalar_place(&scalar, run->tracee, &at))
		return;
	if (scalar.kind == SCALAR_VECTOR)
		at = raddr_add(at, sizeof(uint64_t));
	verdict_arm(run, place, at, scalar.size);
	if (scalar_list_end(&scalar, run->tracee, &end))
		verdict_arm(run, place, end, sizeof(uint64_t));
}

void verdict_begin(struct run *run)
{
	const struct session *session = run->session;
	struct verdict *verdict = session->verdict;
	struct verdict_seen *seen = &run->seen;
	verdict_disarm(run);
	seen->known = seen->wrote = seen->stops = 0;
	seen->foreseen = 0;
	free(take_ptr(seen->file));
	seen->line = 0;
	const struct thread *thread = run->at ? run->at : run->ready_thread;
	seen->argument = thread ? thread_arg(thread, 0) : 0;
	enum framework_result result =
		run->framework->result(run, run->current);
	run->judged = result == FRAMEWORK_RESULT_TELLS;
	run->unjudged |= verdict->uniform;
	verdict->unknown |= result == FRAMEWORK_RESULT_NONE;
	for (size_t i = 0; i < verdict->n; i++) {
		if (verdict->places[i].dropped ||
		    !verdict_measure(run, &verdict->places[i],
				     &seen->before[i]))
			continue;
		seen->known |= 1U << i;
		/* Readers of other places use them all. */
		if (!session->places && !verdict->rehearsing)
			verdict_arm_place(run, i);
	}
}

/* Its line in the test, out of the functions that the test called. */
static struct err *verdict_find_line(struct run *run,
				     const struct thread *thread)
{
	const struct program *program = run->program;
	struct verdict *verdict = run->session->verdict;
	struct verdict_seen *seen = &run->seen;
	_cleanup_(freep) unsigned char *stack = malloc(STACK_BYTES);
	_cleanup_(freep) struct unwind_module *modules =
		calloc(program->modules.n + 1, sizeof(*modules));
	_cleanup_(freep) char *name = NULL;
	_cleanup_(unwind_frames_freep) struct unwind_frames frames = {};
	if (!stack || !modules)
		return err_nomem();
	if (!verdict->unwinder)
		TRY(unwinder_create(&verdict->unwinder));
	for (size_t i = 0; i < program->modules.n; i++)
		modules[i] = (struct unwind_module){
			.path = program->modules.data[i].path,
			.bias = program->modules.data[i].bias,
		};
	struct unwind_thread walked = {
		.modules = modules,
		.n_modules = MIN(program->modules.n, (size_t)UNWIND_MODULES),
		.stack = stack,
		.stack_address = regs_sp(&thread->regs).v,
	};
	walked.stack_n = memory_read_some(run->tracee, regs_sp(&thread->regs),
					  stack, STACK_BYTES);
	unwind_thread_take(thread, &walked);
	/* The instruction that wrote is the one before. */
	walked.registers[UNWIND_RIP]--;
	TRY(unwinder_callers(verdict->unwinder, &walked, &frames));
	const struct module *module = program_module(program, run->body);
	struct object_symbol symbol;
	if (module && module->object &&
	    object_symbol_at(module->object, run->body.v - module->bias,
			     &symbol))
		name = object_function_name(symbol.name);
	const struct unwind_frame *found = NULL;
	/* A test that ended with a jump to another function has none. */
	for (size_t i = 0; name && i < frames.n && !found; i++) {
		const struct unwind_frame *frame = &frames.data[i];
		if (frame->file && frame->function &&
		    !strcmp(name, frame->function))
			found = frame;
	}
	if (!found)
		return NULL;
	seen->line = found->line;
	return str_copy(found->file, &seen->file);
}

void verdict_touched(struct run *run, const struct tracee_event *event)
{
	const struct verdict *verdict = run->session->verdict;
	struct verdict_seen *seen = &run->seen;
	size_t i = event->slot < VERDICT_WATCHPOINTS
			   ? (size_t)seen->armed[event->slot]
			   : 0;
	uint64_t now;
	if (!verdict || !run->in_test || !i-- || !(seen->known & 1U << i))
		return;
	if (++seen->stops >= STOPS_MAX)
		verdict_disarm(run);
	const struct verdict_place *place = &verdict->places[i];
	/* It may say again what an earlier test has said. */
	if (!(event->access & WATCHPOINT_WRITE) ||
	    !verdict_measure(run, place, &now) ||
	    (!verdict_place_fails(place, seen->before[i], now) &&
	     !verdict_place_fails(place, place->good, now)))
		return;
	seen->wrote |= 1U << i;
	if (seen->file)
		return;
	uint64_t start = clock_now();
	err_ignore(verdict_find_line(run, event->thread));
	verdict_give_back(run, start);
}

static struct err *verdict_fail(struct run *run,
				const struct verdict_place *place,
				uint64_t before, uint64_t after)
{
	const struct scalar *scalar = place->scalar;
	_cleanup_(freep) char *text = NULL;
	unsigned shift = 64 - 8 * scalar->size;
	if (before == after)
		TRY(str_format(&text, "the test set the runner's '%s' again",
			       scalar->name));
	else if (scalar->kind == SCALAR_NUMBER && scalar->is_signed)
		TRY(str_format(
			&text, "the runner's '%s' went from %lld to %lld",
			scalar->name,
			(long long)((int64_t)(before << shift) >> shift),
			(long long)((int64_t)(after << shift) >> shift)));
	else if (scalar->kind == SCALAR_NUMBER)
		TRY(str_format(&text,
			       "the runner's '%s' went from %llu to %llu",
			       scalar->name, (unsigned long long)before,
			       (unsigned long long)after));
	else
		TRY(str_format(&text, "the test added to the runner's '%s'",
			       scalar->name));
	return run_fail(run, run->seen.file, run->seen.line, text);
}

static struct err *verdict_read_tap(struct run *run)
{
	_cleanup_(freep) char *text = NULL;
	struct tap tap = {};
	const char *why;
	TRY(run_output(run, &text));
	tap_feed(&tap, text, strlen(text));
	tap_finish(&tap);
	if (tap.failed || tap.bailed)
		return run_fail(run, NULL, 0, tap.first);
	if (tap.points && tap.skipped == tap.points)
		return run_skip(run, NULL, 0,
				tap_outcome(&tap, &why) == OUTCOME_SKIP ? why
									: NULL);
	return NULL;
}

static void verdict_note_rehearsed(struct verdict_place *place, uint64_t before,
				   uint64_t after)
{
	bool fails = verdict_place_fails(place, before, after);
	place->failed |= fails;
	place->undone |= !fails && verdict_place_fails(place, after, before);
}

/* The first place that says the running test failed; NULL: none does. */
static struct err *verdict_find_failed(struct run *run,
				       struct verdict_place **ret,
				       uint64_t *ret_now)
{
	struct verdict *verdict = run->session->verdict;
	const struct verdict_seen *seen = &run->seen;
	*ret = NULL;
	for (size_t i = 0; i < verdict->n; i++) {
		uint64_t now, before = seen->before[i];
		struct verdict_place *place = &verdict->places[i];
		if (place->dropped || !(seen->known & 1U << i) ||
		    !verdict_measure(run, place, &now))
			continue;
		if (verdict->rehearsing) {
			verdict_note_rehearsed(place, before, now);
			continue;
		}
		if (!verdict_place_fails(place, before, now) &&
		    !(before == now && seen->wrote & 1U << i))
			continue;
		if (!place->confirmed && !place->printed && !verdict->touches &&
		    !chooser_chooses(run->session->chooser))
			TRY(verdict_rehearse(run));
		if (place->dropped)
			continue;
		*ret = place;
		*ret_now = now;
		return NULL;
	}
	return NULL;
}

/*
 * Nothing of a test in a child is left in the process but the runner's sum of what
 * failed: after a failure the rest runs in another process, where the exit status
 * says something of them again.
 */
static struct err *verdict_end_forked(struct run *run)
{
	const struct session *session = run->session;
	const struct verdict *verdict = session->verdict;
	size_t entry = session->reported;
	if (!run->outcome && (session->watch || session->places) &&
	    entry < verdict->n_expected && verdict->expected[entry])
		return run_fail(run, NULL, 0, verdict->expected[entry]);
	if (run->seen.foreseen)
		verdict_surprised(run->session);
	if (run->outcome != OUTCOME_FAIL || run->next >= run->n)
		return NULL;
	run->stop = !session->watch && !session->places && !session->tries &&
		    verdict->status_says && !verdict->touches &&
		    verdict_needs_foresight(run);
	run->blind |= !run->stop;
	return NULL;
}

struct err *verdict_end(struct run *run)
{
	struct verdict *verdict = run->session->verdict;
	struct verdict_seen *seen = &run->seen;
	struct verdict_place *place;
	uint64_t now = 0;
	if (!run->in_test || run->foresight)
		return NULL;
	if (run->session->tests_forked)
		return verdict_end_forked(run);
	verdict_disarm(run);
	/* The test failed in its own words: only the place may be missing. */
	if (run->outcome == OUTCOME_FAIL && !run->file && seen->file) {
		run->file = take_ptr(seen->file);
		run->line = seen->line;
		return NULL;
	}
	TRY(verdict_find_failed(run, &place, &now));
	if (place)
		return verdict_fail(run, place,
				    seen->before[place - verdict->places], now);
	if (verdict->tap && !run->outcome)
		return verdict_read_tap(run);
	size_t entry = run->session->reported;
	if (!run->outcome && (run->session->watch || run->session->places) &&
	    entry < verdict->n_expected && verdict->expected[entry])
		return run_fail(run, NULL, 0, verdict->expected[entry]);
	if (!seen->foreseen || run->outcome)
		return NULL;
	char text[96];
	snprintf(text, sizeof(text),
		 "after this test the program ends with exit status %d",
		 seen->foreseen);
	verdict_surprised(run->session);
	/* Of the tests after it the exit status says nothing. */
	if (!run->whole)
		run->stop = true;
	return run_fail(run, NULL, 0, text);
}

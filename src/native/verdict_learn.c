/*
 * Experiments that show which variables are the verdict of a runner: see
 * verdict.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "base/tap.h"
#include "dwarf/index.h"
#include "keep/save.h"
#include "native/framework.h"
#include "native/saving.h"
#include "native/verdict_internal.h"
#include "native/verdict_text.h"
#include "program/references.h"
#include "restore/positions.h"
#include "tracee/memory.h"
#include "tracee/output.h"
#include "tracee/remote.h"

/* For all experiments together, and at least for each of them. */
#define LEARNING_MAX_NS (UINT64_C(2500) * 1000 * 1000)
#define TRY_MIN_NS (UINT64_C(1000) * 1000 * 1000)
/* A try may take this many times as long as the program without its tests. */
#define SLOWER 10
#define ZEROES 4096
#define STACK_BYTES ((size_t)64 << 10)

/* How the program ended without its tests. */
struct ending {
	bool gone;
	int status;
	int killed_by;
	char *output;
	uint64_t took;
};

static void ending_free(struct ending *ending)
{
	free(ending->output);
	*ending = (struct ending){};
}

static bool ending_is_good(const struct ending *ending)
{
	return ending->gone && !ending->killed_by && !ending->status;
}

/* ---- experiments ---- */

struct poke {
	const struct scalar *scalar;
	uint64_t value;
};

static struct err *poke_write(const struct poke *poke, struct run *run)
{
	const struct scalar *scalar = poke->scalar;
	uint64_t words[3] = { poke->value };
	size_t n = scalar->size;
	struct raddr at, zeroes = RADDR(0);
	if (!scalar_place(scalar, run->tracee, &at))
		return err_create(ERR_SUITE, "'%s' is nowhere", scalar->name);
	/* One element, all zeroes: followed by none, and with no text. */
	if (scalar->kind != SCALAR_NUMBER) {
		TRY(remote_map(run->ready_thread, ZEROES, &zeroes));
		words[0] = zeroes.v;
	}
	if (scalar->kind == SCALAR_VECTOR) {
		words[1] = words[2] = zeroes.v + scalar->step;
		n = sizeof(words);
	}
	return memory_write(run->tracee, at, words, n);
}

/* Destructors may choke on what was written; until here it has all been said. */
static struct err *verdict_on_exit(struct run *run, struct thread *thread,
				   uint64_t arg)
{
	(void)arg;
	int status = (int)(thread_arg(thread, 0) & 0xff);
	if (!run->foresight || !status || run->session->verdict->end)
		return NULL;
	run->exit_status = status;
	run->stop = true;
	return NULL;
}

struct verdict_search {
	struct session *session;
	struct verdict *verdict;
	/* Stands before the first test, with all of them quiet; or NULL. */
	struct run *start;
	/* What belongs to the process that is kept after its last test. */
	struct positions *positions;
	struct saved *files;
	struct ending base;
	bool steady; /* without change it always prints the same */
	struct references *runner;
	uint64_t deadline;
	size_t tries;
};

static void verdict_search_free(struct verdict_search *search)
{
	run_destroy(search->start);
	run_destroy(take_ptr(search->verdict->end));
	positions_destroy(search->positions);
	saved_destroy(search->files);
	ending_free(&search->base);
	references_destroy(search->runner);
}

static struct err *verdict_start_run(struct session *session, struct run **ret)
{
	static const size_t none;
	_cleanup_(run_destroyp) struct run *run = NULL;
	TRY(session_process(session, &run));
	run->order = &none;
	run->n = 0;
	TRY(run_break_symbol(run, "exit", verdict_on_exit, 0, NULL));
	TRY(run->framework->start(run, run->ready_thread));
	*ret = take_ptr(run);
	return NULL;
}

/* One process for each experiment: a copy, where there can be copies. */
static struct err *verdict_next_run(struct verdict_search *search,
				    struct run **ret)
{
	struct session *session = search->session;
	struct run *end = search->verdict->end;
	if (end) {
		struct thread *thread = tracee_thread(end->tracee, 0);
		TRY(saving_put_back_to(session, search->files));
		TRY(positions_put_back(search->positions, thread));
		return run_copy(end, thread, ret);
	}
	TRY(saving_put_back(session));
	if (!session->origin || session->obstacle)
		return verdict_start_run(session, ret);
	if (!search->start)
		TRY(verdict_start_run(session, &search->start));
	TRY(positions_put_back(session->positions,
			       search->start->ready_thread));
	struct run *run = NULL;
	TRY(run_fork(search->start, &run));
	run->order = search->start->order;
	*ret = run;
	return NULL;
}

/* An order of no tests, with a value that a test might leave. */
static struct err *verdict_run_without_tests(struct verdict_search *search,
					     const struct poke *poke,
					     struct ending *ret)
{
	struct session *session = search->session;
	_cleanup_(run_destroyp) struct run *run = NULL;
	TRY(verdict_next_run(search, &run));
	output_restart(session->output);
	if (poke)
		TRY(poke_write(poke, run));
	run->foresight = poke || search->verdict->end;
	uint64_t start = clock_now();
	enum run_state state;
	TRY(run_loop(run, &state));
	if (state == RUN_INTERRUPTED)
		return err_create(ERR_INTERRUPTED, "interrupted");
	struct ending ending = {
		.gone = state == RUN_GONE || run->stop,
		.status = run->exit_status,
		.killed_by = run->killed_by,
		.took = clock_now() - start,
	};
	output_drain(session->output);
	TRY(run->stop ? run_output(run, &ending.output)
		      : output_peek(session->output, &ending.output));
	output_restart(session->output);
	*ret = ending;
	return NULL;
}

/* What tests write there if they fail; how many values. */
static unsigned verdict_list_values(const struct scalar *scalar, uint64_t now,
				    uint64_t values[VERDICT_TRIED])
{
	unsigned n = 0;
	if (scalar->kind != SCALAR_NUMBER) {
		values[n] = 1;
		return now || scalar->step > ZEROES / 2 ? 0 : 1;
	}
	uint64_t mask = scalar->size == 8
				? UINT64_MAX
				: (UINT64_C(1) << (8 * scalar->size)) - 1;
	for (unsigned i = 0; i < scalar->n_enumerators; i++) {
		uint64_t value = (uint64_t)scalar->enumerators[i] & mask;
		if (value != now)
			values[n++] = value;
	}
	if (n)
		return n;
	if (now)
		values[n++] = 0;
	values[n++] = (now + 1) & mask;
	return n;
}

static struct err *verdict_own(struct session *session,
			       const struct scalar *scalar)
{
	/* What is found through a pointer lies elsewhere in each process. */
	uint64_t n = scalar->kind == SCALAR_VECTOR ? 3 * sizeof(uint64_t)
						   : scalar->size;
	const struct program_span span = { scalar->address,
					   scalar->address + n };
	return scalar->through
		       ? NULL
		       : vec_push(&session->program->runner_spans, span);
}

/* Where the exit status tells, the program's words are not needed. */
static void verdict_add_place(struct verdict *verdict,
			      const struct verdict_place *place)
{
	if (verdict->n && verdict->places[0].printed && !place->printed)
		verdict->n = 0;
	if (verdict->n < VERDICT_PLACES &&
	    (!verdict->n || verdict->places[0].printed == place->printed))
		verdict->places[verdict->n++] = *place;
}

/* Does the program end as if a test had failed, with one of these values? */
static struct err *verdict_try_values(struct verdict_search *search,
				      const struct scalar *scalar,
				      const uint64_t *values, unsigned n,
				      struct verdict_place *ret,
				      bool *ret_turned, bool *ret_counts)
{
	struct verdict_place place = *ret;
	bool turned = false, counts = false, status = false;
	for (unsigned i = 0; i < n; i++) {
		const struct poke poke = { scalar, values[i] };
		_cleanup_(ending_free) struct ending ending = {};
		search->tries++;
		struct err *err =
			verdict_run_without_tests(search, &poke, &ending);
		if (err && err_kind(err) == ERR_INTERRUPTED)
			return err;
		if (err) {
			err_ignore(err);
			return NULL;
		}
		bool whole = ending.gone && !ending.killed_by;
		bool turns = whole && ending.status;
		if (whole && !turns && search->steady)
			turns = verdict_text_fails(search->base.output,
						   ending.output);
		if (whole && !turns && search->steady)
			counts |= verdict_text_counts(search->base.output,
						      ending.output);
		place.tried[place.n_tried++] =
			(struct verdict_try){ values[i], turns };
		turned |= turns;
		status |= turns && ending.status;
		if (turns)
			log_debug(LOG_NATIVE,
				  "verdict: with '%s' = %llu the program ends "
				  "with exit status %d",
				  scalar->name, (unsigned long long)values[i],
				  ending.status);
	}
	place.printed = !status;
	*ret = place;
	*ret_turned = turned;
	*ret_counts = counts;
	return NULL;
}

static struct err *verdict_try_scalar(struct verdict_search *search,
				      const struct scalar *scalar,
				      struct tracee *origin)
{
	struct verdict_place place = { .scalar = scalar };
	uint64_t values[VERDICT_TRIED];
	bool turned = false, counts = false;
	if (!scalar_measure(scalar, origin, &place.good))
		return NULL;
	unsigned n = verdict_list_values(scalar, place.good, values);
	TRY(verdict_try_values(search, scalar, values, n, &place, &turned,
			       &counts));
	if (turned)
		verdict_add_place(search->verdict, &place);
	return turned || counts ? verdict_own(search->session, scalar) : NULL;
}

/* A number in each of its bytes: flags may be in any of them. */
#define WORD_SET UINT64_C(0x01010101)

/* Tests may tell their runner through what they are called with. */
static struct err *verdict_try_argument(struct verdict_search *search,
					const struct thread *thread)
{
	const struct program *program = search->session->program;
	struct verdict *verdict = search->verdict;
	uint64_t argument = thread_arg(thread, 0);
	struct raddr function = regs_pc(&thread->regs);
	const struct module *module = program_module(program, function);
	struct object_signature signature;
	if (!module || !module->object || argument % sizeof(uint32_t) ||
	    !object_function_signature(module->object,
				       function.v - module->bias, &signature) ||
	    !signature.parameters)
		return NULL;
	for (size_t i = 0; i < VERDICT_ARGUMENT_WORDS; i++) {
		struct scalar word = {
			.kind = SCALAR_NUMBER,
			.address = argument + i * sizeof(uint32_t),
			.size = sizeof(uint32_t),
			.is_signed = true,
		};
		struct verdict_place place = { .argument = true };
		bool turned = false, counts = false;
		if (clock_now() >= search->deadline ||
		    !scalar_measure(&word, thread->tracee, &place.good))
			return NULL;
		if (place.good > 1)
			continue;
		const uint64_t value = place.good ? 0 : WORD_SET;
		TRY(str_format(&word.name, "argument+%zu",
			       i * sizeof(uint32_t)));
		struct err *err = verdict_try_values(search, &word, &value, 1,
						     &place, &turned, &counts);
		if (err || !turned || place.printed) {
			free(word.name);
			TRY(err);
			continue;
		}
		word.address = i * sizeof(uint32_t);
		place.scalar = &verdict->words[verdict->n_words];
		verdict->words[verdict->n_words++] = word;
		verdict_add_place(verdict, &place);
	}
	return NULL;
}

/* Words that programmers use for it: these are tried first. */
static bool verdict_is_likely(const struct scalar *scalar)
{
	static const char *const words[] = { "fail",   "err",	  "bad",
					     "status", "result",  "outcome",
					     "ok",     "pass",	  "succe",
					     "rc",     "verdict", "broken" };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasestr(scalar->name, words[i]))
			return true;
	}
	return false;
}

/* ---- what the runner refers to ---- */

static bool verdict_is_test(void *data, uint64_t at)
{
	const struct session *session = data;
	uint64_t known;
	return map_u64_get(&session->by_handle, at, &known);
}

/* The functions that are about to call tests, and all that they call. */
static struct err *verdict_find_runner(struct verdict_search *search,
				       struct thread *thread)
{
	_cleanup_(freep) uint64_t *stack = malloc(STACK_BYTES);
	if (!stack)
		return err_nomem();
	size_t n = memory_read_some(thread->tracee, regs_sp(&thread->regs),
				    stack, STACK_BYTES);
	return references_find(search->session->program, thread, stack,
			       n / sizeof(*stack), verdict_is_test,
			       search->session, &search->runner);
}

/* Which are tried when; 3: never. */
static int verdict_rank(const struct verdict_search *search,
			const struct scalar *scalar)
{
	bool likely = verdict_is_likely(scalar);
	if (references_has(search->runner, scalar->variable,
			   scalar->variable_size))
		return likely ? 0 : 1;
	return likely ? 2 : 3;
}

static struct err *verdict_try_all(struct verdict_search *search,
				   struct tracee *origin)
{
	size_t n;
	const struct scalar *all = scalars_all(search->verdict->scalars, &n);
	for (int rank = 0; rank < 3; rank++) {
		if (rank == 2 && search->verdict->n)
			break;
		for (size_t i = 0; i < n; i++) {
			if (verdict_rank(search, &all[i]) != rank)
				continue;
			if (clock_now() >= search->deadline) {
				log_debug(LOG_NATIVE,
					  "verdict: %zu values tried, then the "
					  "time was over",
					  search->tries);
				return NULL;
			}
			TRY(verdict_try_scalar(search, &all[i], origin));
		}
	}
	return NULL;
}

/* What points to the runner's own at the beginning is the runner's, too. */
static struct err *verdict_own_pointers(const struct verdict_search *search,
					struct tracee *origin)
{
	struct session *session = search->session;
	size_t n, spans = session->program->runner_spans.n;
	const struct scalar *all = scalars_all(search->verdict->scalars, &n);
	for (size_t i = 0; spans && i < n; i++) {
		uint64_t to = 0;
		if ((all[i].kind != SCALAR_POINTER &&
		     all[i].kind != SCALAR_LIST) ||
		    all[i].through ||
		    memory_read_some(origin, RADDR(all[i].address), &to,
				     sizeof(to)) != sizeof(to))
			continue;
		if (program_is_runners(session->program, to, 1))
			TRY(verdict_own(session, &all[i]));
	}
	return NULL;
}

static bool verdict_is_tap(const char *output)
{
	struct tap tap = {};
	tap_feed(&tap, output, strlen(output));
	tap_finish(&tap);
	return tap.has_plan;
}

/* ---- where all tests have run ---- */

/*
 * Of a program that ends well, what its tests changed is no verdict; of one that
 * does not, a verdict is what makes it end well if it is as it was.
 */
static struct err *verdict_try_after(struct verdict_search *search,
				     const struct scalar *scalar,
				     struct tracee *origin)
{
	struct verdict *verdict = search->verdict;
	struct verdict_place place = { .scalar = scalar };
	uint64_t values[VERDICT_TRIED], now;
	bool turned = false, counts = false;
	bool good = ending_is_good(&search->base);
	if (!scalar_measure(scalar, origin, &place.good) ||
	    !scalar_measure(scalar, verdict->end->tracee, &now) ||
	    (now == place.good) != good)
		return NULL;
	if (good) {
		unsigned n = verdict_list_values(scalar, now, values);
		TRY(verdict_try_values(search, scalar, values, n, &place,
				       &turned, &counts));
	} else if (scalar->kind == SCALAR_NUMBER) {
		const struct poke poke = { scalar, place.good };
		_cleanup_(ending_free) struct ending ending = {};
		search->tries++;
		TRY(verdict_run_without_tests(search, &poke, &ending));
		turned = ending_is_good(&ending);
		place.tried[place.n_tried++] =
			(struct verdict_try){ now, turned };
	}
	if (!turned || place.printed)
		return NULL;
	verdict_add_place(verdict, &place);
	return verdict_own(search->session, scalar);
}

/* The program ends badly without its tests: with them, and after them. */
static struct err *verdict_search_after(struct verdict_search *search,
					struct tracee *origin)
{
	struct session *session = search->session;
	struct verdict *verdict = search->verdict;
	size_t n;
	bool good;
	const struct scalar *all = scalars_all(verdict->scalars, &n);
	verdict->keeps_end = true;
	struct err *err = verdict_run_own_order(session, &good);
	verdict->keeps_end = false;
	TRY(err);
	if (!verdict->end)
		return NULL;
	TRY(positions_take(verdict->end->tracee, &search->positions));
	TRY(saving_take(session, &search->files));
	ending_free(&search->base);
	TRY(verdict_run_without_tests(search, NULL, &search->base));
	search->steady = false;
	for (int rank = 0; rank < 2; rank++) {
		for (size_t i = 0; i < n && clock_now() < search->deadline; i++)
			if (verdict_rank(search, &all[i]) == rank)
				TRY(verdict_try_after(search, &all[i], origin));
	}
	return NULL;
}

static bool verdict_is_uniform(const struct session *session,
			       const struct run *run)
{
	for (size_t i = 0; i < session->suite.tests.n; i++) {
		if (session->framework->result(run, i) ==
		    FRAMEWORK_RESULT_TELLS)
			return false;
	}
	return true;
}

static struct err *verdict_search_places(struct verdict_search *search)
{
	struct session *session = search->session;
	struct verdict *verdict = search->verdict;
	_cleanup_(freep) char *cache = NULL;
	_cleanup_(ending_free) struct ending again = {};
	_cleanup_(run_destroyp) struct run *origin = NULL;
	TRY(verdict_run_without_tests(search, NULL, &search->base));
	verdict->touches = saving_touched_file(&session->suite, 0);
	TRY(saving_put_back(session));
	/* Each experiment would take a new start, which makes new files. */
	if (verdict->touches && !session->origin)
		return NULL;
	TRY(verdict_run_without_tests(search, NULL, &again));
	BUG_ON(!search->base.output || !again.output);
	search->steady = !strcmp(search->base.output, again.output);
	verdict->tail_ns = search->base.took;
	verdict->status_says =
		ending_is_good(&search->base) && ending_is_good(&again);
	/* No variable that tests in children write is the runner's. */
	verdict->uniform = session->tests_forked;
	if (session->tests_forked)
		return NULL;
	verdict->tap = verdict_is_tap(search->base.output) ||
		       (session->opening && verdict_is_tap(session->opening));
	uint64_t timeout = session->suite.options.timeout_ns;
	session->suite.options.timeout_ns =
		MAX(TRY_MIN_NS, search->base.took * SLOWER);
	err_ignore(index_cache_folder(&cache));
	TRY(session_process(session, &origin));
	verdict->uniform = verdict_is_uniform(session, origin);
	TRY(scalars_create(session->program, origin->ready_thread, cache,
			   &verdict->scalars));
	TRY(verdict_find_runner(search, origin->ready_thread));
	if (!verdict->status_says && !verdict->uniform)
		return NULL;
	if (!verdict->status_says) {
		session->suite.options.timeout_ns = timeout;
		return verdict_search_after(search, origin->tracee);
	}
	TRY(verdict_try_all(search, origin->tracee));
	if (!verdict->n)
		TRY(verdict_try_argument(search, origin->ready_thread));
	return verdict_own_pointers(search, origin->tracee);
}

struct err *verdict_search(struct session *session, struct verdict *verdict)
{
	uint64_t start = clock_now();
	_cleanup_(verdict_search_free) struct verdict_search search = {
		.session = session,
		.verdict = verdict,
		.deadline = start + LEARNING_MAX_NS,
	};
	struct err *err = verdict_search_places(&search);
	log_debug(LOG_NATIVE, "verdict: %zu places after %zu tries in %llu ms",
		  verdict->n, search.tries,
		  (unsigned long long)((clock_now() - start) / 1000000));
	return err;
}

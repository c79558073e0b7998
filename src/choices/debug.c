/*
 * Why does a test fail under a set of choices? The smallest set that does it, by
 * delta debugging: first over the models, then over the numbered choices of those
 * that are left. There may be millions of choices, so they are cut into pieces,
 * and the pieces that matter into smaller ones, until they are single.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/minimise.h"
#include "choices/choices_internal.h"

/* Pieces at a time; choices of a test that are distinguished at all. */
#define PIECES 128
#define CHOICES_MAX ((uint64_t)1 << 32)
/* Without a budget: how long a single test is examined. */
#define DEBUG_NS ((uint64_t)60 * 1000 * 1000 * 1000)
/* Findings in one test: different APIs. */
#define FINDINGS_MAX 8
/* Decisive calls that are reported. */
#define CALLS_MAX 32
/* A test that sometimes fails on its own has to be noticed. */
#define WITHOUT_RUNS 5

DEFINE_VEC(ranges, struct wire_choice_range)
DEFINE_VEC(models, uint64_t)

struct debug {
	struct choices_search *search;
	size_t test;
	bool alone;
	struct choices_set set;
	uint64_t deadline;
	struct models models; /* that acted */
	struct ranges ranges; /* pieces */
	size_t asked;
	bool late; /* an error of fails_with() says no more than that */
};

static void debug_free(struct debug *debug)
{
	models_freep(&debug->models);
	ranges_freep(&debug->ranges);
}

static bool debug_is_late(const struct debug *debug)
{
	return clock_now() >= debug->deadline || choices_late(debug->search);
}

static struct err *fails_with(struct debug *debug,
			      const struct choices_set *set, bool *ret)
{
	_cleanup_(choices_trial_free) struct choices_trial trial = {};
	if (debug_is_late(debug)) {
		debug->late = true;
		return err_create(ERR_INTERRUPTED, "the budget is spent");
	}
	debug->asked++;
	TRY(choices_try(debug->search, set, debug->test, debug->alone, &trial));
	*ret = trial.outcome != OUTCOME_NONE && !outcome_is_good(trial.outcome);
	return NULL;
}

/* ---- models ---- */

static void only_models(const struct debug *debug, const size_t *places,
			size_t n, struct choices_set *set)
{
	memset(set->on, 0, sizeof(set->on));
	for (size_t i = 0; i < n; i++)
		choices_set_bit(set->on, debug->models.data[places[i]]);
}

static struct err *ask_models(void *data, const size_t *places, size_t n,
			      bool *ret)
{
	struct debug *debug = data;
	struct choices_set set = debug->set;
	only_models(debug, places, n, &set);
	return fails_with(debug, &set, ret);
}

static struct err *minimise_models(struct debug *debug,
				   const struct choices_trial *failing)
{
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		if (failing->acted[i] && choices_bit(debug->set.on, i))
			TRY(vec_push(&debug->models, i));
	}
	if (!debug->models.n)
		return NULL;
	size_t n = 0;
	_cleanup_(freep) size_t *places =
		calloc(debug->models.n, sizeof(*places));
	if (!places)
		return err_nomem();
	/* What minimise_list() does not ask: most often it is one model alone. */
	struct err *err =
		minimise_list(debug->models.n, ask_models, debug, places, &n);
	if (n)
		only_models(debug, places, n, &debug->set);
	return err;
}

/* ---- numbered choices ---- */

static uint64_t range_length(const struct wire_choice_range *range)
{
	return range->to - range->from;
}

static struct err *ask_ranges(void *data, const size_t *places, size_t n,
			      bool *ret)
{
	struct debug *debug = data;
	_cleanup_(ranges_freep) struct ranges some = {};
	for (size_t i = 0; i < n; i++) {
		struct wire_choice_range range = debug->ranges.data[places[i]];
		struct wire_choice_range *last =
			some.n ? &some.data[some.n - 1] : NULL;
		if (last && last->thread == range.thread &&
		    last->phase == range.phase && last->to == range.from)
			last->to = range.to;
		else
			TRY(vec_push(&some, range));
	}
	*ret = false;
	if (some.n > WIRE_CHOICE_RANGES)
		return NULL;
	struct choices_set set = debug->set;
	set.only_ranges = true;
	set.ranges = some.data;
	set.n_ranges = some.n;
	return fails_with(debug, &set, ret);
}

/* Every piece in parts, so that there are about PIECES; false: all are single. */
static struct err *debug_split_ranges(struct debug *debug, bool *ret)
{
	_cleanup_(ranges_freep) struct ranges pieces = {};
	uint64_t all = 0;
	for (size_t i = 0; i < debug->ranges.n; i++)
		all += range_length(&debug->ranges.data[i]);
	uint64_t part = all / PIECES + 1;
	*ret = false;
	for (size_t i = 0; i < debug->ranges.n; i++) {
		struct wire_choice_range range = debug->ranges.data[i];
		/* A piece at least halves, so that this ends. */
		uint64_t most = MIN(part, (range_length(&range) + 1) / 2);
		*ret |= range_length(&range) > 1;
		while (range.from < range.to) {
			struct wire_choice_range piece = range;
			piece.to = MIN(range.to,
				       range.from + MAX(most, (uint64_t)1));
			range.from = piece.to;
			TRY(vec_push(&pieces, piece));
		}
	}
	struct ranges old = debug->ranges;
	debug->ranges = pieces;
	pieces = old;
	return NULL;
}

static struct err *minimise_pieces(struct debug *debug)
{
	size_t n = 0;
	_cleanup_(freep) size_t *places =
		calloc(debug->ranges.n + 1, sizeof(*places));
	if (!places)
		return err_nomem();
	if (debug->ranges.n < 2)
		return NULL;
	struct err *err =
		minimise_list(debug->ranges.n, ask_ranges, debug, places, &n);
	for (size_t i = 0; i < n; i++)
		debug->ranges.data[i] = debug->ranges.data[places[i]];
	debug->ranges.n = n;
	return err;
}

/* All choices that the failing run made, phase by phase and thread by thread. */
static struct err *take_ranges(struct debug *debug,
			       const struct choices_trial *failing)
{
	uint64_t left = CHOICES_MAX;
	for (size_t i = 0; i < failing->threads.n; i++) {
		struct wire_choice_thread thread = failing->threads.data[i];
		if (thread.phase > 1 || (!thread.phase && !debug->set.startup))
			continue;
		struct wire_choice_range range = {
			.thread = thread.key,
			.phase = thread.phase,
			.to = MIN(thread.n, left),
		};
		left -= range.to;
		if (range.to)
			TRY(vec_push(&debug->ranges, range));
	}
	return NULL;
}

static struct err *minimise_choices(struct debug *debug,
				    const struct choices_trial *failing)
{
	TRY(take_ranges(debug, failing));
	/* Are these really all? With the whole list it must fail, too. */
	_cleanup_(freep) size_t *all =
		calloc(debug->ranges.n + 1, sizeof(*all));
	bool fails = false;
	if (!all)
		return err_nomem();
	for (size_t i = 0; i < debug->ranges.n; i++)
		all[i] = i;
	TRY(ask_ranges(debug, all, debug->ranges.n, &fails));
	if (!fails) {
		debug->ranges.n = 0;
		return NULL;
	}
	for (;;) {
		bool more;
		TRY(debug_split_ranges(debug, &more));
		TRY(minimise_pieces(debug));
		if (!more)
			return NULL;
	}
}

/* ---- one finding ---- */

static struct choices_set debug_decisive_set(const struct debug *debug)
{
	struct choices_set set = debug->set;
	if (debug->ranges.n && debug->ranges.n <= WIRE_CHOICE_RANGES) {
		set.only_ranges = true;
		set.ranges = debug->ranges.data;
		set.n_ranges = debug->ranges.n;
	}
	return set;
}

/* Does it behave as expected each time, with and without? */
static struct err *debug_verify_set(struct debug *debug, size_t *ret_failures,
				    size_t *ret_without)
{
	struct choices_search *search = debug->search;
	struct choices_set set = debug_decisive_set(debug);
	size_t repeats = search->options->repeats;
	*ret_failures = *ret_without = 0;
	for (size_t i = 0; i < repeats; i++) {
		bool fails;
		TRY(fails_with(debug, &set, &fails));
		*ret_failures += fails;
		if (!fails)
			return NULL;
	}
	for (size_t i = 0; i < MAX(repeats, (size_t)WITHOUT_RUNS); i++) {
		bool fails;
		TRY(fails_with(debug, NULL, &fails));
		*ret_without += fails;
	}
	return NULL;
}

/* ---- the test that made the calls ---- */

/*
 * Where a test fails only after others, its own calls have the same numbers as
 * theirs: which of the tests are those of?
 */
struct maker {
	struct debug *debug;
	struct choices_set set;
	size_t n;      /* tests up to the one that fails */
	uint64_t *off; /* by number in the suite */
};

/* Does it fail if they act only in the tests from @from to @to - 1? */
static struct err *maker_ask(struct maker *maker, size_t from, size_t to,
			     bool *ret)
{
	const struct choices_search *search = maker->debug->search;
	for (size_t i = 0; i < maker->n; i++)
		memset(maker->off + search->tests[i] * WIRE_MODEL_WORDS,
		       i >= from && i < to ? 0 : UINT8_MAX,
		       WIRE_MODEL_WORDS * sizeof(*maker->off));
	return fails_with(maker->debug, &maker->set, ret);
}

/* One of the tests alone: then @off is right for it. */
static struct err *maker_search(struct maker *maker, size_t *ret, bool *found)
{
	size_t low = 0, high = maker->n;
	TRY(maker_ask(maker, maker->n - 1, maker->n, found));
	if (*found) {
		*ret = maker->n - 1;
		return NULL;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		bool fails;
		TRY(maker_ask(maker, low, middle, &fails));
		if (fails)
			high = middle;
		else
			low = middle;
	}
	*ret = low;
	return maker_ask(maker, low, high, found);
}

/*
 * *@ret: the test in which the calls of @set were made, if it is a single one. They
 * act only in it from now on: *@ret_off, which @set points to, is the caller's.
 */
static struct err *debug_find_maker(struct debug *debug,
				    struct choices_set *set, uint64_t **ret_off,
				    size_t *ret)
{
	const struct choices_search *search = debug->search;
	_cleanup_(freep) uint64_t *off = calloc(
		suite_count(search->suite), WIRE_MODEL_WORDS * sizeof(*off));
	struct maker maker = { .debug = debug, .set = *set, .off = off };
	size_t place = 0;
	bool found = false;
	if (!off)
		return err_nomem();
	while (search->tests[maker.n++] != debug->test)
		;
	maker.set.off_by_test = off;
	struct err *err = maker_search(&maker, &place, &found);
	if (err && !debug->late)
		return err;
	if (!err && found) {
		*ret = search->tests[place];
		set->off_by_test = off;
		*ret_off = take_ptr(off);
	}
	err_destroy(err);
	debug->late = false;
	return NULL;
}

/* They are said to be those of @maker. */
static struct err *debug_charge_calls(const struct debug *debug, size_t maker,
				      struct assumption *finding)
{
	const char *name = suite_test(debug->search->suite, maker)->name;
	for (size_t i = 0; maker != debug->test && i < finding->calls.n; i++) {
		struct assumption_call *call = &finding->calls.data[i];
		if (assumption_call_early(call))
			continue;
		call->test = strdup(name);
		if (!call->test)
			return err_nomem();
	}
	return NULL;
}

/* Of how many seeds at this level, with these models alone? */
static struct err *count_failures(struct debug *debug,
				  struct assumption *finding)
{
	const struct choices_options *options = debug->search->options;
	struct choices_set set = debug->set;
	finding->runs = finding->failures = 1;
	for (size_t i = 0; i < options->runs; i++) {
		bool fails;
		set.seed = options->seed + i;
		if (set.seed == debug->set.seed)
			continue;
		if (debug_is_late(debug))
			return NULL;
		TRY(fails_with(debug, &set, &fails));
		finding->runs++;
		finding->failures += fails;
	}
	return NULL;
}

/* A call for each range at least, also where no record is. */
static struct err *take_calls(struct debug *debug, struct choices_trial *trial,
			      struct assumption *finding)
{
	size_t n = MIN(trial->calls.n, (size_t)CALLS_MAX);
	for (size_t i = 0; i < n; i++) {
		TRY(vec_push(&finding->calls, trial->calls.data[i]));
		trial->calls.data[i] = (struct assumption_call){};
	}
	if (!finding->calls.n) {
		struct assumption_call call = {};
		for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
			if (choices_bit(debug->set.on, i))
				call.model = i;
		}
		if (debug->ranges.n) {
			call.thread = debug->ranges.data[0].thread;
			call.n = debug->ranges.data[0].from;
			call.phase = debug->ranges.data[0].phase;
		}
		TRY(choices_add_nameless(debug->search->options, &call,
					 &finding->calls));
	}
	finding->model = finding->calls.data[0].model;
	return NULL;
}

static struct err *debug_add_finding(struct debug *debug, bool minimal)
{
	struct choices_search *search = debug->search;
	_cleanup_(choices_trial_free) struct choices_trial trial = {};
	_cleanup_(assumption_free) struct assumption finding = {
		.test = debug->test,
		.level = debug->set.level,
		.failing_seed = debug->set.seed,
		.minimal = minimal,
		.alone = debug->alone,
		.repeats = search->options->repeats,
	};
	struct choices_set set = debug_decisive_set(debug);
	memcpy(finding.numbered, set.models, sizeof(set.models));
	memcpy(finding.on, set.on, sizeof(set.on));
	finding.startup = set.startup;
	for (size_t i = 0; i < set.n_ranges; i++)
		TRY(vec_push(&finding.ranges, set.ranges[i]));
	size_t maker = debug->test;
	_cleanup_(freep) uint64_t *others = NULL;
	if (!debug->alone)
		TRY(debug_find_maker(debug, &set, &others, &maker));
	set.detail = true;
	TRY(choices_try(search, &set, debug->test, debug->alone, &trial));
	set.off_by_test = NULL;
	if (outcome_is_good(trial.outcome)) /* not each time, after all */
		return choices_try_flaky(search, &set, debug->test);
	finding.failure = choices_take_failure(&trial);
	for (size_t i = 0; !debug->alone && search->tests[i] != debug->test;
	     i++)
		TRY(vec_push(&finding.prefix, search->tests[i]));
	TRY(take_calls(debug, &trial, &finding));
	TRY(debug_charge_calls(debug, maker, &finding));
	struct err *err = count_failures(debug, &finding);
	if (err && !debug->late)
		return err;
	err_destroy(err);
	TRY(choices_finding_add(search, &finding));
	/* From now on others may be found in it. */
	uint64_t *off = search->off + debug->test * WIRE_MODEL_WORDS;
	for (size_t i = 0; i < WIRE_MODEL_WORDS; i++)
		off[i] |= debug->set.on[i];
	struct choices_test *test = &search->of[debug->test];
	test->left |= ++test->findings >= FINDINGS_MAX;
	return NULL;
}

/* The failure, once more: alone, or else after the tests before it. */
static struct err *fail_again(struct debug *debug, struct choices_trial *ret,
			      bool *ret_fails)
{
	for (int alone = 1; alone >= 0; alone--) {
		_cleanup_(choices_trial_free) struct choices_trial trial = {};
		bool without;
		debug->alone = alone;
		TRY(choices_try(debug->search, &debug->set, debug->test, alone,
				&trial));
		*ret_fails = trial.outcome != OUTCOME_NONE &&
			     !outcome_is_good(trial.outcome);
		if (!*ret_fails)
			continue;
		/* A test that needs others before it fails alone anyhow. */
		TRY(fails_with(debug, NULL, &without));
		if (without) {
			*ret_fails = false;
			continue;
		}
		*ret = trial;
		trial = (struct choices_trial){};
		return NULL;
	}
	return NULL;
}

/* Most failures have nothing to do with what was before the first test. */
static struct err *try_without_start(struct debug *debug,
				     struct choices_trial *failing)
{
	_cleanup_(choices_trial_free) struct choices_trial trial = {};
	struct choices_set set = debug->set;
	set.startup = false;
	TRY(choices_try(debug->search, &set, debug->test, debug->alone,
			&trial));
	if (trial.outcome == OUTCOME_NONE || outcome_is_good(trial.outcome))
		return NULL;
	debug->set = set;
	struct choices_trial old = *failing;
	*failing = trial;
	trial = old;
	return NULL;
}

static struct err *debug_test(struct debug *debug)
{
	_cleanup_(choices_trial_free) struct choices_trial failing = {};
	struct choices_search *search = debug->search;
	bool fails = false, minimal = true;
	size_t failures = 0, without = 0;
	TRY(fail_again(debug, &failing, &fails));
	/* What was found in it cannot always be switched off: the start. */
	if (!fails && search->of[debug->test].findings)
		return NULL;
	if (!fails) /* not even with the same choices in the same order */
		return choices_try_flaky(search, &debug->set, debug->test);
	TRY(try_without_start(debug, &failing));
	struct err *err = minimise_models(debug, &failing);
	if (!err)
		err = minimise_choices(debug, &failing);
	if (err && debug->late) {
		minimal = debug->late = false;
		err_destroy(err);
		debug->deadline = clock_now() + DEBUG_NS / 4;
		err = NULL;
	}
	TRY(err);
	err = debug_verify_set(debug, &failures, &without);
	if (!err && failures < search->options->repeats && debug->ranges.n) {
		/*
		 * Numbers do not hold where processes or threads take turns
		 * as it happens: then all calls of these APIs are it.
		 */
		debug->ranges.n = 0;
		err = debug_verify_set(debug, &failures, &without);
	}
	if (err && debug->late) {
		err_destroy(err);
		return choices_unexplained(search, &debug->set, debug->test);
	}
	TRY(err);
	log_debug(LOG_CHOICES, "'%s': %zu runs to find what makes it fail",
		  suite_test(search->suite, debug->test)->name, debug->asked);
	if (failures < search->options->repeats || without) {
		struct choices_set set = debug_decisive_set(debug);
		return choices_try_flaky(search, &set, debug->test);
	}
	return debug_add_finding(debug, minimal && debug->ranges.n);
}

struct err *choices_debug(struct choices_search *search,
			  const struct choices_set *set, size_t test)
{
	_cleanup_(debug_free) struct debug debug = {
		.search = search,
		.test = test,
		.set = *set,
		.deadline = clock_now() + DEBUG_NS,
	};
	const uint64_t *off = search->off + test * WIRE_MODEL_WORDS;
	for (size_t i = 0; i < WIRE_MODEL_WORDS; i++)
		debug.set.on[i] &= ~off[i];
	struct err *err = debug_test(&debug);
	if (err && debug.late) {
		err_destroy(err);
		return choices_unexplained(search, set, test);
	}
	return err;
}

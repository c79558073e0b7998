/* In which sequence things are tried: what is cheap and likely comes first. */
#include "order/order_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/shuffle.h"

/* Random orders of the whole suite, if no number was given. */
#define ORDERS_SYSTEMATIC 3
#define ORDERS_RANDOM 20
/* Tests that are run to know how long tests take. */
#define PACERS 16
/*
 * This part of the time for exploring is for tests that fail already, at most,
 * and this part of the rest for whole orders.
 */
#define EARLY_SHARE 2
/* This part of what is left then is kept for cleaners and what is open. */
#define END_SHARE 5
/* Tests in questions that are asked at once: they take memory. */
#define ENTRIES_MAX ((size_t)2 << 20)
/* What has no end of its own takes no longer than that without a budget: */
#define COVER_NS (20 * NS_PER_S)
#define COVER_RUNS 3 /* … or this many times the suite's own order */
/* Where no test leaves anything, orders only confirm it. */
#define CLEAN_NS (2 * NS_PER_S)

/* ---- the suite's own order ---- */

static void natural_started(void *data, size_t test)
{
	const struct order_search *search = data;
	const struct suite_observer *outer = search->outer;
	if (outer->started)
		outer->started(outer->data, test);
}

static void natural_finished(void *data, const struct suite_result *result)
{
	struct order_search *search = data;
	const struct suite_observer *outer = search->outer;
	search->known[result->test].natural =
		(uint8_t)suite_result_judged(result);
	search_note_ns(search, result);
	if (outer->finished)
		outer->finished(outer->data, result);
}

static void natural_limit(void *data, const char *text)
{
	search_say(data, text);
}

/* Known from looking for pollution, where that was done. */
static struct err *run_natural(struct order_search *search)
{
	const struct pollution *pollution = search->pollution;
	if (pollution && pollution->outcomes) {
		for (size_t i = 0; i < search->n; i++)
			search->known[search->tests[i]].natural =
				pollution->outcomes[search->tests[i]];
		search->natural_ns = pollution->ns;
		return search_keep_files(search);
	}
	const struct suite_observer observer = {
		.started = natural_started,
		.finished = natural_finished,
		.limit = natural_limit,
		.data = search,
	};
	uint64_t began = clock_now();
	struct err *err = suite_run(search->suite, search->tests, search->n,
				    SUITE_SERIAL, &observer);
	search->natural_ns = clock_now() - began;
	TRY(err);
	return search_keep_files(search);
}

/* Which tests had another outcome there than alone? Each is named once. */
static struct err *judge_natural(struct order_search *search)
{
	size_t begin = 0;
	for (size_t i = 0; i < search->n; i++) {
		struct order_known *known = &search->known[search->tests[i]];
		if (!known->judged &&
		    order_differs((enum outcome)known->natural,
				  (enum outcome)known->alone))
			TRY(search_suspect(search, search->tests[i],
					   search->tests + begin, i - begin,
					   (enum outcome)known->natural, true));
		known->judged = known->natural && known->alone;
		if (i > begin && known->natural)
			search_pair(search, search->tests[i - 1],
				    search->tests[i]);
		if (order_ends(search, (enum outcome)known->natural) ||
		    !known->natural)
			begin = i + 1;
	}
	return NULL;
}

/* ---- questions of a kind ---- */

/* A part of the time for exploring, for what comes again later. */
struct share {
	const char *why;
	uint64_t until;
};

static struct share share_begin(struct order_search *search)
{
	struct share share = {
		.why = search->result->reach.why,
		.until = search->explore_until,
	};
	uint64_t now = clock_now();
	if (share.until > now)
		search->explore_until = now + (share.until - now) / EARLY_SHARE;
	return share;
}

static void share_end(struct order_search *search, struct share share)
{
	search->explore_until = share.until;
	if (clock_now() < share.until)
		search->result->reach.why = share.why;
}

struct err *search_alone(struct order_search *search, size_t test,
			 enum outcome *ret)
{
	struct order_known *known = &search->known[test];
	if (!known->alone) {
		enum outcome outcome = OUTCOME_NONE;
		TRY(asks_one(search, NULL, 0, test, 0, &outcome));
		known->alone = (uint8_t)outcome;
	}
	*ret = (enum outcome)known->alone;
	return NULL;
}

static struct err *ask_alone(struct order_search *search, const size_t *tests,
			     size_t n)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	for (size_t i = 0; i < n; i++)
		TRY(asks_add(search, &asks, NULL, 0, tests[i]));
	TRY(asks_run(search, &asks, 0));
	bool all = true;
	for (size_t i = 0; i < MIN(n, asks.n); i++) {
		search->known[tests[i]].alone = (uint8_t)asks.data[i].outcome;
		all &= asks.data[i].outcome != OUTCOME_NONE;
	}
	search->result->reach.alone = all && n == search->n;
	return NULL;
}

/*
 * Those that fail already come before all others: they are few, and where a
 * process cannot be copied, running each test alone may take all the time there
 * is.
 */
static struct err *ask_failed_alone(struct order_search *search)
{
	_cleanup_(order_tests_freep) struct order_tests failed = {};
	for (size_t i = 0; i < search->n; i++) {
		enum outcome natural =
			(enum outcome)search->known[search->tests[i]].natural;
		if (natural && !outcome_is_good(natural))
			TRY(vec_push(&failed, search->tests[i]));
	}
	if (!failed.data)
		return NULL;
	struct share share = share_begin(search);
	struct err *err = ask_alone(search, failed.data, failed.n);
	share_end(search, share);
	return err ? err : judge_natural(search);
}

static struct err *ask_pair(struct order_search *search,
			    struct order_asks *asks, size_t first,
			    size_t second)
{
	if (search_useless(search, first) ||
	    search->known[second].place == ORDER_NONE ||
	    search->known[second].random)
		return NULL;
	return asks_add(search, asks, &first, 1, second);
}

/* Does it alone turn a test that was found? */
static bool is_culprit(const struct order_search *search, size_t test)
{
	for (size_t i = 0; i < search->found.n; i++) {
		const struct order_lists *lists =
			dependence_culprits(&search->found.data[i]);
		for (size_t j = 0; lists && j < lists->n; j++) {
			if (lists->data[j].n == 1 &&
			    lists->data[j].data[0] == test)
				return true;
		}
	}
	return false;
}

/*
 * Polluters and the tests seen to read what they left. @culprits: only those that
 * turned one test already: they may turn others.
 */
static struct err *ask_candidates(struct order_search *search, bool culprits)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	const struct pollution *pollution = search->pollution;
	for (size_t i = 0; pollution && i < pollution->findings.n; i++) {
		const struct leftover *leftover =
			leftover_of(&pollution->findings.data[i]);
		if (culprits && !is_culprit(search, leftover->test))
			continue;
		for (size_t j = 0; j < leftover->readers.n; j++) {
			if (leftover->readers.data[j] != leftover->test)
				TRY(ask_pair(search, &asks, leftover->test,
					     leftover->readers.data[j]));
		}
	}
	return asks_judge(search, &asks,
			  culprits ? NULL : &search->result->reach.candidates);
}

struct timed {
	uint64_t ns;
	size_t test;
};

static int by_time(const void *a, const void *b)
{
	const struct timed *one = a, *other = b;
	if (one->ns != other->ns)
		return one->ns < other->ns ? -1 : 1;
	return one->test < other->test ? -1 : one->test > other->test;
}

/* The quick ones first: those that sleep may take all the time there is. */
static struct err *ask_twice(struct order_search *search, const size_t *tests,
			     size_t n, bool *ret_all)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	_cleanup_(freep) struct timed *timed = calloc(n + 1, sizeof(*timed));
	if (!timed)
		return err_nomem();
	for (size_t i = 0; i < n; i++) {
		/* Whole milliseconds: the rest is chance. */
		uint64_t ns = search->known[tests[i]].ns;
		timed[i] = (struct timed){ ns / NS_PER_MS, tests[i] };
	}
	qsort(timed, n, sizeof(*timed), by_time);
	for (size_t i = 0; i < n; i++)
		TRY(ask_pair(search, &asks, timed[i].test, timed[i].test));
	return asks_judge(search, &asks, ret_all);
}

/* @leavers, those of the test's own group last: groups stay together. */
static struct err *list_before(const struct order_search *search,
			       const struct order_tests *leavers, size_t test,
			       struct order_tests *ret)
{
	size_t unit = search_unit(search, test);
	for (int own = 0; own < 2; own++) {
		for (size_t i = 0; i < leavers->n; i++) {
			size_t other = leavers->data[i];
			bool same = unit != SUITE_NO_GROUP &&
				    search_unit(search, other) == unit;
			if (search->fixed && other > test)
				continue;
			if (other != test && same == (own == 1))
				TRY(vec_push(ret, other));
		}
	}
	return NULL;
}

/*
 * All that leaves something behind, and then each test: a test disturbed by any
 * of them, or by several together, shows it unless another one cleaned up.
 */
static struct err *ask_after_all(struct order_search *search, bool backwards)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	_cleanup_(order_tests_freep) struct order_tests leavers = {},
							prefix = {};
	for (size_t i = 0; i < search->n; i++) {
		size_t at = backwards ? search->n - 1 - i : i;
		size_t test = search->tests[at];
		if (search->known[test].leaves && !search_useless(search, test))
			TRY(vec_push(&leavers, test));
	}
	size_t entries = 0;
	for (size_t i = 0; i < search->n && !search_late(search); i++) {
		size_t test = search->tests[i];
		prefix.n = 0;
		TRY(list_before(search, &leavers, test, &prefix));
		if (!prefix.n || search->known[test].random)
			continue;
		TRY(asks_add(search, &asks, prefix.data, prefix.n, test));
		entries += prefix.n;
		if (entries < ENTRIES_MAX)
			continue;
		TRY(asks_judge(search, &asks, NULL));
		entries = 0;
	}
	return asks_judge(search, &asks, NULL);
}

/* ---- whole orders ---- */

static struct err *add_order(struct order_search *search,
			     struct order_lists *orders, const size_t *order,
			     size_t n)
{
	struct order_tests list = {};
	TRY(rules_arrange(search->rules, order, n, &list.data, &list.n));
	list.cap = list.n;
	struct err *err = vec_push(orders, list);
	if (err)
		vec_free(&list);
	return err;
}

static struct err *run_reversed(struct order_search *search)
{
	struct order_lists orders = {};
	_cleanup_(freep) size_t *order = calloc(search->n + 1, sizeof(*order));
	if (!order)
		return err_nomem();
	for (size_t i = 0; i < search->n; i++)
		order[i] = search->tests[search->n - 1 - i];
	size_t done = 0;
	struct err *err = add_order(search, &orders, order, search->n);
	if (!err)
		err = orders_run(search, &orders, 0, &done);
	search->result->reach.reversed |= done > 0;
	order_lists_free(&orders);
	return err;
}

static struct err *run_shuffled(struct order_search *search, size_t count)
{
	struct order_lists orders = {};
	_cleanup_(freep) size_t *order = calloc(search->n + 1, sizeof(*order));
	if (!order)
		return err_nomem();
	struct err *err = NULL;
	uint64_t seed = search->options->seed;
	for (size_t i = 0; !err && i < count; i++) {
		memcpy(order, search->tests, search->n * sizeof(*order));
		shuffle_order(order, search->n, shuffle_next(&seed));
		err = add_order(search, &orders, order, search->n);
	}
	if (!err)
		err = orders_run(search, &orders, 0, NULL);
	order_lists_free(&orders);
	return err;
}

/* ---- strategies ---- */

static struct err *explain_all(struct order_search *search,
			       struct err *(*explain)(struct order_search *))
{
	search->exploring = false;
	struct err *err = explain(search);
	search->exploring = true;
	return err;
}

static struct err *order_explore_orders(struct order_search *search,
					struct err *err)
{
	return err ? err : explain_all(search, explain_suspects);
}

/* All polluters of each, and other lists, once each has an explanation. */
static struct err *explain_deeper(struct order_search *search)
{
	TRY(explain_all(search, explain_singles));
	TRY(explain_all(search, explain_rest));
	return explain_all(search, explain_singles);
}

/*
 * Whole orders cost a run of the suite each, and show more for that than any
 * question about a single test. They get a part of the time.
 */
static struct err *explore_whole(struct order_search *search, size_t random)
{
	struct share share = share_begin(search);
	/* How long things take is not known before some have run. */
	struct err *err = ask_alone(search, search->tests,
				    MIN(search->n, (size_t)PACERS));
	if (!err)
		err = run_reversed(search);
	if (!err)
		err = run_shuffled(search, random);
	share_end(search, share);
	return err;
}

/* Polluters with each test; a few of them at a time. */
static struct err *ask_polluters(struct order_search *search)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	bool all = search->pollution != NULL;
	for (size_t i = 0; i < search->leavers.n && !search_late(search); i++) {
		size_t polluter = search->leavers.data[i];
		for (size_t j = 0; j < search->n; j++) {
			if (search->tests[j] != polluter)
				TRY(ask_pair(search, &asks, polluter,
					     search->tests[j]));
		}
		bool answered;
		TRY(order_explore_orders(search,
					 asks_judge(search, &asks, &answered)));
		all &= answered;
	}
	search->result->reach.polluters = all && !search_late(search);
	return NULL;
}

static struct err *search_likely(struct order_search *search)
{
	size_t orders = search->options->orders == (size_t)-1
				? ORDERS_SYSTEMATIC
				: search->options->orders;
	TRY(run_natural(search));
	TRY(explain_all(search, explain_earlier));
	TRY(order_explore_orders(search, ask_failed_alone(search)));
	if (!search->fixed) /* else of whole orders there is but one */
		TRY(explore_whole(search, orders));
	TRY(ask_alone(search, search->tests, search->n));
	TRY(order_explore_orders(search, judge_natural(search)));
	TRY(order_explore_orders(search, ask_candidates(search, true)));
	if (!search->fixed)
		TRY(order_explore_orders(search,
					 ask_twice(search, search->leavers.data,
						   search->leavers.n, NULL)));
	TRY(order_explore_orders(search, ask_candidates(search, false)));
	if (search->options->budget)
		TRY(explain_all(search, explain_roots));
	TRY(order_explore_orders(search, ask_after_all(search, false)));
	if (!search->fixed) {
		TRY(order_explore_orders(search, ask_after_all(search, true)));
		/* Those that did not fit at first; no order runs twice. */
		TRY(order_explore_orders(search, run_reversed(search)));
		TRY(order_explore_orders(search, run_shuffled(search, orders)));
	}
	return explain_deeper(search);
}

static struct err *order_search_all(struct order_search *search)
{
	uint64_t now = clock_now(), deadline = search->options->deadline;
	uint64_t until = deadline > now
				 ? deadline - (deadline - now) / END_SHARE
				 : search->explore_until;
	if (!search->options->budget && !search->options->all_pairs) {
		bool clean = search->pollution && !search->leavers.n;
		uint64_t limit = now + MAX(clean ? CLEAN_NS : COVER_NS,
					   COVER_RUNS * search->natural_ns);
		until = until ? MIN(until, limit) : limit;
	}
	if (search->options->all_pairs && !search->options->budget)
		until = 0;
	search->explore_until = until;
	if (!search->fixed)
		TRY(order_explore_orders(
			search, ask_twice(search, search->tests, search->n,
					  &search->result->reach.twice)));
	TRY(ask_polluters(search));
	return order_explore_orders(search, cover_pairs(search));
}

/* What is left of the time is for what was seen and not explained. */
static struct err *search_end(struct order_search *search)
{
	TRY(explain_all(search, explain_suspects));
	TRY(explain_all(search, explain_open));
	TRY(explain_deeper(search));
	TRY(explain_all(search, explain_roots));
	TRY(explain_all(search, explain_cleaners));
	if (search->explained < search->suspects.n) {
		/* What explaining came across. */
		TRY(explain_all(search, explain_suspects));
		TRY(explain_deeper(search));
		TRY(explain_all(search, explain_roots));
		TRY(explain_all(search, explain_cleaners));
	}
	return explain_all(search, flaky_settle);
}

struct err *search_systematic(struct order_search *search)
{
	search->exploring = true;
	TRY(search_likely(search));
	TRY(explain_all(search, explain_roots));
	TRY(order_explore_orders(search, flaky_ask_again(search)));
	TRY(order_search_all(search));
	return search_end(search);
}

struct err *search_random(struct order_search *search)
{
	size_t orders = search->options->orders;
	search->exploring = true;
	TRY(run_natural(search));
	TRY(explain_all(search, explain_earlier));
	TRY(run_shuffled(search,
			 orders == (size_t)-1 ? ORDERS_RANDOM : orders));
	return search_end(search);
}

/*
 * Tests that leave something that readers may prove harmless, the readers, and those
 * that come before it: the others have passed after it.
 */
static struct err *list_readers(const struct order_search *search,
				struct order_tests *ret)
{
	const struct pollution *pollution = search->pollution;
	_cleanup_(freep) bool *listed =
		calloc(suite_count(search->suite) + 1, sizeof(*listed));
	if (!listed)
		return err_nomem();
	for (size_t i = 0; i < pollution->findings.n; i++) {
		const struct finding *finding = &pollution->findings.data[i];
		const struct leftover *leftover = leftover_of(finding);
		if (!leftover_wants_proof(finding))
			continue;
		for (size_t j = 0;
		     j <= search->known[leftover->test].place && j < search->n;
		     j++)
			listed[search->tests[j]] = true;
		for (size_t j = 0; j < leftover->readers.n; j++)
			listed[leftover->readers.data[j]] = true;
	}
	for (size_t i = 0; i < search->n; i++) {
		if (listed[search->tests[i]])
			TRY(vec_push(ret, search->tests[i]));
	}
	return NULL;
}

/* What it leaves may mislead its readers, and those that come before it. */
static struct err *ask_leaver(struct order_search *search,
			      const struct leftover *leftover, bool again,
			      struct order_asks *asks)
{
	size_t first = leftover->test;
	size_t place = again ? 0 : search->known[first].place;
	for (size_t i = 0; i < leftover->readers.n; i++)
		TRY(ask_pair(search, asks, first, leftover->readers.data[i]));
	for (size_t i = 0; i < MIN(place, search->n); i++)
		TRY(ask_pair(search, asks, first, search->tests[i]));
	return NULL;
}

struct err *search_proof(struct order_search *search)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	_cleanup_(order_tests_freep) struct order_tests alone = {};
	const struct pollution *pollution = search->pollution;
	size_t last = ORDER_NONE;
	search->exploring = true;
	TRY(run_natural(search));
	TRY(list_readers(search, &alone));
	TRY(ask_alone(search, alone.data, alone.n));
	for (size_t i = 0; i < pollution->findings.n; i++) {
		const struct finding *finding = &pollution->findings.data[i];
		const struct leftover *leftover = leftover_of(finding);
		if (!leftover_wants_proof(finding))
			continue;
		TRY(ask_leaver(search, leftover, leftover->test == last,
			       &asks));
		last = leftover->test;
	}
	TRY(asks_run(search, &asks, 0));
	for (size_t i = 0; i < asks.n; i++) {
		const struct order_tests *order = &asks.data[i].order;
		enum outcome outcome = asks.data[i].outcome;
		if (order->n && outcome && !outcome_is_good(outcome) &&
		    outcome_is_good((enum outcome)search
					    ->known[order->data[order->n - 1]]
					    .alone))
			search->known[asks.data[i].asked].misleads = true;
	}
	return NULL;
}

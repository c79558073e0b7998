/*
 * Flaky tests: those that end both ways in one and the same order. What is said
 * of them is to be the same in every run, although they are not: the order is
 * the shortest in which they go both ways, alone before all others, and it is
 * run a fixed number of times.
 */
#include "order/order_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/compare.h"
#include "base/log.h"

/* Runs of each test alone, beyond those that show how it depends on others … */
#define AGAIN_RUNS 10
/* … as far as they take no longer than this. */
#define AGAIN_NS (5 * NS_PER_S)
/* Single tests before it that are tried. */
#define SINGLES_MAX 16

static struct err *make_order(const size_t *prefix, size_t n, size_t test,
			      struct order_tests *ret)
{
	struct order_tests order = {};
	struct err *err = vec_append(&order, prefix, n);
	if (!err)
		err = vec_push(&order, test);
	if (err)
		vec_free(&order);
	else
		*ret = order;
	return err;
}

/* What was found of a test was chance as well. */
static void drop_found(struct order_search *search, size_t test)
{
	search->known[test].random = true;
	for (size_t i = 0; i < search->found.n; i++) {
		if (search->found.data[i].test == test)
			search->found.data[i].repeats = 0;
	}
}

/* Runs of one order did not begin with the same files: nobody knows. */
static struct err *say_unrestored(struct order_search *search, size_t test,
				  const struct order_repeats *repeats,
				  const char *unrestored)
{
	_cleanup_(freep) char *text = NULL;
	if (asprintf(&text,
		     "order: '%s' failed in %zu of %zu runs of one order, "
		     "before which not all files could be restored (%s)",
		     suite_test(search->suite, test)->name, repeats->bad,
		     repeats->runs, unrestored) < 0)
		return err_nomem();
	search_say(search, text);
	return NULL;
}

struct err *flaky_note(struct order_search *search, size_t test,
		       const size_t *prefix, size_t n,
		       struct order_repeats *repeats)
{
	const char *unrestored = suite_unrestored(search->suite, 0);
	if (search->known[test].random)
		return NULL;
	if (unrestored) {
		drop_found(search, test);
		return say_unrestored(search, test, repeats, unrestored);
	}
	struct flaky flaky = {
		.test = test,
		.runs = repeats->runs,
		.failures = repeats->bad,
	};
	TRY(make_order(prefix, n, test, &flaky.order));
	struct err *err = vec_push(&search->flakies, flaky);
	if (err) {
		flaky_free(&flaky);
		return err;
	}
	search->flakies.data[search->flakies.n - 1].failure = repeats->failure;
	repeats->failure = (struct finding_failure){};
	log_debug(LOG_ORDER,
		  "%s is flaky: it failed in %zu of %zu runs of one order",
		  suite_test(search->suite, test)->name, repeats->bad,
		  repeats->runs);
	drop_found(search, test);
	return NULL;
}

struct err *flaky_ask_again(struct order_search *search)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	uint64_t cost = search_cost_of(search, search->tests, search->n);
	uint64_t once = MAX(search_expect(search, cost, false), UINT64_C(1));
	size_t runs = MIN((size_t)(AGAIN_NS / once), (size_t)AGAIN_RUNS);
	for (size_t i = 0; i < search->n; i++) {
		size_t test = search->tests[i];
		const struct order_known *known = &search->known[test];
		for (size_t j = 0; j < runs; j++) {
			if (!known->random && known->alone &&
			    known->alone != OUTCOME_TIMEOUT)
				TRY(asks_add(search, &asks, NULL, 0, test));
		}
	}
	TRY(asks_run(search, &asks, ASK_ANEW));
	for (size_t i = 0; i < asks.n; i++) {
		const struct order_ask *ask = &asks.data[i];
		size_t test = ask->order.data[ask->order.n - 1];
		if (order_differs(ask->outcome,
				  (enum outcome)search->known[test].alone))
			TRY(search_suspect(search, test, NULL, 0, ask->outcome,
					   false));
	}
	return NULL;
}

/* ---- the order that is shown ---- */

/* Identical runs after @prefix; *@ret: it went both ways, and @flaky says so. */
static struct err *flaky_try(struct order_search *search, struct flaky *flaky,
			     const size_t *prefix, size_t n, bool *ret)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	_cleanup_(order_repeats_freep) struct order_repeats repeats = {};
	uint64_t cost = search_cost(search, flaky->test) +
			search_cost_of(search, prefix, n);
	size_t runs = flaky_runs(search_expect(search, cost, true));
	*ret = false;
	for (size_t i = 0; i < runs; i++)
		TRY(asks_add(search, &asks, prefix, n, flaky->test));
	TRY(asks_run(search, &asks, ASK_SERIAL | ASK_ANEW | ASK_DETAILS));
	for (size_t i = 0; i < asks.n; i++)
		order_repeats_count(&repeats, &asks.data[i]);
	if (!order_repeats_mixed(&repeats) || repeats.missing)
		return NULL;
	struct order_tests order = {};
	TRY(make_order(prefix, n, flaky->test, &order));
	flaky_free(flaky);
	*flaky = (struct flaky){
		.test = order.data[n],
		.runs = repeats.runs,
		.failures = repeats.bad,
		.order = order,
		.failure = repeats.failure,
	};
	repeats.failure = (struct finding_failure){};
	*ret = true;
	return NULL;
}

struct err *flaky_again(struct order_search *search, size_t test,
			const size_t *prefix, size_t n, bool *ret)
{
	struct flaky flaky = { .test = test };
	TRY(flaky_try(search, &flaky, prefix, n, ret));
	if (!*ret)
		return NULL;
	struct err *err = vec_push(&search->flakies, flaky);
	if (err)
		flaky_free(&flaky);
	search->known[test].random = true;
	return err;
}

/* Tests before it that may matter, those that leave something first. */
static struct err *list_singles(const struct order_search *search,
				const struct flaky *flaky,
				struct order_tests *ret)
{
	for (int leaves = 1; leaves >= 0; leaves--) {
		_cleanup_(order_tests_freep) struct order_tests some = {};
		for (size_t i = 0; i + 1 < flaky->order.n; i++) {
			size_t test = flaky->order.data[i];
			if (search->known[test].leaves == leaves &&
			    !tests_have(&some, test))
				TRY(vec_push(&some, test));
		}
		if (some.n)
			qsort(some.data, some.n, sizeof(*some.data),
			      compare_as_u64);
		TRY(vec_append(ret, some.data, some.n));
	}
	return NULL;
}

static struct err *flaky_settle_one(struct order_search *search,
				    struct flaky *flaky)
{
	_cleanup_(order_tests_freep) struct order_tests singles = {};
	bool mixed;
	TRY(flaky_try(search, flaky, NULL, 0, &mixed));
	if (mixed || flaky->order.n == 1)
		return NULL;
	TRY(list_singles(search, flaky, &singles));
	for (size_t i = 0; i < singles.n && i < SINGLES_MAX; i++) {
		TRY(flaky_try(search, flaky, &singles.data[i], 1, &mixed));
		if (mixed)
			return NULL;
	}
	return NULL;
}

static int flaky_by_test(const void *a, const void *b)
{
	const struct flaky *one = a, *other = b;
	return one->test < other->test ? -1 : one->test > other->test;
}

struct err *flaky_settle(struct order_search *search)
{
	for (size_t i = 0; i < search->flakies.n; i++) {
		search->gave_up = 0;
		if (search_late(search))
			break;
		TRY(flaky_settle_one(search, &search->flakies.data[i]));
	}
	if (search->flakies.n)
		qsort(search->flakies.data, search->flakies.n,
		      sizeof(*search->flakies.data), flaky_by_test);
	return NULL;
}

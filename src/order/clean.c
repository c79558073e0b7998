/* Cleaners: tests that, run between polluter and victim, let the victim pass. */
#include "order/order_internal.h"

/* Polluters of a victim whose cleaners are searched for. */
#define POLLUTERS_MAX 4
/* Cleaners that are verified one by one. */
#define CLEANERS_VERIFIED 64

static struct err *ask_between(struct order_search *search,
			       const struct order_tests *polluters,
			       size_t cleaner, size_t test,
			       struct order_asks *asks)
{
	_cleanup_(order_tests_freep) struct order_tests prefix = {};
	TRY(vec_append(&prefix, polluters->data, polluters->n));
	TRY(vec_push(&prefix, cleaner));
	return asks_add(search, asks, prefix.data, prefix.n, test);
}

/*
 * Does it go wrong itself after the polluters? Then it is a victim of the same,
 * however it leaves things behind: no model for a tear-down.
 */
static struct err *is_victim(struct order_search *search,
			     const struct order_tests *polluters, size_t test,
			     bool *ret)
{
	enum outcome outcome = OUTCOME_NONE;
	TRY(asks_one(search, polluters->data, polluters->n, test, 0, &outcome));
	*ret = !outcome_is_good(outcome);
	return NULL;
}

static struct err *drop_victims(struct order_search *search,
				const struct order_tests *polluters,
				struct order_tests *tests)
{
	size_t kept = 0;
	for (size_t i = 0; i < tests->n; i++) {
		bool victim;
		TRY(is_victim(search, polluters, tests->data[i], &victim));
		if (!victim)
			tests->data[kept++] = tests->data[i];
	}
	tests->n = kept;
	return NULL;
}

/* Of @tests those with which the victim passes. */
static struct err *keep_cleaners(struct order_search *search,
				 const struct order_tests *polluters,
				 size_t test, unsigned flags, size_t max,
				 struct order_tests *tests)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	size_t kept = 0;
	for (size_t i = 0; i < tests->n && i < max; i++)
		TRY(ask_between(search, polluters, tests->data[i], test,
				&asks));
	TRY(asks_run(search, &asks, flags));
	for (size_t i = 0; i < tests->n; i++) {
		if (i >= asks.n || (!asks.data[i].impossible &&
				    outcome_is_good(asks.data[i].outcome)))
			tests->data[kept++] = tests->data[i];
	}
	tests->n = kept;
	return NULL;
}

static struct err *cleaners_of(struct order_search *search,
			       const struct order_tests *polluters, size_t test,
			       struct order_lists *ret)
{
	_cleanup_(order_tests_freep) struct order_tests tests = {};
	for (size_t i = 0; i < search->n; i++) {
		if (search->tests[i] != test &&
		    !tests_have(polluters, search->tests[i]))
			TRY(vec_push(&tests, search->tests[i]));
	}
	TRY(keep_cleaners(search, polluters, test, 0, tests.n, &tests));
	TRY(drop_victims(search, polluters, &tests));
	if (tests.n)
		TRY(keep_cleaners(search, polluters, test,
				  ASK_SERIAL | ASK_ANEW, CLEANERS_VERIFIED,
				  &tests));
	for (size_t i = 0; i < tests.n; i++) {
		struct order_tests list = {};
		TRY(tests_copy(&tests.data[i], 1, &list));
		struct err *err = vec_push(ret, list);
		if (err)
			vec_free(&list);
		TRY(err);
	}
	return NULL;
}

struct err *find_cleaners(struct order_search *search,
			  struct dependence *finding)
{
	for (size_t i = finding->cleaned.n;
	     i < finding->polluters.n && i < POLLUTERS_MAX &&
	     !search_late(search);
	     i++) {
		struct order_lists lists = {};
		struct err *err =
			cleaners_of(search, &finding->polluters.data[i],
				    finding->test, &lists);
		if (!err)
			err = vec_push(&finding->cleaned, lists);
		if (err)
			order_lists_free(&lists);
		TRY(err);
	}
	if (!finding->cleaned.n || finding->cleaners.n)
		return NULL;
	const struct order_lists *first = &finding->cleaned.data[0];
	for (size_t i = 0; i < first->n; i++) {
		struct order_tests copy = {};
		TRY(tests_copy(first->data[i].data, first->data[i].n, &copy));
		struct err *err = vec_push(&finding->cleaners, copy);
		if (err)
			vec_free(&copy);
		TRY(err);
	}
	finding->cleaners_complete = !search_late(search);
	return NULL;
}

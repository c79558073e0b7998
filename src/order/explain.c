/*
 * Why a test goes another way than alone, as short as possible, and whether it
 * does so each time.
 */
#include "order/order_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compare.h"
#include "base/log.h"
#include "base/masked.h"
#include "base/minimise.h"

/* What is quick is repeated this many times: chance may go one way for long. */
#define CHEAP_REPEATS 10
#define CHEAP_NS (60 * NS_PER_S) /* on a machine that is busy, too … */
#define CHEAP_SHARE 20 /* … and with a budget this part of what is left … */
#define CHEAP_SHARE_OWN 4 /* … and this part of what the test itself has */
/* What did not happen again is tried this many times before giving up. */
#define PATIENCE 10
/* Lists of several tests that are searched for, per finding. */
#define TOGETHER_MAX 4
/* Single tests that are verified one by one. */
#define SINGLES_VERIFIED 64
/* Single tests that are asked at once, at first; then twice as many each time. */
#define SINGLES_AT_ONCE 8
/* Polluters of one finding that are tried first for others. */
#define CULPRITS_MAX 4
/* A whole order that takes longer is repeated once only. */
#define COSTLY_NS (2 * NS_PER_S)

/* ---- is it so each time? ---- */

/* Two orders, repeated from scratch, while nothing else runs. */
struct verified {
	struct order_repeats alone, after;
};

static void verified_freep(struct verified *verified)
{
	order_repeats_freep(&verified->alone);
	order_repeats_freep(&verified->after);
}

void order_repeats_count(struct order_repeats *repeats, struct order_ask *ask)
{
	if (!ask->outcome) {
		repeats->missing++;
		return;
	}
	repeats->runs++;
	if (outcome_is_good(ask->outcome))
		return;
	/* What differs from run to run in its words is masked. */
	if (repeats->bad++) {
		err_ignore(masked_replace(&repeats->failure.message,
					  ask->message));
		return;
	}
	repeats->failure = (struct finding_failure){
		.outcome = ask->outcome,
		.message = take_ptr(ask->message),
		.file = take_ptr(ask->file),
		.line = ask->line,
	};
}

/* Of the order that fails. */
static struct finding_failure verified_take_failure(struct verified *verified)
{
	struct order_repeats *bad =
		verified->alone.bad ? &verified->alone : &verified->after;
	struct finding_failure failure = bad->failure;
	bad->failure = (struct finding_failure){};
	return failure;
}

/* Alone and after @prefix in turn, so that a slow change hits both. */
static struct err *explain_verify_test(struct order_search *search,
				       const size_t *prefix, size_t n,
				       size_t test, size_t times,
				       struct verified *ret)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	for (size_t i = 0; i < times; i++) {
		TRY(asks_add(search, &asks, NULL, 0, test));
		TRY(asks_add(search, &asks, prefix, n, test));
	}
	TRY(asks_run(search, &asks, ASK_SERIAL | ASK_ANEW | ASK_DETAILS));
	for (size_t i = 0; i < asks.n; i++)
		order_repeats_count(i % 2 ? &ret->after : &ret->alone,
				    &asks.data[i]);
	return NULL;
}

void explain_drop_chance(struct dependences *found)
{
	size_t n = 0;
	for (size_t i = 0; i < found->n; i++) {
		struct dependence *finding = &found->data[i];
		if (finding->repeats)
			found->data[n++] = *finding;
		else
			dependence_free(finding);
	}
	found->n = n;
}

enum explain_verdict { IS_SO, IS_NOT, IS_RANDOM };

/* What the repetitions say; the outcome alone is corrected by them. */
static struct err *explain_judge_test(struct order_search *search,
				      const size_t *prefix, size_t n,
				      size_t test, struct verified *verified,
				      enum explain_verdict *ret)
{
	struct order_repeats *alone = &verified->alone;
	struct order_repeats *after = &verified->after;
	*ret = IS_RANDOM;
	if (order_repeats_mixed(alone))
		return flaky_note(search, test, NULL, 0, alone);
	if (order_repeats_mixed(after))
		return flaky_note(search, test, prefix, n, after);
	*ret = IS_NOT;
	if (alone->missing || after->missing || !alone->runs)
		return NULL;
	/* Where it went another way side by side with others: not counted. */
	enum outcome serial = alone->bad ? OUTCOME_FAIL : OUTCOME_PASS;
	if (order_differs((enum outcome)search->known[test].alone, serial))
		search->known[test].alone = (uint8_t)serial;
	if (!alone->bad != !after->bad)
		*ret = IS_SO;
	return NULL;
}

/* It was seen once: does it ever happen again in the same order? */
static struct err *look_for_chance(struct order_search *search,
				   const struct order_suspect *suspect)
{
	_cleanup_(verified_freep) struct verified more = {};
	TRY(explain_verify_test(search, suspect->prefix.data, suspect->prefix.n,
				suspect->test, PATIENCE, &more));
	enum explain_verdict verdict;
	TRY(explain_judge_test(search, suspect->prefix.data, suspect->prefix.n,
			       suspect->test, &more, &verdict));
	if (verdict != IS_NOT || !suspect->serial || !more.after.runs ||
	    search_late(search))
		return NULL;
	bool bad = !outcome_is_good(
		(enum outcome)search->known[suspect->test].alone);
	/* With the run in which it was seen. */
	more.after.runs++;
	more.after.bad += !bad;
	if (!bad)
		more.after.failure.outcome = OUTCOME_FAIL;
	return flaky_note(search, suspect->test, suspect->prefix.data,
			  suspect->prefix.n, &more.after);
}

/* ---- the smallest list ---- */

struct shrink {
	struct order_search *search;
	const size_t *prefix;
	size_t test;
	size_t *scratch;
	bool late;
};

static struct err *explain_prefix_shows(struct order_search *search,
					const size_t *prefix, size_t n,
					size_t test, bool *ret)
{
	enum outcome outcome = OUTCOME_NONE;
	TRY(asks_one(search, prefix, n, test, 0, &outcome));
	*ret = order_differs(outcome, (enum outcome)search->known[test].alone);
	return NULL;
}

static struct err *shrink_ask(void *data, const size_t *places, size_t n,
			      bool *ret)
{
	struct shrink *shrink = data;
	BUG_ON(n && !shrink->prefix);
	for (size_t i = 0; i < n; i++)
		shrink->scratch[i] = shrink->prefix[places[i]];
	shrink->late |= search_late(shrink->search);
	*ret = false;
	if (shrink->late)
		return NULL;
	return explain_prefix_shows(shrink->search, shrink->scratch, n,
				    shrink->test, ret);
}

/* *@ret empty: there was no time. */
static struct err *shrink_list(struct order_search *search,
			       const size_t *prefix, size_t n, size_t test,
			       struct order_tests *ret)
{
	_cleanup_(freep) size_t *places = calloc(n + 1, sizeof(*places));
	_cleanup_(freep) size_t *scratch = calloc(n + 1, sizeof(*scratch));
	if (!places || !scratch)
		return err_nomem();
	struct shrink shrink = {
		.search = search,
		.prefix = prefix,
		.test = test,
		.scratch = scratch,
	};
	size_t m = 0;
	TRY(minimise_list(n, shrink_ask, &shrink, places, &m));
	if (shrink.late)
		return NULL;
	BUG_ON(m && !prefix);
	for (size_t i = 0; i < m; i++)
		TRY(vec_push(ret, prefix[places[i]]));
	return NULL;
}

/* In whatever sequence: lists are short, and other sequences no news. */
static bool tests_have_all(const struct order_tests *order,
			   const struct order_tests *list)
{
	for (size_t i = 0; i < list->n; i++) {
		if (!tests_have(order, list->data[i]))
			return false;
	}
	return true;
}

/* ---- findings ---- */

static enum order_class class_of(const struct order_search *search, size_t test,
				 const struct order_tests *list)
{
	if (!outcome_is_good((enum outcome)search->known[test].alone))
		return ORDER_BRITTLE;
	return list->n == 1 && list->data[0] == test ? ORDER_NON_IDEMPOTENT
						     : ORDER_VICTIM;
}

static struct order_lists *lists_of(struct dependence *finding)
{
	return finding->class == ORDER_BRITTLE ? &finding->setters
					       : &finding->polluters;
}

static struct dependence *finding_of(const struct order_search *search,
				     size_t test, enum order_class class)
{
	for (size_t i = 0; i < search->found.n; i++) {
		struct dependence *finding = &search->found.data[i];
		if (finding->test == test && finding->class == class)
			return finding;
	}
	return NULL;
}

bool explain_known(const struct order_search *search,
		   const struct order_suspect *suspect)
{
	for (size_t i = 0; i < search->found.n; i++) {
		struct dependence *finding = &search->found.data[i];
		const struct order_lists *lists = lists_of(finding);
		if (finding->test != suspect->test)
			continue;
		for (size_t j = 0; j < lists->n; j++) {
			if (tests_have_all(&suspect->prefix, &lists->data[j]))
				return true;
		}
	}
	return false;
}

/* The order as the suite allows it: what is needed is in it. */
static struct err *whole_order(struct order_search *search,
			       const size_t *prefix, size_t n, size_t test,
			       struct order_tests *ret)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	TRY(asks_add(search, &asks, prefix, n, test));
	*ret = asks.data[0].order;
	asks.data[0].order = (struct order_tests){};
	return NULL;
}

/* With what its tests need, as far as the test itself does not need it, too. */
static struct err *with_needs(struct order_search *search, const size_t *tests,
			      size_t n, size_t test, struct order_tests *ret)
{
	_cleanup_(order_tests_freep) struct order_tests whole = {}, own = {};
	if (rules_free(search->rules))
		return vec_append(ret, tests, n);
	TRY(whole_order(search, tests, n, test, &whole));
	TRY(whole_order(search, NULL, 0, test, &own));
	const struct order_tests asked = { (size_t *)tests, n, 0 };
	for (size_t i = 0; i + 1 < whole.n; i++) {
		if (tests_have(&asked, whole.data[i]) ||
		    !tests_have(&own, whole.data[i]))
			TRY(vec_push(ret, whole.data[i]));
	}
	return NULL;
}

/* One that is known, or has a known one in it, is no news. Takes a copy. */
static struct err *add_list(struct order_search *search,
			    struct dependence *finding, const size_t *tests,
			    size_t n)
{
	struct order_lists *lists = lists_of(finding);
	struct order_tests list = {};
	struct err *err = with_needs(search, tests, n, finding->test, &list);
	for (size_t i = 0; !err && i < lists->n; i++) {
		if (tests_have_all(&list, &lists->data[i])) {
			vec_free(&list);
			return NULL;
		}
	}
	if (!err)
		err = vec_push(lists, list);
	if (err)
		vec_free(&list);
	return err;
}

/* Only tests that are declared to come before it: that is as it was meant. */
static bool is_declared(const struct order_search *search, size_t test,
			const struct order_tests *list)
{
	if (search->diverted) /* by their places, not on purpose */
		return false;
	for (size_t i = 0; i < list->n; i++) {
		if (list->data[i] == test ||
		    rules_allow_pair(search->rules, test, list->data[i]))
			return false;
	}
	return true;
}

/* Whatever else lets it pass: there is no defect. */
static void as_declared(struct order_search *search, size_t test)
{
	struct dependence *known = finding_of(search, test, ORDER_BRITTLE);
	search->known[test].declared = true;
	if (known)
		known->repeats = 0; /* explain_drop_chance() */
}

/* How many times a list is repeated before it is believed. */
static size_t repeats_of(const struct order_search *search, size_t test,
			 const struct order_tests *list)
{
	uint64_t cost = search_cost_of(search, &test, 1) +
			search_cost_of(search, list->data, list->n) +
			search_cost(search, test);
	uint64_t now = clock_now(), deadline = search->options->deadline;
	uint64_t most = CHEAP_NS;
	if (deadline > now)
		most = MIN(most, (deadline - now) / CHEAP_SHARE);
	/* Where many wait, each gets its explanation before any is certain. */
	if (deadline && search->explain_until > now)
		most = MIN(most,
			   (search->explain_until - now) / CHEAP_SHARE_OWN);
	bool cheap = CHEAP_REPEATS * search_expect(search, cost, true) < most;
	return cheap ? MAX(search->options->repeats, (size_t)CHEAP_REPEATS)
		     : search->options->repeats;
}

/*
 * A list was found: verified once more in its final form, it is a finding, or
 * belongs to one. *@ret NULL: it could not be confirmed.
 */
/* *@ret_tried: there was time to. */
static struct err *explain_try_list(struct order_search *search, size_t test,
				    const struct order_tests *list,
				    struct dependence **ret, bool *ret_tried)
{
	_cleanup_(verified_freep) struct verified verified = {};
	enum explain_verdict verdict;
	*ret = NULL;
	TRY(explain_verify_test(search, list->data, list->n, test,
				repeats_of(search, test, list), &verified));
	TRY(explain_judge_test(search, list->data, list->n, test, &verified,
			       &verdict));
	*ret_tried = !verified.alone.missing && !verified.after.missing;
	if (verdict != IS_SO) {
		search_log_order(search, test, list->data, list->n,
				 "not a finding, its outcome was not the same "
				 "each time");
		return NULL;
	}
	enum order_class class = class_of(search, test, list);
	struct dependence *known = finding_of(search, test, class);
	if (class == ORDER_BRITTLE && is_declared(search, test, list)) {
		log_debug(LOG_ORDER,
			  "%s needs a test before it, as the suite declares: "
			  "not a finding",
			  suite_test(search->suite, test)->name);
		as_declared(search, test);
		return NULL;
	}
	if (known) {
		*ret = known;
		return add_list(search, known, list->data, list->n);
	}
	struct dependence finding = {
		.test = test,
		.class = class,
		.failure = verified_take_failure(&verified),
		/* What is quick is repeated more often than was asked for. */
		.repeats = search->options->repeats,
		.polluters_complete = class == ORDER_NON_IDEMPOTENT,
		.natural = search->known[test].natural &&
			   !outcome_is_good(
				   (enum outcome)search->known[test].natural),
	};
	bool brittle = class == ORDER_BRITTLE;
	struct err *err = add_list(search, &finding, list->data, list->n);
	if (!err)
		err = whole_order(search, list->data, list->n, test,
				  brittle ? &finding.passing
					  : &finding.failing);
	if (!err)
		err = whole_order(search, NULL, 0, test,
				  brittle ? &finding.failing
					  : &finding.passing);
	if (!err)
		err = vec_push(&search->found, finding);
	if (err) {
		dependence_free(&finding);
		return err;
	}
	search->result->reach.until_last = suite_executions(search->suite);
	*ret = &search->found.data[search->found.n - 1];
	return NULL;
}

/* ---- all single tests that do it ---- */

static struct err *ask_singles(struct order_search *search, const size_t *tests,
			       size_t n, size_t test, struct order_tests *ret)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	for (size_t i = 0; i < n; i++) {
		if (tests[i] != test)
			TRY(asks_add(search, &asks, &tests[i], 1, test));
	}
	TRY(asks_run(search, &asks, 0));
	for (size_t i = 0, at = 0; i < n; i++) {
		if (tests[i] == test)
			continue;
		const struct order_ask *ask = &asks.data[at++];
		if (!ask->impossible &&
		    order_differs(ask->outcome,
				  (enum outcome)search->known[test].alone))
			TRY(vec_push(ret, tests[i]));
	}
	return NULL;
}

/* Once more, one process at a time: what two at once did is not theirs. */
static struct err *keep_verified(struct order_search *search, size_t test,
				 struct order_tests *singles)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	size_t kept = 0;
	for (size_t i = 0; i < singles->n && i < SINGLES_VERIFIED; i++)
		TRY(asks_add(search, &asks, &singles->data[i], 1, test));
	TRY(asks_run(search, &asks, ASK_SERIAL | ASK_ANEW));
	for (size_t i = 0; i < singles->n; i++) {
		if (i >= asks.n ||
		    order_differs(asks.data[i].outcome,
				  (enum outcome)search->known[test].alone))
			singles->data[kept++] = singles->data[i];
	}
	singles->n = kept;
	return NULL;
}

static int by_length(const void *a, const void *b)
{
	const struct order_tests *one = a, *other = b;
	if (one->n != other->n)
		return one->n < other->n ? -1 : 1;
	for (size_t i = 0; i < one->n; i++) {
		if (one->data[i] != other->data[i])
			return one->data[i] < other->data[i] ? -1 : 1;
	}
	return 0;
}

/* A list with a shorter one in it says nothing more. */
static void drop_longer(struct order_lists *lists)
{
	size_t n = 0;
	for (size_t i = 0; i < lists->n; i++) {
		bool longer = false;
		for (size_t j = 0; j < lists->n; j++)
			longer |= lists->data[j].n < lists->data[i].n &&
				  tests_have_all(&lists->data[i],
						 &lists->data[j]);
		if (longer)
			vec_free(&lists->data[i]);
		else
			lists->data[n++] = lists->data[i];
	}
	lists->n = n;
}

/* The finding shows the first of its lists: is that one as good as @shown? */
static struct err *explain_settle_shown(struct order_search *search,
					struct dependence *finding,
					const struct order_tests *shown)
{
	struct order_lists *lists = lists_of(finding);
	BUG_ON(!lists->n);
	const struct order_tests *first = &lists->data[0];
	if (first->n == shown->n &&
	    !memcmp(first->data, shown->data, first->n * sizeof(size_t)))
		return NULL;
	_cleanup_(verified_freep) struct verified verified = {};
	enum explain_verdict verdict;
	TRY(explain_verify_test(search, first->data, first->n, finding->test,
				repeats_of(search, finding->test, first),
				&verified));
	TRY(explain_judge_test(search, first->data, first->n, finding->test,
			       &verified, &verdict));
	if (verdict != IS_SO)
		return NULL;
	struct order_tests order = {};
	TRY(whole_order(search, first->data, first->n, finding->test, &order));
	struct order_tests *place = finding->class == ORDER_BRITTLE
					    ? &finding->passing
					    : &finding->failing;
	vec_free(place);
	*place = order;
	finding_failure_free(&finding->failure);
	finding->failure = verified_take_failure(&verified);
	order_forget_roots(finding);
	return NULL;
}

static struct err *add_singles(struct order_search *search,
			       struct dependence *finding,
			       struct order_tests *singles)
{
	struct order_lists *lists = lists_of(finding);
	struct order_tests shown = {};
	TRY(tests_copy(lists->data[0].data, lists->data[0].n, &shown));
	struct err *err = keep_verified(search, finding->test, singles);
	if (singles->n)
		qsort(singles->data, singles->n, sizeof(size_t),
		      compare_as_u64);
	for (size_t i = 0; !err && i < singles->n; i++) {
		const struct order_tests single = { &singles->data[i], 1, 0 };
		if (finding->class == ORDER_BRITTLE &&
		    is_declared(search, finding->test, &single))
			as_declared(search, finding->test);
		err = add_list(search, finding, &singles->data[i], 1);
	}
	drop_longer(lists);
	qsort(lists->data, lists->n, sizeof(*lists->data), by_length);
	if (!err)
		err = explain_settle_shown(search, finding, &shown);
	vec_free(&shown);
	return err;
}

/* Each test, and after it each of those that are not complete. */
static struct err *ask_before(struct order_search *search,
			      const struct order_tests *open,
			      struct order_asks *asks)
{
	for (size_t i = 0; i < search->n; i++) {
		for (size_t j = 0; j < open->n; j++) {
			const struct dependence *finding =
				&search->found.data[open->data[j]];
			if (search->tests[i] != finding->test)
				TRY(asks_add(search, asks, &search->tests[i], 1,
					     finding->test));
		}
	}
	return asks_run(search, asks, 0);
}

static struct err *complete_one(struct order_search *search, size_t number,
				const struct order_asks *asks)
{
	_cleanup_(order_tests_freep) struct order_tests singles = {};
	struct dependence *finding = &search->found.data[number];
	size_t test = finding->test;
	bool all = true;
	for (size_t i = 0; i < asks->n; i++) {
		const struct order_ask *ask = &asks->data[i];
		const struct order_tests *order = &ask->order;
		if (ask->impossible || order->data[order->n - 1] != test)
			continue;
		all &= ask->outcome || ask->fresh;
		/* The test in question comes after what it needs. */
		if (order_differs(ask->outcome,
				  (enum outcome)search->known[test].alone))
			TRY(vec_push(&singles, ask->asked));
	}
	finding->polluters_complete = all && !search_late(search);
	return add_singles(search, finding, &singles);
}

/*
 * All tests that do it alone, of all findings at once: a test that leaves nothing
 * in the natural order, because it was done before, may do so elsewhere.
 */
struct err *explain_singles(struct order_search *search)
{
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	_cleanup_(order_tests_freep) struct order_tests open = {};
	for (size_t i = 0; i < search->found.n; i++) {
		const struct dependence *finding = &search->found.data[i];
		if (!finding->polluters_complete)
			TRY(vec_push(&open, i));
	}
	if (!open.n || search_late(search))
		return NULL;
	TRY(ask_before(search, &open, &asks));
	for (size_t i = 0; i < open.n; i++)
		TRY(complete_one(search, open.data[i], &asks));
	explain_drop_chance(&search->found);
	return NULL;
}

/* The first list of several tests by which it is explained; NULL: none. */
static const struct order_tests *
together_of(const struct order_search *search,
	    const struct order_suspect *suspect)
{
	for (size_t i = 0; i < search->found.n; i++) {
		struct dependence *finding = &search->found.data[i];
		const struct order_lists *lists = lists_of(finding);
		for (size_t j = 0;
		     finding->test == suspect->test && j < lists->n; j++) {
			if (lists->data[j].n > 1 &&
			    tests_have_all(&suspect->prefix, &lists->data[j]))
				return &lists->data[j];
		}
	}
	return NULL;
}

/* Other lists of several tests: without one of these, does it still happen? */
struct err *explain_others(struct order_search *search,
			   const struct order_suspect *suspect)
{
	const struct order_tests *known = together_of(search, suspect);
	_cleanup_(order_tests_freep) struct order_tests copy = {};
	const struct order_tests *list = &copy;
	size_t found = 0;
	if (!known || tests_have(known, suspect->test))
		return NULL;
	TRY(tests_copy(known->data, known->n, &copy));
	for (size_t i = 0; i < list->n && found < TOGETHER_MAX; i++) {
		_cleanup_(order_tests_freep) struct order_tests rest = {};
		_cleanup_(order_tests_freep) struct order_tests other = {};
		for (size_t j = 0; j < suspect->prefix.n; j++) {
			if (suspect->prefix.data[j] != list->data[i])
				TRY(vec_push(&rest, suspect->prefix.data[j]));
		}
		bool still;
		TRY(explain_prefix_shows(search, rest.data, rest.n,
					 suspect->test, &still));
		if (!still || search_late(search))
			continue;
		TRY(shrink_list(search, rest.data, rest.n, suspect->test,
				&other));
		struct dependence *finding = NULL;
		bool tried;
		if (other.n)
			TRY(explain_try_list(search, suspect->test, &other,
					     &finding, &tried));
		found += finding != NULL;
	}
	return NULL;
}

/* ---- one suspect ---- */

/* What of the prefix may matter, as far as pollution tells. */
static struct err *list_leavers(const struct order_search *search,
				const struct order_suspect *suspect,
				struct order_tests *ret)
{
	for (size_t i = 0; search->pollution && i < suspect->prefix.n; i++) {
		size_t test = suspect->prefix.data[i];
		if (search->known[test].leaves)
			TRY(vec_push(ret, test));
	}
	return NULL;
}

static struct err *add_likely(const struct order_suspect *suspect, size_t test,
			      struct order_tests *ret)
{
	return test != suspect->test && tests_have(&suspect->prefix, test) &&
			       !tests_have(ret, test)
		       ? vec_push(ret, test)
		       : NULL;
}

/* Tests that turn others come first: what one does, it does to several. */
static struct err *add_culprits(struct order_search *search,
				const struct order_suspect *suspect,
				struct order_tests *ret)
{
	for (size_t i = 0; i < search->found.n; i++) {
		const struct order_lists *lists =
			lists_of(&search->found.data[i]);
		for (size_t j = 0; j < lists->n && j < CULPRITS_MAX; j++) {
			if (lists->data[j].n == 1)
				TRY(add_likely(suspect, lists->data[j].data[0],
					       ret));
		}
	}
	return NULL;
}

/* Those that leave what this one was seen to read. */
static struct err *add_read(const struct order_search *search,
			    const struct order_suspect *suspect,
			    struct order_tests *ret)
{
	const struct pollution *pollution = search->pollution;
	for (size_t i = 0; pollution && i < pollution->findings.n; i++) {
		const struct leftover *leftover =
			leftover_of(&pollution->findings.data[i]);
		for (size_t j = 0; j < leftover->readers.n; j++) {
			if (leftover->readers.data[j] == suspect->test)
				TRY(add_likely(suspect, leftover->test, ret));
		}
	}
	return NULL;
}

/* A single test of the prefix that does it, the likeliest first. */
static struct err *find_single(struct order_search *search,
			       const struct order_suspect *suspect,
			       const struct order_tests *leavers,
			       struct order_tests *ret)
{
	_cleanup_(order_tests_freep) struct order_tests likely = {};
	TRY(add_culprits(search, suspect, &likely));
	/* By themselves at first: where many fail, one test may be it all. */
	size_t culprits = likely.n;
	TRY(add_read(search, suspect, &likely));
	for (size_t i = leavers->n; i > 0; i--) /* the nearest first */
		TRY(add_likely(suspect, leavers->data[i - 1], &likely));
	size_t at_once = culprits ? MIN(culprits, (size_t)SINGLES_AT_ONCE)
				  : SINGLES_AT_ONCE;
	for (size_t i = 0; i < likely.n && !search_late(search);) {
		_cleanup_(order_tests_freep) struct order_tests singles = {};
		size_t n = MIN(at_once, likely.n - i);
		TRY(ask_singles(search, likely.data + i, n, suspect->test,
				&singles));
		if (singles.n)
			return vec_push(ret, singles.data[0]);
		i += n;
		at_once = MAX(2 * at_once, (size_t)SINGLES_AT_ONCE);
	}
	return NULL;
}

/*
 * The smallest list out of a prefix that was verified. *@ret empty: there was
 * no time, or it no longer happens.
 */
static struct err *find_list(struct order_search *search,
			     const struct order_suspect *suspect,
			     const struct order_tests *some,
			     struct order_tests *ret)
{
	size_t test = suspect->test;
	bool enough = false;
	if (some->n)
		TRY(explain_prefix_shows(search, some->data, some->n, test,
					 &enough));
	if (enough)
		return shrink_list(search, some->data, some->n, test, ret);
	return shrink_list(search, suspect->prefix.data, suspect->prefix.n,
			   test, ret);
}

/* The whole prefix, repeated: is there anything to explain? */
static struct err *is_so(struct order_search *search,
			 struct order_suspect *suspect, bool *ret)
{
	_cleanup_(verified_freep) struct verified verified = {};
	enum explain_verdict verdict;
	uint64_t cost =
		search_cost(search, suspect->test) +
		search_cost_of(search, suspect->prefix.data, suspect->prefix.n);
	size_t times = search_expect(search, cost, true) > COSTLY_NS
			       ? 1
			       : search->options->repeats;
	*ret = false;
	TRY(explain_verify_test(search, suspect->prefix.data, suspect->prefix.n,
				suspect->test, times, &verified));
	TRY(explain_judge_test(search, suspect->prefix.data, suspect->prefix.n,
			       suspect->test, &verified, &verdict));
	if (verdict == IS_NOT)
		return look_for_chance(search, suspect);
	*ret = verdict == IS_SO;
	if (*ret)
		suspect->confirmed = times;
	return NULL;
}

/* Is there nothing (more) to explain about it? */
static bool is_settled(const struct order_search *search, size_t test)
{
	return search->known[test].random || search->known[test].declared;
}

static struct err *explain_prefix(struct order_search *search,
				  struct order_suspect *suspect, bool deep,
				  enum explain_end *ret)
{
	_cleanup_(order_tests_freep) struct order_tests some = {}, list = {};
	struct dependence *finding = NULL;
	size_t test = suspect->test;
	bool tried, so = false;
	*ret = EXPLAIN_DONE;
	if (explain_known(search, suspect))
		return NULL;
	TRY(list_leavers(search, suspect, &some));
	/* What one test explains need not be repeated as a whole. */
	TRY(find_single(search, suspect, &some, &list));
	if (list.n)
		TRY(explain_try_list(search, test, &list, &finding, &tried));
	bool done = finding || is_settled(search, test);
	if (!done && deep && !search_late(search)) {
		list.n = 0;
		TRY(is_so(search, suspect, &so));
		if (so)
			TRY(find_list(search, suspect, &some, &list));
		if (list.n)
			TRY(explain_try_list(search, test, &list, &finding,
					     &tried));
	}
	if (finding)
		*ret = list.n > 1 ? EXPLAIN_LATER : EXPLAIN_DONE;
	else if (!is_settled(search, test) &&
		 (!deep || so || search_late(search)))
		*ret = EXPLAIN_OPEN;
	return NULL;
}

/* What ran before it in the same process, in the suite's own order. */
void explain_natural(const struct order_search *search, size_t test,
		     struct order_tests *ret)
{
	size_t end = search->known[test].place, begin = end;
	while (begin > 0) {
		enum outcome before =
			(enum outcome)search->known[search->tests[begin - 1]]
				.natural;
		if (!before || order_ends(search, before))
			break;
		begin--;
	}
	*ret = (struct order_tests){ (size_t *)search->tests + begin,
				     end - begin, 0 };
}

struct err *explain_one(struct order_search *search,
			struct order_suspect *suspect, bool deep,
			enum explain_end *ret)
{
	size_t test = suspect->test;
	const struct order_known *known = &search->known[test];
	enum outcome alone;
	*ret = EXPLAIN_DONE;
	if (is_settled(search, test) || known->place == ORDER_NONE)
		return NULL;
	TRY(search_alone(search, test, &alone));
	if (!alone || search_late(search)) {
		*ret = EXPLAIN_OPEN;
		return NULL;
	}
	if (order_differs(suspect->outcome, alone))
		return explain_prefix(search, suspect, deep, ret);
	/* It goes as alone: then it is the natural order that is special. */
	if (!order_differs((enum outcome)known->natural, alone))
		return NULL;
	struct order_tests own, copy;
	explain_natural(search, test, &own);
	TRY(tests_copy(own.data, own.n, &copy));
	vec_free(&suspect->prefix);
	suspect->prefix = copy;
	suspect->outcome = (enum outcome)known->natural;
	suspect->serial = true;
	return explain_prefix(search, suspect, deep, ret);
}

static struct err *explain_earlier_one(struct order_search *search,
				       struct order_earlier *earlier)
{
	struct dependence *finding = NULL;
	enum outcome alone;
	bool mixed = false;
	search->gave_up = 0;
	TRY(search_alone(search, earlier->test, &alone));
	if (search->known[earlier->test].random || search_late(search))
		return NULL;
	earlier->tried |= earlier->unexplained;
	if (earlier->unexplained)
		return search_suspect(search, earlier->test,
				      earlier->prefix.data, earlier->prefix.n,
				      earlier->outcome, true);
	if (!earlier->flaky)
		return explain_try_list(search, earlier->test, &earlier->prefix,
					&finding, &earlier->tried);
	TRY(flaky_again(search, earlier->test, earlier->prefix.data,
			earlier->prefix.n, &mixed));
	earlier->tried = !search_late(search);
	return NULL;
}

struct err *explain_earlier(struct order_search *search)
{
	for (size_t i = 0; i < search->options->n_earlier; i++) {
		struct order_earlier *earlier = &search->options->earlier[i];
		if (!earlier->left_out)
			TRY(explain_earlier_one(search, earlier));
	}
	return NULL;
}

struct err *explain_roots(struct order_search *search)
{
	for (size_t i = 0; search->options->roots && i < search->found.n; i++) {
		struct dependence *finding = &search->found.data[i];
		search->gave_up = 0;
		if (!finding->roots_known && !finding->roots_in_vain)
			TRY(order_find_roots(search, finding));
	}
	return NULL;
}

struct err *explain_cleaners(struct order_search *search)
{
	for (size_t i = 0; search->options->cleaners && i < search->found.n;
	     i++) {
		struct dependence *finding = &search->found.data[i];
		search->gave_up = 0;
		if (!finding->cleaners_complete)
			TRY(find_cleaners(search, finding));
	}
	return NULL;
}

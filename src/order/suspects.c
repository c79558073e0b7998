/*
 * Which suspects are explained when: each test gets its shortest explanation
 * before any gets others, what is short comes before what is long, and what
 * there was no time for becomes a finding all the same.
 */
#include "order/order_internal.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"

/* Suspects of one test that wait until all have an explanation. */
#define LATER_MAX 3
/* One may take this many times its share of the time that is left … */
#define SHARES 2
/* … and at least that. */
#define SHARE_LEAST NS_PER_S

static void suspect_free(struct order_suspect *suspect)
{
	vec_free(&suspect->prefix);
	*suspect = (struct order_suspect){};
}

static void suspects_clear(struct order_suspects *suspects)
{
	for (size_t i = 0; i < suspects->n; i++)
		suspect_free(&suspects->data[i]);
	vec_free(suspects);
	*suspects = (struct order_suspects){};
}

void suspects_free(struct order_search *search)
{
	suspects_clear(&search->suspects);
	suspects_clear(&search->later);
	suspects_clear(&search->open);
}

/* Takes @suspect over, whatever happens. */
static struct err *suspects_keep(struct order_suspects *suspects,
				 struct order_suspect *suspect)
{
	struct err *err = vec_push(suspects, *suspect);
	if (err)
		vec_free(&suspect->prefix);
	*suspect = (struct order_suspect){};
	return err;
}

static size_t suspects_of(const struct order_suspects *suspects, size_t test)
{
	size_t n = 0;
	for (size_t i = 0; i < suspects->n; i++)
		n += suspects->data[i].test == test;
	return n;
}

static bool has_finding(const struct order_search *search, size_t test)
{
	for (size_t i = 0; i < search->found.n; i++) {
		if (search->found.data[i].test == test)
			return true;
	}
	return false;
}

static int by_prefix(const void *a, const void *b)
{
	const struct order_suspect *one = a, *other = b;
	if (one->prefix.n != other->prefix.n)
		return one->prefix.n < other->prefix.n ? -1 : 1;
	return one->test < other->test ? -1 : one->test > other->test;
}

static void sort_from(struct order_suspects *suspects, size_t from)
{
	if (suspects->n > from)
		qsort(suspects->data + from, suspects->n - from,
		      sizeof(*suspects->data), by_prefix);
}

/* No single one takes the time of all others. */
static void give_share(struct order_search *search, size_t waiting)
{
	uint64_t now = clock_now(), deadline = search->options->deadline;
	search->gave_up = 0; /* this one may be shorter */
	search->explain_until = deadline;
	if (!deadline || deadline <= now || !waiting)
		return;
	uint64_t share = (deadline - now) / (waiting + 1) * SHARES;
	search->explain_until =
		MIN(deadline, now + MAX(share, (uint64_t)SHARE_LEAST));
}

/* A share that was too short is not the end of the budget. */
static void end_share(struct order_search *search, const char *why)
{
	search->explain_until = search->options->deadline;
	search->gave_up = 0;
	if (clock_now() < search->options->deadline)
		search->result->reach.why = why;
}

/* Takes @suspect over; where it is interrupted, it stays open. */
static struct err *explain_first(struct order_search *search, size_t waiting,
				 struct order_suspect *suspect)
{
	const char *why = search->result->reach.why;
	enum explain_end end = EXPLAIN_OPEN;
	give_share(search, waiting);
	struct err *err = explain_one(search, suspect, true, &end);
	end_share(search, why);
	if (err || end == EXPLAIN_OPEN) {
		struct err *failed = suspects_keep(&search->open, suspect);
		if (!err)
			return failed;
		err_ignore(failed);
		return err;
	}
	suspect->others = true;
	if (end == EXPLAIN_LATER)
		return suspects_keep(&search->later, suspect);
	suspect_free(suspect);
	return NULL;
}

static struct order_suspect take_suspect(struct order_search *search, size_t at)
{
	struct order_suspect suspect = search->suspects.data[at];
	search->suspects.data[at].prefix = (struct order_tests){};
	return suspect;
}

/* By one test each: that is cheap, and most have such an explanation. */
static struct err *explain_cheaply(struct order_search *search)
{
	const char *why = search->result->reach.why;
	struct err *err = NULL;
	size_t n = search->suspects.n; /* those that come to it are for later */
	for (size_t i = search->explained; !err && i < n; i++) {
		struct order_suspect suspect = take_suspect(search, i);
		enum explain_end end;
		give_share(search, n - i - 1);
		if (!has_finding(search, suspect.test))
			err = explain_one(search, &suspect, false, &end);
		search->suspects.data[i] = suspect;
	}
	end_share(search, why);
	return err;
}

struct err *explain_suspects(struct order_search *search)
{
	sort_from(&search->suspects, search->explained);
	struct err *err = explain_cheaply(search);
	while (!err && search->explained < search->suspects.n) {
		size_t at = search->explained++;
		struct order_suspect suspect = take_suspect(search, at);
		if (!has_finding(search, suspect.test))
			err = explain_first(search, search->suspects.n - at - 1,
					    &suspect);
		else if (!explain_known(search, &suspect) &&
			 suspects_of(&search->later, suspect.test) < LATER_MAX)
			err = suspects_keep(&search->later, &suspect);
		suspect_free(&suspect);
	}
	explain_drop_chance(&search->found);
	return err;
}

static struct err *explain_more_of(struct order_search *search,
				   struct order_suspect *suspect)
{
	enum explain_end end = EXPLAIN_LATER;
	search->gave_up = 0;
	if (!suspect->others)
		TRY(explain_one(search, suspect, true, &end));
	return end == EXPLAIN_LATER ? explain_others(search, suspect) : NULL;
}

struct err *explain_rest(struct order_search *search)
{
	struct order_suspects later = search->later;
	struct err *err = NULL;
	search->later = (struct order_suspects){};
	sort_from(&later, 0);
	for (size_t i = 0; !err && i < later.n && !search_late(search); i++)
		err = explain_more_of(search, &later.data[i]);
	suspects_clear(&later);
	explain_drop_chance(&search->found);
	return err;
}

/* @shared: each gets its share of the time that is left. */
static struct err *explain_again(struct order_search *search, bool shared)
{
	struct order_suspects open = search->open;
	struct err *err = NULL;
	search->open = (struct order_suspects){};
	sort_from(&open, 0);
	for (size_t i = 0; i < open.n; i++) {
		struct order_suspect *suspect = &open.data[i];
		if (has_finding(search, suspect->test))
			continue;
		if (!err)
			err = explain_first(search, shared ? open.n - i - 1 : 0,
					    suspect);
		else
			err_ignore(suspects_keep(&search->open, suspect));
	}
	suspects_clear(&open);
	explain_drop_chance(&search->found);
	return err;
}

struct err *explain_open(struct order_search *search)
{
	TRY(explain_again(search, true));
	return search->open.n ? explain_again(search, false) : NULL;
}

/* ---- without an explanation ---- */

/* What the suite declares to come first may be what it needs: nobody knows. */
static bool may_be_declared(const struct order_search *search,
			    const struct order_suspect *suspect)
{
	if (search->diverted || !outcome_is_good(suspect->outcome))
		return false;
	for (size_t i = 0; i < suspect->prefix.n; i++) {
		size_t other = suspect->prefix.data[i];
		if (other != suspect->test &&
		    !rules_allow_pair(search->rules, suspect->test, other))
			return true;
	}
	return false;
}

/* Which order is it compared with? OUTCOME_NONE: with none. */
static enum outcome other_order(const struct order_search *search,
				const struct order_suspect *suspect,
				struct order_tests *ret)
{
	const struct order_known *known = &search->known[suspect->test];
	*ret = (struct order_tests){};
	if (order_differs(suspect->outcome, (enum outcome)known->alone))
		return (enum outcome)known->alone;
	explain_natural(search, suspect->test, ret);
	return order_differs(suspect->outcome, (enum outcome)known->natural)
		       ? (enum outcome)known->natural
		       : OUTCOME_NONE;
}

static bool is_own(const struct order_search *search,
		   const struct order_tests *prefix, size_t test)
{
	struct order_tests own;
	explain_natural(search, test, &own);
	if (!prefix->n || prefix->n != own.n)
		return false;
	for (size_t i = 0; i < own.n; i++) {
		if (prefix->data[i] != own.data[i])
			return false;
	}
	return true;
}

static struct err *order_with(const struct order_tests *prefix, size_t test,
			      struct order_tests *ret)
{
	TRY(vec_append(ret, prefix->data, prefix->n));
	return vec_push(ret, test);
}

static struct err *give_up_one(struct order_search *search,
			       const struct order_suspect *suspect)
{
	size_t test = suspect->test;
	const struct order_known *known = &search->known[test];
	struct order_tests other;
	enum outcome compared = other_order(search, suspect, &other);
	if (!compared || may_be_declared(search, suspect))
		return NULL;
	bool good = outcome_is_good(suspect->outcome);
	const struct order_tests *failing = good ? &other : &suspect->prefix;
	const struct order_tests *passing = good ? &suspect->prefix : &other;
	struct dependence finding = {
		.test = test,
		.class = ORDER_UNEXPLAINED,
		.failure.outcome = good ? compared : suspect->outcome,
		.repeats = suspect->confirmed,
		.natural = known->natural &&
			   !outcome_is_good((enum outcome)known->natural),
		.failing_own = is_own(search, failing, test),
		.passing_own = is_own(search, passing, test),
	};
	struct err *err = order_with(failing, test, &finding.failing);
	if (!err)
		err = order_with(passing, test, &finding.passing);
	if (!err)
		err = vec_push(&search->found, finding);
	if (err)
		dependence_free(&finding);
	return err;
}

static int by_strength(const void *a, const void *b)
{
	const struct order_suspect *one = a, *other = b;
	if (one->confirmed != other->confirmed)
		return one->confirmed > other->confirmed ? -1 : 1;
	return by_prefix(a, b);
}

struct err *suspects_give_up(struct order_search *search)
{
	struct order_suspects *open = &search->open;
	while (search->explained < search->suspects.n) {
		struct order_suspect suspect =
			take_suspect(search, search->explained++);
		TRY(suspects_keep(open, &suspect));
	}
	if (open->n)
		qsort(open->data, open->n, sizeof(*open->data), by_strength);
	explain_drop_chance(&search->found);
	for (size_t i = 0; i < open->n; i++) {
		size_t test = open->data[i].test;
		const struct order_known *known = &search->known[test];
		if (known->random || known->declared ||
		    known->place == ORDER_NONE || has_finding(search, test))
			continue;
		search_log_order(search, test, open->data[i].prefix.data,
				 open->data[i].prefix.n, "not explained");
		TRY(give_up_one(search, &open->data[i]));
	}
	return NULL;
}

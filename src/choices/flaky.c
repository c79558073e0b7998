/*
 * A test went both ways under what seemed the same conditions. Is it flaky? Only
 * where identical runs, one process at a time, end both ways: alone or in the
 * suite's own order, without choices or with the same ones.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/masked.h"
#include "choices/choices_internal.h"
#include "finding/flaky.h"

static struct err *flaky_order(const struct choices_search *search, size_t test,
			       bool alone, struct order_tests *ret)
{
	for (size_t i = 0; !alone && search->tests[i] != test; i++)
		TRY(vec_push(ret, search->tests[i]));
	return vec_push(ret, test);
}

static struct err *add_flaky(struct choices_search *search, struct flaky *flaky)
{
	struct finding finding = {};
	TRY(flaky_finding_make(search->options->run, "choices", flaky,
			       &finding));
	struct err *err = vec_push(&search->result->findings, finding);
	if (err)
		finding_free(&finding);
	return err;
}

/* *@ret: it went both ways in these runs, and that was said. */
static struct err *try_identical(struct choices_search *search,
				 const struct choices_set *set, size_t test,
				 bool alone, bool *ret)
{
	_cleanup_(flaky_free) struct flaky flaky = { .test = test };
	size_t runs = 1;
	*ret = false;
	for (size_t i = 0; i < runs && !choices_late(search); i++) {
		_cleanup_(choices_trial_free) struct choices_trial trial = {};
		uint64_t began = clock_now();
		TRY(choices_try(search, set, test, alone, &trial));
		if (!i)
			runs = flaky_runs(clock_now() - began);
		if (!trial.outcome || trial.outcome == OUTCOME_TIMEOUT)
			return NULL;
		flaky.runs++;
		if (outcome_is_good(trial.outcome))
			continue;
		/* What differs from run to run in its words is masked. */
		if (flaky.failures++) {
			TRY(masked_replace(&flaky.failure.message,
					   trial.message));
			continue;
		}
		flaky.failure = choices_take_failure(&trial);
	}
	if (!flaky.failures || flaky.failures == flaky.runs)
		return NULL;
	const char *unrestored = suite_unrestored(search->suite, 0);
	*ret = true;
	if (unrestored)
		return choices_limit(search,
				     "choices: '%s' failed in %zu of %zu "
				     "identical runs, before which not all "
				     "files could be restored (%s)",
				     suite_test(search->suite, test)->name,
				     flaky.failures, flaky.runs, unrestored);
	log_debug(LOG_CHOICES,
		  "'%s' is flaky: it failed in %zu of %zu identical runs",
		  suite_test(search->suite, test)->name, flaky.failures,
		  flaky.runs);
	TRY(flaky_order(search, test, alone, &flaky.order));
	return add_flaky(search, &flaky);
}

/* Without choices first: that says most. */
static struct err *find_identical(struct choices_search *search,
				  const struct choices_set *set, size_t test,
				  bool *ret)
{
	for (int with = 0; with < (set ? 2 : 1); with++) {
		for (int alone = 1; alone >= 0; alone--) {
			TRY(try_identical(search, with ? set : NULL, test,
					  alone, ret));
			if (*ret)
				return NULL;
		}
	}
	return NULL;
}

struct err *choices_try_flaky(struct choices_search *search,
			      const struct choices_set *set, size_t test)
{
	struct choices_test *known = &search->of[test];
	if (known->steady)
		return NULL;
	TRY(find_identical(search, set, test, &known->left));
	/* What others did that ran side by side with it is not its own. */
	known->steady = !known->left;
	if (known->steady)
		log_debug(LOG_CHOICES,
			  "'%s' failed once and not again in identical runs",
			  suite_test(search->suite, test)->name);
	return NULL;
}

struct err *choices_try_failing(struct choices_search *search, size_t test)
{
	bool flaky;
	return try_identical(search, NULL, test, true, &flaky);
}

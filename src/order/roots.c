/*
 * Polluted roots: which variable, file or attribute carries what the tests
 * before did to this one. Each root that they left changed is restored just
 * before it, and the outcome decides (suite_try_roots()).
 */
#include "order/order_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/minimise.h"

/* More roots than that are not tried one by one. */
#define ROOTS_MAX 2000

struct roots_trial {
	struct order_search *search;
	struct dependence *finding;
	const struct change *roots;
	size_t n;
	suite_try *try;
	void *context;
	bool *put_back;
	bool good; /* how the test ends with nothing restored */
};

/* Does restoring these (as suite_try()) change the outcome of the test? */
static struct err *roots_trial_ask(struct roots_trial *trial,
				   const bool *put_back, bool *ret)
{
	enum outcome outcome = OUTCOME_NONE;
	*ret = false;
	if (search_late(trial->search) ||
	    !search_fits(
		    trial->search,
		    search_cost_of(trial->search, &trial->finding->test, 1),
		    true))
		return NULL;
	TRY(trial->try(trial->context, put_back, &outcome));
	log_debug(LOG_ORDER, "roots: %s: %s",
		  put_back ? "some or none of them restored"
			   : "freed memory is overwritten",
		  outcome_name(outcome));
	/*
	 * A badly restored process may crash: that does not count as this
	 * failure.
	 */
	*ret = trial->good ? outcome == trial->finding->failure.outcome
			   : outcome_is_good(outcome);
	return NULL;
}

static struct err *roots_trial_turns(struct roots_trial *trial, bool *ret)
{
	return roots_trial_ask(trial, trial->put_back, ret);
}

static void roots_put_back(struct roots_trial *trial, bool value)
{
	memset(trial->put_back, value, trial->n * sizeof(*trial->put_back));
}

/* The first one is shown with what lies there, in this very order. */
static struct err *roots_add_root(struct roots_trial *trial, size_t root)
{
	struct dependence *finding = trial->finding;
	const struct change *change = &trial->roots[root];
	finding->polluted_outside |= change_outlives_process(change);
	if (!finding->left.change.n && change->n)
		TRY(change_copy(change, &finding->left.change));
	return strv_add(&trial->finding->polluted, trial->roots[root].root);
}

static struct err *ask_set(void *data, const size_t *places, size_t n,
			   bool *ret)
{
	struct roots_trial *trial = data;
	roots_put_back(trial, false);
	for (size_t i = 0; i < n; i++)
		trial->put_back[places[i]] = true;
	return roots_trial_turns(trial, ret);
}

/* No single one does it: the smallest set that does. */
static struct err *find_set(struct roots_trial *trial)
{
	_cleanup_(freep) size_t *places = calloc(trial->n + 1, sizeof(size_t));
	size_t n = 0;
	if (!places)
		return err_nomem();
	TRY(minimise_list(trial->n, ask_set, trial, places, &n));
	if (search_late(trial->search))
		return NULL;
	for (size_t i = 0; i < n; i++)
		TRY(roots_add_root(trial, places[i]));
	trial->finding->polluted_together = n;
	return NULL;
}

/*
 * One that changes the outcome when restored, and is enough alone: with all
 * others restored, the test ends as before. If none is enough alone (a and b,
 * restoring either helps), all that change the outcome are named; so are they
 * if restoring everything fails (@all is false), since then the rest cannot be
 * tested.
 */
static struct err *find_singles(struct roots_trial *trial, bool all,
				bool *ret_found)
{
	VEC(size_t) turning = VEC_INIT;
	struct err *err = NULL;
	size_t enough = 0;
	for (size_t i = 0; !err && i < trial->n; i++) {
		bool turned = false;
		roots_put_back(trial, false);
		trial->put_back[i] = true;
		err = roots_trial_turns(trial, &turned);
		if (!err && turned)
			err = vec_push(&turning, i);
	}
	for (size_t i = 0; !err && all && i < turning.n; i++) {
		bool turned = true;
		roots_put_back(trial, true);
		trial->put_back[turning.data[i]] = false;
		err = roots_trial_turns(trial, &turned);
		if (err || turned || search_late(trial->search))
			continue;
		enough++;
		err = roots_add_root(trial, turning.data[i]);
	}
	for (size_t i = 0; !err && !enough && i < turning.n; i++)
		err = roots_add_root(trial, turning.data[i]);
	*ret_found = turning.n > 0;
	vec_free(&turning);
	return err;
}

static struct err *judge_roots(void *data, const struct change *roots, size_t n,
			       suite_try *try, void *context)
{
	struct roots_trial *trial = data;
	trial->finding->roots_in_vain = !n;
	if (!n || n > ROOTS_MAX)
		return NULL;
	_cleanup_(freep) bool *flags = calloc(n, sizeof(*flags));
	if (!flags)
		return err_nomem();
	trial->roots = roots;
	trial->n = n;
	trial->try = try;
	trial->context = context;
	trial->put_back = flags;
	/*
	 * Controls: restoring nothing changes nothing, restoring everything
	 * does.
	 */
	bool none, all, found;
	TRY(roots_trial_turns(trial, &none));
	/* It may use what was freed, which is still there in tries. */
	for (int i = 0; i < 2 && none && !trial->good; i++)
		TRY(roots_trial_ask(trial, NULL, &none));
	if (none)
		return NULL;
	roots_put_back(trial, true);
	TRY(roots_trial_turns(trial, &all));
	TRY(find_singles(trial, all, &found));
	if (!found && !all) {
		trial->finding->roots_in_vain = !search_late(trial->search);
		return NULL;
	}
	if (!found)
		TRY(find_set(trial));
	trial->finding->roots_known = !search_late(trial->search);
	return NULL;
}

void order_forget_roots(struct dependence *finding)
{
	strv_free(&finding->polluted);
	finding->polluted_together = 0;
	finding->polluted_outside = false;
	finding->roots_known = finding->roots_in_vain = false;
	change_free(&finding->left.change);
	finding->left.change = (struct change){};
}

/*
 * With the variables that are not compared, too: those of the framework, such as
 * its flags, of the runner, and without debug information.
 */
static struct err *roots_try_left_out(struct roots_trial *trial,
				      const struct order_tests *order,
				      const struct suite_observer *observer)
{
	struct suite_watch watch = *trial->search->options->watch;
	watch.everything = watch.runners = true;
	log_debug(LOG_ORDER, "roots: also what is left out");
	return suite_try_roots(trial->search->suite, &watch, order->data,
			       order->n - 1, trial->finding->test, judge_roots,
			       trial, observer);
}

struct err *order_find_roots(struct order_search *search,
			     struct dependence *finding)
{
	bool brittle = finding->class == ORDER_BRITTLE;
	const struct order_tests *order =
		brittle ? &finding->passing : &finding->failing;
	struct roots_trial trial = {
		.search = search,
		.finding = finding,
		.good = brittle,
	};
	const struct suite_observer observer = {
		.limit = search->outer->limit,
		.data = search->outer->data,
	};
	uint64_t cost = search_cost_of(search, order->data, order->n);
	if (!search->options->watch || order->n < 2 || search_late(search) ||
	    !search_fits(search, cost, true))
		return NULL;
	order_forget_roots(finding);
	TRY(suite_try_roots(search->suite, search->options->watch, order->data,
			    order->n - 1, finding->test, judge_roots, &trial,
			    &observer));
	if (!finding->roots_in_vain || search_late(search) ||
	    !search_fits(search, cost, true))
		return NULL;
	return roots_try_left_out(&trial, order, &observer);
}

/*
 * From a dependence to a finding: what explains it, and the sentence that says
 * it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "finding/words.h"
#include "order/order_internal.h"

/*
 * Running a test twice in one process is rarer than another order. What was seen
 * only once may be chance.
 */
static enum finding_severity
order_judge_severity(const struct dependence *dependence)
{
	if (dependence->class == ORDER_UNEXPLAINED)
		return dependence->repeats ? FINDING_MEDIUM : FINDING_LOW;
	return dependence->class == ORDER_NON_IDEMPOTENT ? FINDING_MEDIUM
							 : FINDING_HIGH;
}

/* "T fails after A and passes alone; polluted: x" */
static struct err *order_make_message(const struct finding_run *run,
				      const struct dependence *dependence,
				      char **ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(words_append(&text, roster_name(run->tests, dependence->test)));
	TRY(str_appendf(&text, " %s ",
			words_verb(dependence->failure.outcome)));
	TRY(dependence_append_way(&text, run->tests, dependence, false));
	TRY(str_append(&text, " and passes "));
	TRY(dependence_append_way(&text, run->tests, dependence, true));
	if (dependence->class == ORDER_UNEXPLAINED)
		TRY(str_append(&text, "; not explained"));
	if (dependence->polluted.n) {
		TRY(str_append(&text, "; "));
		TRY(dependence_append_polluted(&text, dependence,
					       DEPENDENCE_NAMES_MAX));
	}
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

/* ---- which pollution explains it ---- */

static bool is_polluted(const struct dependence *dependence, const char *root)
{
	for (size_t i = 0; i < dependence->polluted.n; i++) {
		if (!strcmp(dependence->polluted.data[i], root))
			return true;
	}
	return false;
}

static struct err *note_culprits(const struct dependence *dependence,
				 struct map_u64 *ret)
{
	const struct order_lists *lists = dependence_culprits(dependence);
	if (!lists || !lists->n)
		return map_u64_put(ret, dependence->test, 1);
	for (size_t i = 0; i < lists->n; i++) {
		for (size_t j = 0; j < lists->data[i].n; j++)
			TRY(map_u64_put(ret, lists->data[i].data[j], 1));
	}
	return NULL;
}

/* What culprits leave in a root that the test fails by. */
static struct err *find_because(const struct pollution *pollution,
				struct dependence *dependence)
{
	_cleanup_(map_u64_freep) struct map_u64 culprits = MAP_INIT;
	TRY(note_culprits(dependence, &culprits));
	for (size_t i = 0; i < pollution->findings.n; i++) {
		const struct finding *finding = &pollution->findings.data[i];
		uint64_t is_culprit;
		if (map_u64_get(&culprits, finding->test, &is_culprit) &&
		    is_polluted(dependence, leftover_of(finding)->change.root))
			TRY(strv_add(&dependence->because, finding->id));
	}
	return NULL;
}

static const struct change *find_change(const struct pollution *pollution,
					size_t test, const char *root)
{
	const struct change *found = NULL;
	for (size_t i = 0; i < pollution->findings.n; i++) {
		const struct leftover *leftover =
			leftover_of(&pollution->findings.data[i]);
		if (leftover->test == test &&
		    !strcmp(leftover->change.root, root))
			found = &leftover->change;
	}
	return found;
}

static const struct change_path *find_path(const struct change *change,
					   const char *path)
{
	for (size_t i = 0; i < change->n; i++) {
		if (!strcmp(change->paths[i].path, path))
			return &change->paths[i];
	}
	return NULL;
}

/*
 * How well a place under the root fits: those who turn the test leave it
 * changed, those who do not turn it do not.
 */
static int path_fits(const struct pollution *pollution,
		     const struct dependence *dependence,
		     const struct map_u64 *culprits, const char *path)
{
	int fits = 0;
	for (size_t i = 0; i < pollution->findings.n; i++) {
		const struct leftover *leftover =
			leftover_of(&pollution->findings.data[i]);
		uint64_t is_culprit;
		if (strcmp(leftover->change.root,
			   dependence->left.change.root) != 0 ||
		    !find_path(&leftover->change, path))
			continue;
		if (map_u64_get(culprits, leftover->test, &is_culprit))
			fits++;
		else if (dependence->polluters_complete &&
			 leftover->test != dependence->test)
			fits--;
	}
	return fits;
}

/* Of what differs under the root in the order shown, what most likely decides. */
static struct err *choose_path(const struct pollution *pollution,
			       const struct dependence *dependence,
			       const struct change_path **ret)
{
	_cleanup_(map_u64_freep) struct map_u64 culprits = MAP_INIT;
	const struct change *change = &dependence->left.change;
	int best = 0;
	*ret = NULL;
	TRY(note_culprits(dependence, &culprits));
	for (size_t i = 0; i < change->n; i++) {
		int fits = pollution
				   ? path_fits(pollution, dependence, &culprits,
					       change->paths[i].path)
				   : 0;
		if (*ret && fits <= best)
			continue;
		best = fits;
		*ret = &change->paths[i];
	}
	return NULL;
}

/* Where nothing was captured in the order shown: as in the suite's own order. */
static struct err *borrow_change(const struct pollution *pollution,
				 const struct order_tests *before,
				 struct dependence *dependence)
{
	for (size_t i = 0; i + 1 < before->n; i++) {
		for (size_t j = 0; j < dependence->polluted.n; j++) {
			const struct change *change =
				find_change(pollution, before->data[i],
					    dependence->polluted.data[j]);
			if (change)
				return change_copy(change,
						   &dependence->left.change);
		}
	}
	return NULL;
}

/* Which of @before left it? ORDER_NONE: nobody knows. */
static size_t who_left(const struct pollution *pollution,
		       const struct order_tests *before, const char *root)
{
	if (before->n == 2)
		return before->data[0];
	for (size_t i = 0; pollution && i + 1 < before->n; i++) {
		if (find_change(pollution, before->data[i], root))
			return before->data[i];
	}
	return ORDER_NONE;
}

/*
 * What was there before anybody changed it, as the suite's own order showed it: of
 * what is initialised when it is first used that is its first value, which is what
 * a test finds that runs alone. In the order shown it is what was there before
 * that, which nobody ever finds.
 */
static struct err *show_first_values(const struct pollution *pollution,
				     struct change *change)
{
	for (size_t i = 0; i < change->n; i++) {
		struct change_path *path = &change->paths[i];
		const struct change_path *first = NULL;
		for (size_t j = 0; j < pollution->findings.n && !first; j++) {
			const struct leftover *leftover =
				leftover_of(&pollution->findings.data[j]);
			if (!leftover->restores &&
			    !strcmp(leftover->change.root, change->root))
				first = find_path(&leftover->change,
						  path->path);
		}
		if (!first || !first->before)
			continue;
		free(path->before);
		path->before = NULL;
		TRY(str_copy(first->before, &path->before));
	}
	return NULL;
}

/* One of the tests in whichever order has more than the test itself. */
static struct err *order_find_leftovers(const struct pollution *pollution,
					struct dependence *dependence)
{
	const struct order_tests *before = dependence->class == ORDER_BRITTLE
						   ? &dependence->passing
						   : &dependence->failing;
	const struct change *change = &dependence->left.change;
	const struct change_path *path = NULL;
	if (!change->n && pollution)
		TRY(borrow_change(pollution, before, dependence));
	size_t by = change->n ? who_left(pollution, before, change->root)
			      : ORDER_NONE;
	if (by == ORDER_NONE)
		return NULL;
	if (pollution && change->where == CHANGE_MEMORY &&
	    dependence->class != ORDER_BRITTLE)
		TRY(show_first_values(pollution, &dependence->left.change));
	TRY(choose_path(pollution, dependence, &path));
	/* What files hold may differ in each run, and is masked there. */
	const struct change *known =
		pollution && change->where == CHANGE_FILE
			? find_change(pollution, by, change->root)
			: NULL;
	if (known && known->n)
		path = &known->paths[0];
	dependence->left.test = by;
	TRY(str_copy(path->path, &dependence->left.path));
	TRY(str_copy(path->before, &dependence->left.before));
	return str_copy(path->after, &dependence->left.after);
}

/* ---- whether the user's own runs show it ---- */

/* The framework that keeps from others what these tests leave; NULL: none does. */
static const char *who_isolates(const struct finding_run *run,
				const struct map_u64 *culprits)
{
	const char *by = NULL;
	for (size_t i = 0; i < run->tests->n; i++) {
		uint64_t is_culprit;
		if (!map_u64_get(culprits, i, &is_culprit))
			continue;
		by = run->tests->tests[i].isolated_by;
		if (!by)
			return NULL;
	}
	return by;
}

static bool leave_outside(const struct pollution *pollution,
			  const struct map_u64 *culprits)
{
	for (size_t i = 0; i < pollution->findings.n; i++) {
		const struct finding *finding = &pollution->findings.data[i];
		uint64_t is_culprit;
		if (map_u64_get(culprits, finding->test, &is_culprit) &&
		    change_outlives_process(&leftover_of(finding)->change))
			return true;
	}
	return false;
}

/* Where it is not known through what, all that its culprits leave counts. */
static struct err *order_isolate(const struct finding_run *run,
				 const struct pollution *pollution,
				 const struct dependence *dependence,
				 struct finding *finding)
{
	_cleanup_(map_u64_freep) struct map_u64 culprits = MAP_INIT;
	const struct order_tests *failing = &dependence->failing;
	TRY(note_culprits(dependence, &culprits));
	if (dependence->class == ORDER_UNEXPLAINED) {
		for (size_t i = 0; i < failing->n; i++)
			TRY(map_u64_put(&culprits, failing->data[i], 1));
	}
	const char *by = who_isolates(run, &culprits);
	bool outside =
		dependence->polluted.n
			? dependence->polluted_outside
			: !pollution || leave_outside(pollution, &culprits);
	return by && !outside ? finding_isolate(finding, by) : NULL;
}

/* A test that passes and fails after others, and not alone. */
struct err *order_isolate_flaky(const struct finding_run *run,
				const struct pollution *pollution,
				struct finding *finding)
{
	_cleanup_(map_u64_freep) struct map_u64 before = MAP_INIT;
	const struct order_tests *order = &flaky_of(finding)->order;
	for (size_t i = 0; i + 1 < order->n; i++)
		TRY(map_u64_put(&before, order->data[i], 1));
	const char *by = who_isolates(run, &before);
	return by && pollution && !leave_outside(pollution, &before)
		       ? finding_isolate(finding, by)
		       : NULL;
}

struct err *order_finding_make(const struct finding_run *run,
			       const struct pollution *pollution,
			       struct dependence *dependence,
			       struct finding *ret)
{
	const char *test = roster_name(run->tests, dependence->test);
	if (pollution && dependence->polluted.n)
		TRY(find_because(pollution, dependence));
	if (dependence->polluted.n)
		TRY(order_find_leftovers(pollution, dependence));
	log_debug(LOG_ORDER,
		  "%s: caused by %zu roots, explained by %zu findings of "
		  "pollution",
		  test, dependence->polluted.n, dependence->because.n);
	_cleanup_(finding_free) struct finding finding = {
		.kind = &dependence_kind,
		.tests = run->tests,
		.test = dependence->test,
		.severity = order_judge_severity(dependence),
		.file = dependence->failure.file,
		.line = dependence->failure.line,
	};
	/* Of the test alone: its class may turn out to be another one. */
	TRY(finding_id(&dependence_kind, 0, test, NULL, &finding.id));
	TRY(order_make_message(run, dependence, &finding.message));
	TRY(finding_replay(finding.id, &finding.replay));
	TRY(order_isolate(run, pollution, dependence, &finding));
	TRY(finding_take_evidence(&finding, dependence, sizeof(*dependence)));
	*ret = finding;
	finding = (struct finding){};
	return NULL;
}

/*
 * From a dependence to a finding: what explains it, and the sentence that says
 * it.
 */
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "finding/words.h"
#include "order/order_internal.h"

/* Running a test twice in one process is rarer than another order. */
static enum finding_severity
order_judge_severity(const struct dependence *dependence)
{
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
	TRY(dependence_append_order(&text, run->tests, &dependence->failing));
	TRY(str_append(&text, " and passes "));
	TRY(dependence_append_order(&text, run->tests, &dependence->passing));
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

/* One of the tests in whichever order has more than the test itself. */
static struct err *order_find_leftovers(const struct pollution *pollution,
					struct dependence *dependence)
{
	const struct order_tests *before = dependence->class == ORDER_BRITTLE
						   ? &dependence->passing
						   : &dependence->failing;
	const struct change *change = NULL;
	size_t i = 0;
	for (; !change && i + 1 < before->n; i++) {
		for (size_t j = 0; !change && j < dependence->polluted.n; j++)
			change = find_change(pollution, before->data[i],
					     dependence->polluted.data[j]);
	}
	if (!change)
		return NULL;
	dependence->left.test = before->data[i - 1];
	dependence->left.path = strdup(change->paths[0].path);
	dependence->left.before = strdup(change->paths[0].before);
	dependence->left.after = strdup(change->paths[0].after);
	return dependence->left.path && dependence->left.before &&
			       dependence->left.after
		       ? NULL
		       : err_nomem();
}

struct err *order_finding_make(const struct finding_run *run,
			       const struct pollution *pollution,
			       struct dependence *dependence,
			       struct finding *ret)
{
	const char *test = roster_name(run->tests, dependence->test);
	if (pollution && dependence->polluted.n) {
		TRY(find_because(pollution, dependence));
		TRY(order_find_leftovers(pollution, dependence));
	}
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
	TRY(finding_take_evidence(&finding, dependence, sizeof(*dependence)));
	*ret = finding;
	finding = (struct finding){};
	return NULL;
}

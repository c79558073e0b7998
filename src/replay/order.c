/* An order-dependent test: in one order it fails, in the other it passes. */
#include <string.h>

#include "base/log.h"
#include "finding/dependence.h"
#include "replay/replay_internal.h"

static struct err *describe_order(const struct finding *finding,
				  const char *name, enum trial_expect expect,
				  const struct order_tests *order,
				  struct record *record)
{
	struct trial *trial;
	TRY(record_add_trial(record, name, expect, &trial));
	for (size_t i = 0; i < order->n; i++)
		TRY(record_add_name(
			&trial->order,
			roster_name(finding->tests, order->data[i])));
	return NULL;
}

struct err *replay_describe_orders(const struct finding *finding,
				   const struct replay_source *source,
				   const struct order_tests *failing,
				   const struct order_tests *passing,
				   struct record *record)
{
	for (size_t i = 0; i < source->n_files; i++)
		TRY(strv_add(&record->files, source->files[i]));
	TRY(describe_order(finding, "failing", TRIAL_FAIL, failing, record));
	return describe_order(finding, "passing", TRIAL_PASS, passing, record);
}

static struct err *describe_dependence(const struct finding *finding,
				       const struct replay_source *source,
				       struct record *record)
{
	const struct dependence *dependence = dependence_of(finding);
	return replay_describe_orders(finding, source, &dependence->failing,
				      &dependence->passing, record);
}

/* What is seen of one run of an order. */
struct order_watcher {
	size_t last; /* entry */
	bool told;
	struct suite_result result;
	struct err *err;
};

static void take_last_result(void *data, const struct suite_result *result)
{
	struct order_watcher *watcher = data;
	if (result->entry != watcher->last || watcher->told)
		return;
	watcher->told = true;
	watcher->err = suite_result_copy(result, &watcher->result);
}

static void ignore_start(void *data _unused_, size_t test _unused_)
{
}

static void log_limit(void *data _unused_, const char *text)
{
	log_info("%s", text);
}

struct err *replay_run_order(struct replay *replay, const struct trial *trial,
			     struct suite_result *ret, bool *ret_as_expected)
{
	_cleanup_(suite_nodes_freep) struct suite_nodes nodes = {};
	struct order_watcher watcher = { .last = trial->tests.n - 1 };
	const struct suite_observer observer = {
		.started = ignore_start,
		.finished = take_last_result,
		.limit = log_limit,
		.data = &watcher,
	};
	for (size_t i = 0; i < trial->tests.n; i++) {
		struct suite_node node = {
			.parent = i ? i - 1 : SUITE_TREE_ROOT,
			.test = trial->tests.data[i],
		};
		TRY(vec_push(&nodes, node));
	}
	struct err *err = suite_run_tree(replay->suite, nodes.data, nodes.n,
					 SUITE_SERIAL, &observer);
	if (!err)
		err = take_ptr(watcher.err);
	if (!err && !watcher.told)
		err = err_create(ERR_INTERNAL,
				 "the last test of the order did not report");
	if (err) {
		err_destroy(watcher.err);
		suite_result_free(&watcher.result);
		return err;
	}
	*ret = watcher.result;
	*ret_as_expected = replay_is_expected(trial, ret->outcome);
	return NULL;
}

static struct err *append_deviations(const struct replay *replay,
				     struct str *str)
{
	const char *between = " ";
	for (size_t i = 0; i < replay->record.trials.n; i++) {
		const struct trial *trial = &replay->record.trials.data[i];
		if (trial->as_expected == trial->runs)
			continue;
		TRY(str_appendf(
			str, "%s%s %s%zu of %zu times in the %s order", between,
			trial->expect == TRIAL_PASS ? "passes" : "fails",
			trial->as_expected ? "only " : "", trial->as_expected,
			trial->runs, trial->name));
		between = ", and ";
	}
	return str_append(str, "\n");
}

static struct err *append_order_verdict(const struct replay *replay,
					struct str *str)
{
	const struct record *record = &replay->record;
	size_t runs = record->trials.data[0].runs;
	TRY(str_append(str, replay->reproduced ? "reproduced: "
					       : "not reproduced: "));
	TRY(replay_append_test(replay, str));
	if (replay->reproduced)
		return str_appendf(str,
				   " fails in the failing order and passes in "
				   "the passing one, %zu of %zu times each\n",
				   runs, runs);
	TRY(append_deviations(replay, str));
	if (!record->files.n)
		return NULL;
	TRY(str_append(str, "the tests share files; each run started with them "
			    "as they are now: "));
	TRY(replay_append_names(str, &record->files));
	return str_append(str, "\n");
}

const struct replay_kind replay_order = {
	.finding = &dependence_kind,
	.expects = { TRIAL_FAIL, TRIAL_PASS },
	.noun = "order",
	.shows_order = true,
	.describe = describe_dependence,
	.run = replay_run_order,
	.append_verdict = append_order_verdict,
};

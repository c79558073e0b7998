/*
 * A flaky test: its order is run until the test has failed and until it has
 * passed. Nothing differs between these runs.
 */
#include "finding/flaky.h"

#include "replay/replay_internal.h"

static struct err *describe_flaky(const struct finding *finding,
				  const struct replay_source *source,
				  struct record *record)
{
	const struct order_tests *order = &flaky_of(finding)->order;
	return replay_describe_orders(finding, source, order, order, record);
}

static struct err *append_flaky_verdict(const struct replay *replay,
					struct str *str)
{
	const struct trial *failing = &replay->record.trials.data[0];
	const struct trial *passing = &replay->record.trials.data[1];
	if (replay->reproduced) {
		TRY(str_append(str, "reproduced: "));
		TRY(replay_append_test(replay, str));
		return str_appendf(str,
				   " failed in run %zu of its order and passed "
				   "in run %zu of the same order\n",
				   failing->runs, passing->runs);
	}
	TRY(str_append(str, "not reproduced: "));
	TRY(replay_append_test(replay, str));
	return str_appendf(str, " %s each of %zu times in the same order\n",
			   failing->as_expected ? "failed" : "passed",
			   failing->as_expected ? passing->runs
						: failing->runs);
}

const struct replay_kind replay_flaky = {
	.finding = &flaky_kind,
	.expects = { TRIAL_FAIL, TRIAL_PASS },
	.noun = "order",
	.shows_order = true,
	.until = true,
	.describe = describe_flaky,
	.run = replay_run_order,
	.append_verdict = append_flaky_verdict,
};

/*
 * A test that leaves state changed: the detector looks at it once more, with the
 * options it had. What a test leaves may be there only after others, so where
 * it leaves nothing alone the whole run is repeated.
 */
#include <jansson.h>
#include <string.h>

#include "finding/leftover.h"
#include "replay/replay_internal.h"

static struct err *describe_command(const struct finding *finding,
				    const struct replay_source *source,
				    const char *name, const char *test,
				    struct record *record)
{
	struct trial *trial;
	TRY(record_add_trial(record, name, TRIAL_FINDING, &trial));
	return source->command(source->data, finding->kind->command, test,
			       &trial->command);
}

static struct err *describe_leftover(const struct finding *finding,
				     const struct replay_source *source,
				     struct record *record)
{
	TRY(describe_command(finding, source, "alone", finding_test(finding),
			     record));
	return describe_command(finding, source, "whole", NULL, record);
}

/* The report of the whole run is about other tests, too: it is not shown. */
static struct err *run_command(struct replay *replay, const struct trial *trial,
			       struct suite_result *ret _unused_,
			       bool *ret_as_expected)
{
	const struct replay_options *options = replay->options;
	bool whole = trial != replay->record.trials.data;
	return options->detect(
		options->data, &trial->command, replay->finding->id,
		whole || options->json || options->quiet, ret_as_expected);
}

static struct err *append_pollution_verdict(const struct replay *replay,
					    struct str *str)
{
	_cleanup_(json_freep) json_t *finding = json_loads(
		replay->finding->json ? replay->finding->json : "", 0, NULL);
	const char *message =
		json_string_value(json_object_get(finding, "message"));
	bool alone = replay->record.trials.data[0].as_expected;
	if (!message)
		message = replay->finding->id;
	TRY(str_append(str, alone ? "reproduced: "
			    : replay->reproduced
				    ? "reproduced after other tests, not "
				      "alone: "
				    : "not reproduced: "));
	TRY(str_append_escaped(str, message, strlen(message)));
	return str_append(str, "\n");
}

const struct replay_kind replay_pollution = {
	.finding = &leftover_kind,
	.expects = { TRIAL_FINDING, TRIAL_FINDING },
	.describe = describe_leftover,
	.run = run_command,
	.append_verdict = append_pollution_verdict,
};

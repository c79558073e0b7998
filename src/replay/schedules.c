/*
 * A test that depends on timing: under the schedule it fails, without one it
 * passes.
 */
#include <string.h>

#include "finding/arrival.h"
#include "replay/replay_internal.h"
#include "schedules/schedules.h"

/* ---- keeping it ---- */

static json_t *pack_key(const char *key)
{
	return key ? json_string(key) : json_null();
}

static json_t *pack_schedule(const struct arrival *arrival)
{
	return json_pack("{s:o, s:i, s:o, s:i, s:b, s:o, s:i, s:I, s:I, s:I, "
			 "s:b, s:o, s:b, s:b}",
			 "event", pack_key(arrival->event), "nth",
			 (int)arrival->nth, "until", pack_key(arrival->until),
			 "until_nth", (int)arrival->until_nth, "early",
			 arrival->early, "before", pack_key(arrival->before),
			 "before_nth", (int)arrival->before_nth, "patience",
			 (json_int_t)arrival->patience_ns, "seed",
			 (json_int_t)arrival->seed, "delay",
			 (json_int_t)arrival->delay_ns, "priorities",
			 arrival->priorities, "passing",
			 pack_key(arrival->passing_event), "passing_early",
			 arrival->passing_early, "inside", arrival->inside);
}

static struct err *describe_schedule_trial(const struct finding *finding,
					   const char *name, bool forced,
					   struct record *record)
{
	struct trial *trial;
	TRY(record_add_trial(record, name, forced ? TRIAL_FAIL : TRIAL_PASS,
			     &trial));
	trial->forced = forced;
	return record_add_name(&trial->order, finding_test(finding));
}

static struct err *
describe_schedule(const struct finding *finding,
		  const struct replay_source *source _unused_,
		  struct record *record)
{
	record->details = pack_schedule(arrival_of(finding));
	if (!record->details)
		return err_create(ERR_INTERNAL, "a place is not UTF-8");
	TRY(describe_schedule_trial(finding, "with", true, record));
	return describe_schedule_trial(finding, "without", false, record);
}

/* ---- reading it ---- */

struct replayed_schedule {
	struct suite_schedule schedule; /* texts are below */
	struct suite_schedule passing;
	char *event, *until, *before, *held;
};

static void replayed_schedule_free(void *details)
{
	struct replayed_schedule *replayed = details;
	if (!replayed)
		return;
	free(replayed->event);
	free(replayed->until);
	free(replayed->before);
	free(replayed->held);
	free(replayed);
}

static void replayed_schedule_freep(struct replayed_schedule **replayed)
{
	replayed_schedule_free(*replayed);
}

static struct err *read_key(const json_t *value, const char *what, char **ret)
{
	if (json_is_null(value))
		return NULL;
	return json_is_string(value) ? str_copy(json_string_value(value), ret)
				     : record_unreadable(what);
}

static struct err *read_schedule(const struct record *record, void **ret)
{
	_cleanup_(replayed_schedule_freep) struct replayed_schedule *replayed =
		calloc(1, sizeof(*replayed));
	json_error_t error;
	json_t *event = NULL, *until = NULL, *before = NULL, *held = NULL;
	int nth = 0, until_nth = 0, before_nth = 0, early = 0, priorities = 0;
	int passing_early = 0, inside = 0;
	json_int_t patience = 0, seed = 0, delay = 0;
	if (!replayed)
		return err_nomem();
	if (!record->details)
		return record_unreadable("details");
	if (json_unpack_ex(record->details, &error, 0,
			   "{s:o, s:i, s:o, s:i, s:b, s:o, s:i, s:I, s:I, s:I, "
			   "s:b, s:o, s:b, s?b}",
			   "event", &event, "nth", &nth, "until", &until,
			   "until_nth", &until_nth, "early", &early, "before",
			   &before, "before_nth", &before_nth, "patience",
			   &patience, "seed", &seed, "delay", &delay,
			   "priorities", &priorities, "passing", &held,
			   "passing_early", &passing_early, "inside", &inside))
		return record_unreadable(error.text);
	if (nth < 0 || until_nth < 0 || before_nth < 0 || patience < 0 ||
	    delay < 0)
		return record_unreadable("a number below 0");
	TRY(read_key(event, "event", &replayed->event));
	TRY(read_key(until, "until", &replayed->until));
	TRY(read_key(before, "before", &replayed->before));
	TRY(read_key(held, "passing", &replayed->held));
	replayed->passing = (struct suite_schedule){
		.event = replayed->held,
		.early = passing_early,
		.patience_ns = (uint64_t)patience,
	};
	replayed->schedule = (struct suite_schedule){
		.event = replayed->event,
		.nth = (unsigned)nth,
		.inside = inside,
		.until = replayed->until,
		.until_nth = (unsigned)until_nth,
		.early = early,
		.before = replayed->before,
		.before_nth = (unsigned)before_nth,
		.patience_ns = (uint64_t)patience,
		.seed = (uint64_t)seed,
		.delay_ns = (uint64_t)delay,
		.priorities = priorities,
	};
	*ret = take_ptr(replayed);
	return NULL;
}

/* ---- running it ---- */

static void prepare_schedule(const void *details _unused_,
			     struct suite_options *options)
{
	options->schedules = true;
}

static struct err *run_schedule(struct replay *replay,
				const struct trial *trial,
				struct suite_result *ret, bool *ret_as_expected)
{
	const struct replayed_schedule *replayed = replay->details;
	TRY(schedules_run_again(
		replay->suite, trial->tests.data[trial->tests.n - 1],
		trial->forced ? &replayed->schedule : &replayed->passing, ret));
	*ret_as_expected = replay_is_expected(trial, ret->outcome);
	return NULL;
}

static struct err *append_schedule_verdict(const struct replay *replay,
					   struct str *str)
{
	return replay_append_comparison(replay, "under the schedule", str);
}

const struct replay_kind replay_schedules = {
	.finding = &arrival_kind,
	.expects = { TRIAL_FAIL, TRIAL_PASS },
	.noun = "schedule",
	.describe = describe_schedule,
	.read_details = read_schedule,
	.free_details = replayed_schedule_free,
	.prepare = prepare_schedule,
	.run = run_schedule,
	.append_verdict = append_schedule_verdict,
};

/*
 * A test that assumes more than an API promises: with the decisive choices it
 * fails, without any it passes.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "choices/choices.h"
#include "choices/user_models.h"
#include "finding/assumption.h"
#include "replay/replay_internal.h"

/* ---- keeping it ---- */

/* 64 bits: more than a JSON number of everybody's holds. */
static json_t *pack_wide(uint64_t number)
{
	return json_sprintf("%llx", (unsigned long long)number);
}

/* By name: the numbers of models are those of one version. */
static struct err *pack_models(const struct choices_options *options,
			       const uint64_t *words, json_t **ret)
{
	_cleanup_(strv_freep) struct strv keys = {};
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		const struct choices_model *model =
			choices_find_model(options, i);
		_cleanup_(str_freep) struct str key = STR_INIT;
		if (!model || !choices_has_model(words, i))
			continue;
		TRY(choices_append_model_key(&key, model));
		TRY(strv_take(&keys, str_take(&key)));
	}
	*ret = record_pack_list(&keys);
	return NULL;
}

static json_t *pack_ranges(const struct assumption *assumption)
{
	_cleanup_(json_freep) json_t *list = json_array();
	for (size_t i = 0; i < assumption->ranges.n; i++) {
		const struct wire_choice_range *range =
			&assumption->ranges.data[i];
		json_t *entry = json_pack("{s:o, s:o, s:o, s:o}", "thread",
					  pack_wide(range->thread), "from",
					  pack_wide(range->from), "to",
					  pack_wide(range->to), "phase",
					  pack_wide(range->phase));
		if (json_array_append_new(list, entry))
			return NULL;
	}
	return take_ptr(list);
}

/* With --systematic: the picks themselves, in sequence. */
static json_t *pack_forced(const struct assumption *assumption)
{
	_cleanup_(json_freep) json_t *list = json_array();
	for (size_t i = 0; i < assumption->forced.n; i++) {
		if (json_array_append_new(
			    list, pack_wide(assumption->forced.data[i])))
			return NULL;
	}
	return take_ptr(list);
}

static struct err *pack_details(const struct assumption *assumption,
				const struct replay_source *source,
				json_t **ret)
{
	_cleanup_(json_freep) json_t *numbered = NULL;
	_cleanup_(json_freep) json_t *on = NULL;
	TRY(pack_models(source->choices, assumption->numbered, &numbered));
	TRY(pack_models(source->choices, assumption->on, &on));
	*ret = json_pack("{s:s, s:o, s:b, s:o, s:O, s:O, s:o, s:o}", "level",
			 choices_level_name(assumption->level), "seed",
			 pack_wide(assumption->failing_seed), "startup",
			 assumption->startup, "models",
			 record_pack_list(source->models), "numbered", numbered,
			 "on", on, "ranges", pack_ranges(assumption), "forced",
			 pack_forced(assumption));
	return *ret ? NULL : err_create(ERR_INTERNAL, "a model is not UTF-8");
}

static struct err *describe_choice_trial(const struct finding *finding,
					 const char *name, bool forced,
					 struct record *record)
{
	const struct assumption *assumption = assumption_of(finding);
	struct trial *trial;
	TRY(record_add_trial(record, name, forced ? TRIAL_FAIL : TRIAL_PASS,
			     &trial));
	trial->forced = forced;
	for (size_t i = 0; i < assumption->prefix.n; i++)
		TRY(record_add_name(&trial->order,
				    roster_name(finding->tests,
						assumption->prefix.data[i])));
	return record_add_name(&trial->order, finding_test(finding));
}

static struct err *describe_assumption(const struct finding *finding,
				       const struct replay_source *source,
				       struct record *record)
{
	TRY(pack_details(assumption_of(finding), source, &record->details));
	TRY(describe_choice_trial(finding, "with", true, record));
	return describe_choice_trial(finding, "without", false, record);
}

/* ---- reading it ---- */

struct replayed_choices {
	enum wire_level level;
	uint64_t seed;
	bool startup;
	struct user_model_texts user; /* as they were then */
	uint64_t numbered[WIRE_MODEL_WORDS], on[WIRE_MODEL_WORDS];
	VEC(struct wire_choice_range) ranges;
	VEC(uint64_t) forced;
};

static void replayed_choices_free(void *details)
{
	struct replayed_choices *choices = details;
	if (!choices)
		return;
	user_model_texts_freep(&choices->user);
	vec_free(&choices->ranges);
	vec_free(&choices->forced);
	free(choices);
}

static void replayed_choices_freep(struct replayed_choices **choices)
{
	replayed_choices_free(*choices);
}

static struct err *read_wide(const json_t *value, const char *what,
			     uint64_t *ret)
{
	const char *text = json_string_value(value);
	return text && str_to_u64(text, 16, ret) ? NULL
						 : record_unreadable(what);
}

static bool find_model(const struct choices_options *options, const char *name,
		       uint64_t *ret)
{
	bool found = false;
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		const struct choices_model *model =
			choices_find_model(options, i);
		_cleanup_(str_freep) struct str key = STR_INIT;
		if (!model)
			continue;
		struct err *err = choices_append_model_key(&key, model);
		if (!err && !strcmp(key.s, name)) {
			ret[i / 64] |= 1ULL << i % 64;
			found = true;
		}
		err_ignore(err);
	}
	return found;
}

/* Names of models as their numbers of today. */
static struct err *read_models(const struct replayed_choices *choices,
			       const json_t *value, const char *what,
			       uint64_t ret[WIRE_MODEL_WORDS])
{
	_cleanup_(strv_freep) struct strv names = {};
	const struct choices_options options = {
		.user = choices->user.shown.data,
		.n_user = choices->user.shown.n,
	};
	TRY(record_read_list(value, what, &names));
	if (!names.n)
		return record_unreadable(what);
	for (size_t i = 0; i < names.n; i++) {
		if (!find_model(&options, names.data[i], ret))
			log_warn("the model '%s' no longer exists: choices may "
				 "be numbered differently",
				 names.data[i]);
	}
	return NULL;
}

static struct err *read_ranges(const json_t *list,
			       struct replayed_choices *choices)
{
	if (!json_is_array(list) || json_array_size(list) > WIRE_CHOICE_RANGES)
		return record_unreadable("ranges");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);
		struct wire_choice_range range = {};
		TRY(read_wide(json_object_get(entry, "thread"), "thread",
			      &range.thread));
		TRY(read_wide(json_object_get(entry, "from"), "from",
			      &range.from));
		TRY(read_wide(json_object_get(entry, "to"), "to", &range.to));
		TRY(read_wide(json_object_get(entry, "phase"), "phase",
			      &range.phase));
		TRY(vec_push(&choices->ranges, range));
	}
	return NULL;
}

static struct err *read_forced(const json_t *list,
			       struct replayed_choices *choices)
{
	if (!json_is_array(list) || json_array_size(list) > WIRE_CHOICE_TRACE)
		return record_unreadable("forced");
	for (size_t i = 0; i < json_array_size(list); i++) {
		uint64_t pick;
		TRY(read_wide(json_array_get(list, i), "forced", &pick));
		TRY(vec_push(&choices->forced, pick));
	}
	return NULL;
}

static struct err *read_level(const char *name, enum wire_level *ret)
{
	unsigned level = 0;
	while (level < WIRE_LEVELS &&
	       strcmp(name, choices_level_name(level)) != 0)
		level++;
	if (level == WIRE_LEVELS)
		return record_unreadable("level");
	*ret = (enum wire_level)level;
	return NULL;
}

static struct err *read_user_models(const json_t *value,
				    struct user_model_texts *ret)
{
	_cleanup_(strv_freep) struct strv texts = {};
	TRY(record_read_list(value, "models", &texts));
	return user_models_parse((const char *const *)texts.data, texts.n, ret);
}

static struct err *read_choices(const struct record *record, void **ret)
{
	_cleanup_(replayed_choices_freep) struct replayed_choices *choices =
		calloc(1, sizeof(*choices));
	json_error_t error;
	json_t *seed = NULL, *models = NULL, *numbered = NULL, *on = NULL;
	json_t *ranges = NULL, *forced = NULL;
	const char *level = NULL;
	int startup = 0;
	if (!choices)
		return err_nomem();
	if (!record->details)
		return record_unreadable("details");
	if (json_unpack_ex(record->details, &error, 0,
			   "{s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "level",
			   &level, "seed", &seed, "startup", &startup, "models",
			   &models, "numbered", &numbered, "on", &on, "ranges",
			   &ranges, "forced", &forced))
		return record_unreadable(error.text);
	TRY(read_level(level, &choices->level));
	TRY(read_wide(seed, "seed", &choices->seed));
	choices->startup = startup;
	TRY(read_user_models(models, &choices->user));
	TRY(read_models(choices, numbered, "numbered", choices->numbered));
	TRY(read_models(choices, on, "on", choices->on));
	TRY(read_ranges(ranges, choices));
	TRY(read_forced(forced, choices));
	*ret = take_ptr(choices);
	return NULL;
}

/* ---- running it ---- */

static void prepare_choices(const void *details, struct suite_options *options)
{
	const struct replayed_choices *choices = details;
	options->user_models = choices->user.models.data;
	options->n_user_models = choices->user.models.n;
}

static struct err *run_choices(struct replay *replay, const struct trial *trial,
			       struct suite_result *ret, bool *ret_as_expected)
{
	const struct replayed_choices *choices = replay->details;
	const struct choices_again again = {
		.level = choices->level,
		.seed = choices->seed,
		.ranges = choices->ranges.data,
		.n_ranges = choices->ranges.n,
		.forced = choices->forced.data,
		.n_forced = choices->forced.n,
		.models = choices->numbered,
		.on = choices->on,
		.startup = choices->startup,
	};
	TRY(choices_run_again(replay->suite, trial->tests.data, trial->tests.n,
			      trial->forced ? &again : NULL, ret));
	*ret_as_expected = replay_is_expected(trial, ret->outcome);
	return NULL;
}

static struct err *append_choices_verdict(const struct replay *replay,
					  struct str *str)
{
	return replay_append_comparison(replay, "with the decisive choices",
					str);
}

const struct replay_kind replay_choices = {
	.finding = &assumption_kind,
	.expects = { TRIAL_FAIL, TRIAL_PASS },
	.noun = "choices",
	.agent = SUITE_AGENT_CHOICES,
	.describe = describe_assumption,
	.read_details = read_choices,
	.free_details = replayed_choices_free,
	.prepare = prepare_choices,
	.run = run_choices,
	.append_verdict = append_choices_verdict,
};

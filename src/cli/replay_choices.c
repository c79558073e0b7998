/* A test that assumes more than an API promises, with the decisive choices and without. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "cli/choices_options.h"
#include "cli/output.h"
#include "cli/replay.h"
#include "cli/results.h"

static void json_freep(json_t **json)
{
	json_decref(*json);
}

struct trial {
	const char *name; /* "with" */
	bool good;	  /* what it was found to do */
	VEC(struct suite_result) results;
	size_t as_found;
};

enum { WITH, WITHOUT, TRIALS };

struct trials {
	struct trial of[TRIALS];
};

static void free_result(struct suite_result *result)
{
	free(result->message);
	free(result->file);
	free(result->output);
}

static void trials_freep(struct trials *trials)
{
	for (size_t i = 0; i < TRIALS; i++) {
		for (size_t k = 0; k < trials->of[i].results.n; k++)
			free_result(&trials->of[i].results.data[k]);
		vec_free(&trials->of[i].results);
	}
}

DEFINE_VEC(prefix, size_t)

static struct err *find_test(const struct map_text *numbers, const char *name,
			     size_t *ret)
{
	uint64_t test = 0;
	if (!map_text_get(numbers, name, &test))
		return err_hint(err_create(ERR_SUITE,
					   "the suite has no test '%s' any "
					   "more",
					   name),
				"'polygraph choices' finds out how it is now");
	*ret = test;
	return NULL;
}

/* Names of models as their numbers of today. */
static struct err *find_models(const struct strv *names, const char *id,
			       const struct choices_options *user,
			       uint64_t ret[WIRE_MODEL_WORDS])
{
	for (size_t k = 0; k < names->n; k++) {
		bool found = false;
		for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
			const struct choices_model *model =
				choices_find_model(user, i);
			_cleanup_(str_freep) struct str key = STR_INIT;
			if (!model)
				continue;
			TRY(choices_append_model_key(&key, model));
			if (strcmp(key.s, names->data[k]) != 0)
				continue;
			ret[i / 64] |= 1ULL << i % 64;
			found = true;
		}
		if (!found)
			log_warn("%s: there is no model '%s' any more: choices "
				 "may be numbered otherwise",
				 id, names->data[k]);
	}
	return NULL;
}

static struct err *run_trials(const struct replay_values *values,
			      struct suite *suite, size_t test,
			      struct choices_again *again,
			      struct trials *trials)
{
	bool color = output_color(values->common.color, STDOUT_FILENO);
	_cleanup_(str_freep) struct str name = STR_INIT;
	const char *raw = suite_test(suite, test)->name;
	TRY(str_append_escaped(&name, raw, strlen(raw)));
	for (size_t i = 0; i < TRIALS; i++) {
		struct trial *trial = &trials->of[i];
		again->without = i == WITHOUT;
		for (uint64_t k = 0; k < values->times; k++) {
			struct suite_result result = {};
			_cleanup_(str_freep) struct str head = STR_INIT;
			TRY(choices_run_again(suite, test, again, &result));
			struct err *err = vec_push(&trial->results, result);
			if (err) {
				free_result(&result);
				return err;
			}
			trial->as_found +=
				result.outcome != OUTCOME_NONE &&
				replay_is_good(result.outcome) == trial->good;
			if (values->format || values->common.quiet)
				continue;
			TRY(str_appendf(&head, "%s choices %zu/%llu",
					trial->name, trial->results.n,
					(unsigned long long)values->times));
			TRY(replay_show(head.s, name.s ? name.s : "", &result,
					trial->good, color,
					values->common.verbose));
			fflush(stdout);
		}
	}
	return NULL;
}

static struct err *write_json(const char *id, const char *test, bool again,
			      const struct trials *trials)
{
	_cleanup_(json_freep) json_t *object = NULL;
	TRY(replay_json(id, test, again, &object));
	for (size_t i = 0; i < TRIALS; i++) {
		const struct trial *trial = &trials->of[i];
		json_t *entry = json_object(), *runs = json_array();
		TRY(replay_set(object, trial->name, entry));
		TRY(replay_set(entry, "runs", runs));
		for (size_t k = 0; k < trial->results.n; k++) {
			json_t *record = NULL;
			TRY(replay_result_json(&trial->results.data[k],
					       &record));
			if (json_array_append_new(runs, record))
				return err_nomem();
		}
	}
	return replay_print(object);
}

static struct err *say_verdict(const struct replay_values *values,
			       const char *id, const char *test, bool again,
			       const struct trials *trials)
{
	const unsigned long long times = values->times;
	if (values->format)
		return write_json(id, test, again, trials);
	_cleanup_(str_freep) struct str name = STR_INIT;
	TRY(str_append_escaped(&name, test, strlen(test)));
	const char *shown = name.s ? name.s : "";
	if (again)
		printf("reproduced: %s fails with the decisive choices and "
		       "passes without, %llu of %llu times each\n",
		       shown, times, times);
	else
		printf("not reproduced: %s fails %zu of %llu times with the "
		       "decisive choices, and passes %zu of %llu times "
		       "without\n",
		       shown, trials->of[WITH].as_found, times,
		       trials->of[WITHOUT].as_found, times);
	return NULL;
}

struct err *replay_choice(const struct replay_values *values,
			  struct store_finding *finding, enum status *ret)
{
	_cleanup_(results_choice_freep) struct results_choice kept = {};
	/* The suite goes before what it was opened with. */
	_cleanup_(user_model_texts_freep) struct user_model_texts user = {};
	_cleanup_(options_destroyp) struct options *options = NULL;
	_cleanup_(map_text_freep) struct map_text numbers = MAP_INIT;
	_cleanup_(suite_closep) struct suite *suite = NULL;
	_cleanup_(prefix_freep) struct prefix prefix = {};
	uint64_t numbered[WIRE_MODEL_WORDS] = {}, on[WIRE_MODEL_WORDS] = {};
	struct common_suite choice;
	size_t test = 0;
	TRY(results_choice_parse(finding->replay, &kept));
	TRY(user_models_parse((const char *const *)kept.models.data,
			      kept.models.n, &user));
	const struct suite_options how = {
		.agent = SUITE_AGENT_CHOICES,
		.keep_output = values->common.verbose,
		.user_models = user.models.data,
		.n_user_models = user.models.n,
	};
	const struct choices_options known = {
		.user = user.shown.data,
		.n_user = user.shown.n,
	};
	TRY(replay_open(&kept.suite, &how, &options, &choice, &suite));
	results_say_changed(&choice, suite, kept.files_digest);
	TRY(replay_number_tests(suite, &numbers));
	TRY(find_test(&numbers, kept.test, &test));
	for (size_t i = 0; i < kept.prefix.n; i++) {
		size_t before = 0;
		TRY(find_test(&numbers, kept.prefix.data[i], &before));
		TRY(vec_push(&prefix, before));
	}
	TRY(find_models(&kept.numbered, finding->id, &known, numbered));
	TRY(find_models(&kept.on, finding->id, &known, on));

	_cleanup_(trials_freep) struct trials trials = {
		.of = { [WITH] = { .name = "with" },
			[WITHOUT] = { .name = "without", .good = true } },
	};
	struct choices_again again = {
		.level = kept.level,
		.seed = kept.seed,
		.ranges = kept.ranges.data,
		.n_ranges = kept.ranges.n,
		.forced = kept.forced.data,
		.n_forced = kept.forced.n,
		.models = numbered,
		.on = on,
		.startup = kept.startup,
		.prefix = prefix.data,
		.n_prefix = prefix.n,
	};
	TRY(run_trials(values, suite, test, &again, &trials));
	bool reproduced = true;
	for (size_t i = 0; i < TRIALS; i++)
		reproduced &= trials.of[i].as_found == values->times;
	*ret = reproduced ? STATUS_FINDINGS : STATUS_OK;
	return say_verdict(values, finding->id, kept.test, reproduced, &trials);
}

#include "cli/choices_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/suggest.h"
#include "cli/detection.h"
#include "cli/unwind.h"
#include "dwarf/unwind.h"

#define FIELD(member) .offset = offsetof(struct detection_options, member)

/* clang-format off */
#define SHARED_OPTIONS \
	{ "level", 0, OPTION_CHOICE, FIELD(settings.level), .value = "LEVEL", \
	  .choices = assumption_levels, \
	  .often = true, \
	  .help = "how consistent the choices are: one (a different but " \
		  "constant behaviour), eq (equal inputs behave alike), id " \
		  "(the same unchanged object behaves alike) or full (every " \
		  "call is independent) (default: all, from one to full)" }, \
	{ "api", 0, OPTION_LIST, FIELD(settings.apis), .value = "GLOB", \
	  .help = "vary only APIs whose name matches, including optional " \
		  "ones; prefix '!' to exclude; repeatable" }, \
	{ "pedantic", 0, OPTION_FLAG, FIELD(settings.pedantic), \
	  .help = "vary optional APIs too: those that correct programs may " \
		  "rely on because another document promises more" }, \
	{ "model", 0, OPTION_LIST, FIELD(settings.models), .value = "MODEL", \
	  .tables = true, \
	  .help = "a function of yours whose behaviour may vary: " \
		  "'function=list_names; kind=permute; array=return; " \
		  "length=*arg1; element-size=8'; repeatable; in " \
		  "polygraph.toml, tables named [[choices.model]]" }

static const struct option choices_options[] = {
	SHARED_OPTIONS,
	{ "runs", 0, OPTION_NUMBER, FIELD(settings.runs), .value = "N",
	  .min = 1, .max = 1000000,
	  .often = true,
	  .help = "runs of the suite at each level, each with its own seed "
		  "(default: 3)" },
	{ "systematic", 0, OPTION_FLAG, FIELD(settings.systematic),
	  .help = "try every combination of choices in each test, up to "
		  "--bound, instead of random ones" },
	{ "bound", 0, OPTION_NUMBER, FIELD(settings.bound), .value = "N",
	  .min = 1, .max = UINT64_C(1) << 40,
	  .help = "with --systematic: maximum number of choices per test "
		  "(default: 10000)" },
	{ "repeat", 0, OPTION_NUMBER, FIELD(settings.repeat), .value = "N",
	  .min = 1, .max = 1000,
	  .help = "confirmations required per finding: failures with the "
		  "decisive choices, passes without (default: 3)" },
	{ "baselines", 0, OPTION_NUMBER, FIELD(settings.baselines),
	  .value = "N", .min = 1, .max = 1000,
	  .help = "runs without choices, to detect tests that fail on their "
		  "own (default: 2)" },
	{ "seed", 0, OPTION_NUMBER, FIELD(settings.seed), .value = "N", .random = true,
	  .max = UINT64_C(1) << 53,
	  .help = "first seed (default: 1); random: a new one each time, daily: each "
		  "day" },
	{ "list-models", 0, OPTION_FLAG, FIELD(list_models),
	  .no_config = true,
	  .help = "list the modelled APIs and what each leaves open; runs "
	  "nothing" },
	{}
};

static const struct option check_options[] = {
	{ "choices", 0, OPTION_FLAG, FIELD(choices),
	  .help = "look for tests that assume more than an API promises "
		  "(default; --no-choices)" },
	SHARED_OPTIONS,
	{}
};
/* clang-format on */

const struct option_group choices_group = { "Choices", choices_options };
const struct option_group choices_check_group = { "Choices", check_options };

/* ---- models ---- */

static void switch_to(uint64_t *words, uint64_t number, bool on)
{
	uint64_t bit = 1ULL << number % 64;
	words[number / 64] =
		on ? words[number / 64] | bit : words[number / 64] & ~bit;
}

static struct err *matches_nothing(const struct choices_options *options,
				   const char *pattern)
{
	struct suggestion suggestion;
	suggestion_init(&suggestion, pattern);
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		const struct choices_model *model =
			choices_find_model(options, i);
		if (model)
			suggestion_offer(&suggestion, model->api);
	}
	struct err *err = err_create(
		ERR_USAGE, "--api '%s' matches no model of an API", pattern);
	if (suggestion.best)
		return err_hint(err,
				"did you mean '%s'? 'polygraph choices "
				"--list-models' shows all",
				suggestion.best);
	return err_hint(err, "'polygraph choices --list-models' shows them");
}

/*
 * As with --tests: only what patterns match; a leading '!' excludes. A list
 * that begins with an exclusion starts from the default set.
 */
static struct err *choose_models(const struct option_list *patterns,
				 bool optional, struct choices_options *options)
{
	bool all = !patterns->n || patterns->data[0].text[0] == '!';
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		const struct choices_model *model =
			choices_find_model(options, i);
		switch_to(
			options->models, i,
			all && model &&
				!(options->systematic &&
				  choices_model_often(i)) &&
				(optional || !(model->flags & WIRE_OPTIONAL)));
	}
	for (size_t k = 0; k < patterns->n; k++) {
		const char *pattern = patterns->data[k].text;
		bool excludes = *pattern == '!', met = false;
		pattern += excludes;
		for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
			const struct choices_model *model =
				choices_find_model(options, i);
			if (!model || !str_glob(pattern, model->api))
				continue;
			met = true;
			switch_to(options->models, i, !excludes);
		}
		if (!met)
			return matches_nothing(options, pattern);
	}
	return NULL;
}

/* Is there one that is used at the requested levels? */
static struct err *check_models(const struct choices_options *options)
{
	const struct choices_model *nearest = NULL;
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		const struct choices_model *model =
			choices_find_model(options, i);
		if (!model || !choices_has_model(options->models, i))
			continue;
		if (!options->level_given || model->level <= options->level)
			return NULL;
		if (!nearest || model->level < nearest->level)
			nearest = model;
	}
	if (!nearest)
		return err_hint(
			err_create(ERR_USAGE, "--api excludes every API"),
			"'polygraph choices --list-models' shows them");
	return err_hint(err_create(ERR_USAGE,
				   "none of the selected APIs is varied at "
				   "level %s",
				   choices_level_name(options->level)),
			"%s is varied from level %s on", nearest->api,
			choices_level_name(nearest->level));
}

/* ---- the search ---- */

static struct err *parse_user_models(const struct option_list *list,
				     struct user_model_texts *ret)
{
	_cleanup_(strv_freep) struct strv texts = {};
	for (size_t i = 0; i < list->n; i++)
		TRY(strv_add(&texts, list->data[i].text));
	return user_models_parse((const char *const *)texts.data, texts.n, ret);
}

struct err *choices_plan_make(const struct choices_settings *settings,
			      bool level_given, struct choices_plan *ret)
{
	_cleanup_(choices_plan_freep) struct choices_plan plan = {
		.options = {
			.level_given = level_given,
			.level = (enum wire_level)settings->level,
			.runs = settings->runs,
			.baselines = settings->baselines,
			.repeats = settings->repeat,
			.seed = settings->seed,
			.systematic = settings->systematic,
			.bound = settings->bound,
		},
	};
	TRY(parse_user_models(&settings->models, &plan.user));
	plan.options.user = plan.user.shown.data;
	plan.options.n_user = plan.user.shown.n;
	TRY(choose_models(&settings->apis, settings->pedantic, &plan.options));
	TRY(check_models(&plan.options));
	TRY(unwinder_create(&plan.unwinder));
	plan.options.unwind = unwind_choice;
	plan.options.unwind_data = plan.unwinder;
	*ret = plan;
	plan = (struct choices_plan){};
	return NULL;
}

void choices_plan_free(struct choices_plan *plan)
{
	unwinder_destroy(plan->unwinder);
	user_model_texts_freep(&plan->user);
	*plan = (struct choices_plan){};
}

void choices_plan_open(const struct choices_plan *plan,
		       struct suite_options *ret)
{
	ret->agent = SUITE_AGENT_CHOICES;
	ret->user_models = plan->user.models.data;
	ret->n_user_models = plan->user.models.n;
}

struct err *choices_list_models(const struct choices_settings *settings,
				struct user_model_texts *user,
				struct report_model **ret, size_t *ret_n)
{
	struct choices_options options = {};
	TRY(parse_user_models(&settings->models, user));
	options.user = user->shown.data;
	options.n_user = user->shown.n;
	TRY(choose_models(&settings->apis, true, &options));
	struct report_model *models = calloc(WIRE_MODELS_ALL, sizeof(*models));
	size_t n = 0;
	if (!models)
		return err_nomem();
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		const struct choices_model *model =
			choices_find_model(&options, i);
		if (!model || !choices_has_model(options.models, i))
			continue;
		models[n++] = (struct report_model){
			.api = model->api,
			.kind = choices_kind_name(model->kind),
			.level = choices_level_name(model->level),
			.optional = model->flags & WIRE_OPTIONAL,
			.clause = model->clause,
			.never = model->never ? model->never : "",
		};
	}
	*ret = models;
	*ret_n = n;
	return NULL;
}

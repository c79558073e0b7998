/*
 * Tests that assume more than an API promises, as the commands look for them.
 */
#include <stdio.h>
#include <string.h>

#include "cli/detection.h"
#include "cli/interrupt.h"

struct choices_state {
	struct choices_settings settings;
	struct choices_plan plan;
	struct choices_result result;
	bool searched;
};

static bool choices_is_wanted(const struct detection *detection,
			      const struct detection_step *step _unused_)
{
	return detection->values->choices;
}

static struct err *choices_prepare(struct detection *detection, void *data)
{
	struct choices_state *state = data;
	bool given =
		options_source(detection->options, "level") != OPTION_DEFAULT;
	state->settings = detection->values->settings;
	/* In 'check' one seed is for all of it; there is no seed 0. */
	if (options_source(detection->options, "seed") != OPTION_DEFAULT &&
	    strcmp(detection->command, "choices") != 0)
		state->settings.seed = MAX(detection->values->seed, 1ULL);
	return choices_plan_make(&state->settings, given, &state->plan);
}

static void choices_open(const void *data, struct suite_options *ret)
{
	const struct choices_state *state = data;
	choices_plan_open(&state->plan, ret);
}

/* Those that this suite can meet. */
static void keep_models_of(const struct suite *suite,
			   struct choices_options *options)
{
	for (uint64_t i = 0; i < WIRE_MODELS_N; i++) {
		if (!suite_has_model(suite, choices_model(i)->flags))
			options->models[i / 64] &= ~(1ULL << i % 64);
	}
}

static struct err *choices_search_all(struct detection *detection, void *data)
{
	struct choices_state *state = data;
	struct choices_options *options = &state->plan.options;
	_cleanup_(progress_destroyp) struct progress *progress = NULL;
	struct suite_observer observer = detection_observer(detection);
	detection_settle_budget(detection, 0);
	TRY(detection_show_progress(detection, "choices", &progress));
	keep_models_of(detection->suite, options);
	options->run = &detection->run;
	options->known = detection->orders;
	options->arrivals = detection->arrivals;
	options->deadline = detection->deadline;
	state->searched = true;
	struct err *err = choices_find(detection->suite, detection->order.data,
				       detection->order.n, options, &observer,
				       &state->result);
	return collect_end(&detection->collect, err);
}

static struct err *choices_say_limits(struct detection *detection, void *data)
{
	const struct choices_state *state = data;
	const struct choices_options *options = &state->plan.options;
	const struct choices_reach *reach = &state->result.reach;
	size_t levels = options->level_given ? 1 : WIRE_LEVELS;
	size_t all = levels * options->runs;
	char why[48];
	detection_why(detection, reach->why, "ended early", why);
	if (!state->searched || !detection->order.n)
		return NULL;
	if (options->systematic && (reach->why || interrupt_happened()))
		TRY(detection_say(detection, "%zu of %zu tests explored (%s)",
				  reach->spaces.n, detection->order.n, why));
	if (!options->systematic && reach->runs < all)
		TRY(detection_say(detection,
				  "%zu of %zu runs with choices made (%s)",
				  reach->runs, all, why));
	if (reach->undebugged)
		TRY(detection_say(detection,
				  "%zu failing test%s not explained (%s)",
				  reach->undebugged,
				  reach->undebugged == 1 ? "" : "s", why));
	if (reach->runs && !reach->made)
		return detection_say(detection,
				     "the tests made no call that could be "
				     "varied, so this proves nothing");
	return NULL;
}

/* Those of levels and seeds that were asked for, once all of these were run. */
static void choices_judge_earlier(const struct detection *detection _unused_,
				  void *data, struct earlier_list *earlier)
{
	const struct choices_state *state = data;
	const struct choices_options *options = &state->plan.options;
	const struct choices_reach *reach = &state->result.reach;
	size_t levels = options->level_given ? 1 : WIRE_LEVELS;
	bool all =
		state->searched && !reach->why && !interrupt_happened() &&
		!reach->undebugged &&
		(options->systematic || reach->runs == levels * options->runs);
	for (size_t i = 0; i < earlier->n; i++) {
		struct earlier_finding *finding = &earlier->data[i];
		json_int_t seed = json_integer_value(
			json_object_get(finding->json, "failing_seed"));
		const char *level = earlier_text(finding, "level");
		finding->tried = all;
		if (finding->kind != &assumption_kind)
			continue;
		finding->left_out |=
			options->level_given &&
			strcmp(level, choices_level_name(options->level)) != 0;
		finding->left_out |=
			!options->systematic &&
			((uint64_t)seed < options->seed ||
			 (uint64_t)seed - options->seed >= options->runs);
	}
}

static struct err *choices_add(struct detection *detection, void *data,
			       struct report *report)
{
	struct choices_state *state = data;
	if (state->searched)
		report->choices = &state->result.reach;
	if (options_source(detection->options, "seed") != OPTION_DEFAULT)
		report->seed = &state->plan.options.seed;
	return findings_move(&detection->findings, &state->result.findings);
}

static void choices_keep(struct detection *detection, void *data)
{
	struct choices_state *state = data;
	struct records *records = &detection->records;
	records->source.choices = &state->plan.options;
	if (state->searched)
		results_put(records->results, "choices",
			    detection->findings.data, detection->findings.n);
}

static void choices_free(void *data)
{
	struct choices_state *state = data;
	choices_result_free(&state->result);
	choices_plan_free(&state->plan);
}

const struct detector detector_choices = {
	.name = "choices",
	.agent = SUITE_AGENT_CHOICES,
	.state_size = sizeof(struct choices_state),
	.is_wanted = choices_is_wanted,
	.prepare = choices_prepare,
	.open = choices_open,
	.find = choices_search_all,
	.say_limits = choices_say_limits,
	.judge_earlier = choices_judge_earlier,
	.add = choices_add,
	.keep = choices_keep,
	.free = choices_free,
};

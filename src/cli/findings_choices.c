/* Assumptions, from the search to the records of a report: see findings.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/str.h"
#include "cli/choices_options.h"
#include "cli/findings.h"
#include "report/choices.h"

/* Of test and API: a call may move, a seed may differ. */
static struct err *make_id(struct findings *findings, const char *test,
			   const char *api, const char **ret)
{
	static const char kind[] = "assumption";
	XXH64_hash_t hash = XXH64(kind, sizeof(kind), 0);
	hash = XXH64(test, strlen(test) + 1, hash);
	hash = XXH64(api, strlen(api) + 1, hash);
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_appendf(&text, "choice-%012llx",
			(unsigned long long)(hash & 0xffffffffffffULL)));
	return findings_own_text(findings, &text, ret);
}

static const char *api_of(const struct choices_model *model)
{
	return model ? model->api : "an unknown API";
}

static struct err *add_stack(struct findings *findings,
			     const struct choices_call *call,
			     struct report_call *ret)
{
	if (!call->stack.n)
		return NULL;
	struct report_frame *frames = calloc(call->stack.n, sizeof(*frames));
	TRY(findings_own(findings, frames));
	for (size_t i = 0; i < call->stack.n; i++) {
		const struct choices_frame *frame = &call->stack.data[i];
		frames[i] = (struct report_frame){ frame->function, frame->file,
						   frame->line };
	}
	ret->stack = frames;
	ret->n_stack = call->stack.n;
	return NULL;
}

static struct err *add_calls(struct findings *findings,
			     const struct choices_options *options,
			     const struct choices_call *calls, size_t n,
			     const struct report_call **ret)
{
	struct report_call *all = calloc(n + 1, sizeof(*all));
	TRY(findings_own(findings, all));
	for (size_t i = 0; i < n; i++) {
		const struct choices_call *call = &calls[i];
		const struct choices_model *model =
			choices_find_model(options, call->model);
		all[i] = (struct report_call){
			.api = api_of(model),
			.clause = model && model->clause ? model->clause : "",
			.index = call->n + 1,
			.thread = call->thread,
			.in_main = call->thread == WIRE_MAIN,
			.before = !call->phase,
			.pick = call->pick,
			.alternatives = call->alternatives,
			.argument = call->argument ? call->argument : "",
			.did = call->did ? call->did : "",
		};
		TRY(add_stack(findings, call, &all[i]));
	}
	*ret = all;
	return NULL;
}

static struct err *add_finding(struct findings *findings,
			       const struct findings_context *context,
			       const struct choices_options *options,
			       const struct choices_finding *finding)
{
	struct report_choice *choice = calloc(1, sizeof(*choice));
	TRY(findings_own(findings, choice));
	*choice = (struct report_choice){
		.api = api_of(choices_find_model(options, finding->model)),
		.level = choices_level_name(finding->level),
		.runs = finding->runs,
		.failures = finding->failures,
		.failing_seed = finding->failing_seed,
		.n_calls = finding->calls.n,
		.minimal = finding->minimal,
		.alone = finding->alone,
		.outcome = finding->outcome,
		.message = finding->message,
		.file = finding->file,
		.line = finding->line,
		.repeats = finding->repeats,
		.systematic = finding->systematic,
		.probability = finding->probability,
		.n_critical = finding->critical.n,
	};
	TRY(add_calls(findings, options, finding->calls.data, finding->calls.n,
		      &choice->calls));
	TRY(add_calls(findings, options, finding->critical.data,
		      finding->critical.n, &choice->critical));
	struct report_finding record = {
		.kind = "assumption",
		.test = suite_test(context->suite, finding->test)->name,
		.severity = choices_severity(finding),
		.choice = choice,
	};
	TRY(make_id(findings, record.test, choice->api, &record.id));
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(choices_append_message(&text, record.test, choice));
	TRY(findings_own_text(findings, &text, &record.message));
	_cleanup_(str_freep) struct str again = STR_INIT;
	TRY(str_appendf(&again, "polygraph replay %s", record.id));
	TRY(findings_own_text(findings, &again, &record.replay));
	record.known = baseline_knows(context->baseline, record.id);
	return vec_push(&findings->all, record);
}

/* Which models were met, and which might have been. */
static struct err *add_models(struct findings *findings,
			      const struct choices_options *options,
			      const struct choices_result *result)
{
	struct report_choices *ret = &findings->choices;
	const char **met = calloc(WIRE_MODELS_ALL, sizeof(*met));
	TRY(findings_own(findings, met));
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		const struct choices_model *model =
			choices_find_model(options, i);
		if (!model || !choices_has_model(options->models, i))
			continue;
		if (options->level_given && model->level > options->level)
			continue;
		ret->models++;
		if (choices_has_model(result->models_met, i))
			met[ret->met.n++] = model->api;
	}
	ret->met.data = met;
	return NULL;
}

static struct err *add_spaces(struct findings *findings,
			      const struct suite *suite,
			      const struct choices_result *result)
{
	size_t n = result->spaces.n;
	struct report_space *spaces = calloc(n + 1, sizeof(*spaces));
	TRY(findings_own(findings, spaces));
	for (size_t i = 0; i < n; i++) {
		const struct choices_space *space = &result->spaces.data[i];
		spaces[i] = (struct report_space){
			.test = suite_test(suite, space->test)->name,
			.nodes = space->nodes,
			.leaves = space->leaves,
			.failing = space->failing,
			.merged = space->merged,
			.probability = space->probability,
			.exhausted = space->exhausted,
		};
	}
	findings->choices.spaces = spaces;
	findings->choices.n_spaces = n;
	return NULL;
}

static struct err *add_reach(struct findings *findings,
			     const struct suite *suite,
			     const struct choices_options *options,
			     const struct choices_result *result)
{
	size_t n = result->randoms.n;
	struct report_random *randoms = calloc(n + 1, sizeof(*randoms));
	TRY(findings_own(findings, randoms));
	for (size_t i = 0; i < n; i++) {
		const struct choices_random *record = &result->randoms.data[i];
		randoms[i] = (struct report_random){
			suite_test(suite, record->test)->name,
			record->runs,
			record->failures,
		};
	}
	size_t first = options->level_given ? options->level : 0;
	findings->choices = (struct report_choices){
		.systematic = options->systematic,
		.levels = { choices_level_names + first,
			    options->level_given ? 1 : WIRE_LEVELS },
		.seeds = options->runs,
		.seed = options->seed,
		.executions = result->executions,
		.runs = result->runs,
		.baselines = result->baselines,
		.made = result->made,
		.acted = result->acted,
		.why = result->why,
		.undebugged = result->undebugged,
		.randoms = randoms,
		.n_randoms = n,
	};
	TRY(add_models(findings, options, result));
	return add_spaces(findings, suite, result);
}

struct err *findings_of_choices(struct findings *findings,
				const struct findings_context *context,
				const struct choices_options *options,
				const struct choices_result *result)
{
	for (size_t i = 0; i < result->findings.n; i++)
		TRY(add_finding(findings, context, options,
				&result->findings.data[i]));
	return add_reach(findings, context->suite, options, result);
}

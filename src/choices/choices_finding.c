/*
 * From an assumption to a finding, and what is said of the search as a whole.
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "choices/choices_internal.h"
#include "finding/words.h"

/* What today's libraries do for all, or what only some seeds bring about. */
static enum finding_severity
choices_judge_severity(const struct assumption *assumption)
{
	return assumption->level <= WIRE_EQ   ? FINDING_HIGH
	       : assumption->level == WIRE_ID ? FINDING_MEDIUM
					      : FINDING_LOW;
}

struct err *choices_name_call(const struct choices_options *options,
			      struct assumption_call *call)
{
	const struct choices_model *model =
		choices_find_model(options, call->model);
	call->api = strdup(model ? model->api : "an unknown API");
	call->clause = strdup(model && model->clause ? model->clause : "");
	return call->api && call->clause ? NULL : err_nomem();
}

struct err *choices_add_nameless(const struct choices_options *options,
				 const struct assumption_call *call,
				 struct assumption_calls *calls)
{
	struct assumption_call named = *call;
	named.argument = strdup("");
	named.did = strdup("");
	struct err *err = choices_name_call(options, &named);
	if (!err)
		err = named.argument && named.did ? vec_push(calls, named)
						  : err_nomem();
	if (err)
		assumption_call_free(&named);
	return err;
}

struct finding_failure choices_take_failure(struct choices_trial *trial)
{
	return (struct finding_failure){
		.outcome = trial->outcome,
		.message = take_ptr(trial->message),
		.file = take_ptr(trial->file),
		.line = trial->line,
	};
}

/*
 * "T assumes more than qsort promises: it fails when that does otherwise (…)"
 */
static struct err *choices_make_message(const char *test,
					const struct assumption *assumption,
					char **ret)
{
	const char *did = assumption->calls.data[0].did;
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(words_append(&text, test));
	TRY(str_append(&text, " assumes more than "));
	TRY(assumption_append_apis(&text, assumption));
	TRY(str_appendf(&text, ": it %s when the call behaves differently",
			words_verb(assumption->failure.outcome)));
	if (*did) {
		TRY(str_append(&text, " ("));
		TRY(words_append(&text, did));
		TRY(str_append(&text, ")"));
	}
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

struct err *choices_finding_add(struct choices_search *search,
				struct assumption *assumption)
{
	const struct finding_run *run = search->options->run;
	const char *test = roster_name(run->tests, assumption->test);
	_cleanup_(finding_free) struct finding finding = {
		.kind = &assumption_kind,
		.tests = run->tests,
		.test = assumption->test,
		.severity = choices_judge_severity(assumption),
		.file = assumption->failure.file,
		.line = assumption->failure.line,
	};
	/* Of test and API: a call may move, a seed may differ. */
	TRY(finding_id(&assumption_kind, 0, test, assumption->calls.data[0].api,
		       &finding.id));
	TRY(choices_make_message(test, assumption, &finding.message));
	TRY(finding_replay(finding.id, &finding.replay));
	TRY(finding_take_evidence(&finding, assumption, sizeof(*assumption)));
	TRY(vec_push(&search->result->findings, finding));
	finding = (struct finding){};
	return NULL;
}

/* Which models were met, and which might have been. */
static struct err *name_models(struct choices_search *search,
			       struct choices_reach *reach)
{
	const struct choices_options *options = search->options;
	for (uint64_t i = 0; i < WIRE_MODELS_ALL; i++) {
		const struct choices_model *model =
			choices_find_model(options, i);
		if (!model || !choices_bit(options->models, i) ||
		    (options->level_given && model->level > options->level))
			continue;
		reach->models++;
		if (choices_bit(search->met, i))
			TRY(strv_add(&reach->met, model->api));
	}
	return NULL;
}

struct err *choices_end_reach(struct choices_search *search)
{
	const struct choices_options *options = search->options;
	struct choices_reach *reach = &search->result->reach;
	reach->systematic = options->systematic;
	reach->first_level = options->level_given ? options->level : 0;
	reach->n_levels = options->level_given ? 1 : WIRE_LEVELS;
	reach->seeds = options->runs;
	reach->seed = options->seed;
	return name_models(search, reach);
}

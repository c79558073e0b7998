/* Tests that assume more than an API promises. */
#include <string.h>

#include "finding/assumption.h"
#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"

/* What is shown of a finding and of the search. */
#define FRAMES_MAX 8
#define WAYS_MAX 1000000000000000000ULL /* as choices/systematic.c */
#define MODELS_MAX 12
#define SPACES_MAX 10

static size_t choices_bound(bool all, size_t max)
{
	return all ? VERBOSE_MAX : max;
}

static const char *plural_ending(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- one finding ---- */

/*
 * "call 3 of the test", "call 5 of another thread", "call 2 before the first
 * test", "call 1 of Suite.Other"
 */
static struct err *append_which(struct str *str,
				const struct assumption_call *call)
{
	bool in_main = assumption_call_in_main(call);
	bool early = assumption_call_early(call);
	if (call->test && !early) {
		TRY(str_appendf(str, "call %llu of %s",
				(unsigned long long)call->n + 1,
				in_main ? "" : "another thread of "));
		return words_append(str, call->test);
	}
	return str_appendf(str, "call %llu %s%s",
			   (unsigned long long)call->n + 1,
			   in_main ? ""
			   : early ? "of another thread "
				   : "of another thread",
			   early     ? "before the first test"
			   : in_main ? "of the test"
				     : "");
}

/* After the last place of the project come framework and runtime. */
static size_t to_project(const struct assumption_call *call)
{
	size_t last = 0;
	for (size_t i = 0; i < call->stack.n; i++) {
		const char *function = call->stack.data[i].function;
		const char *file = call->stack.data[i].file;
		bool is_main = function && !strcmp(function, "main");
		if (file && strncmp(file, "/usr/", strlen("/usr/")) != 0 &&
		    (!is_main || !last))
			last = i + 1;
		if (is_main)
			break;
	}
	return last ? last : call->stack.n;
}

static struct err *choices_append_stack(struct str *str,
					const struct assumption_call *call,
					const char *indent, size_t max)
{
	size_t n = max < VERBOSE_MAX ? to_project(call) : call->stack.n;
	size_t shown = n <= max + 1 ? n : max;
	for (size_t i = 0; i < shown; i++) {
		const struct call_frame *frame = &call->stack.data[i];
		TRY(str_appendf(str, "%s  ", indent));
		TRY(words_append(str, frame->function ? frame->function : "?"));
		if (frame->file) {
			TRY(str_append(str, " ("));
			TRY(words_append_place(str, frame->file, frame->line));
			TRY(str_append(str, ")"));
		}
		TRY(str_append(str, "\n"));
	}
	if (shown == n)
		return NULL;
	return str_appendf(str, "%s  … %zu more callers\n", indent, n - shown);
}

static struct err *append_call(struct str *str,
			       const struct assumption_call *call,
			       const char *indent, bool all)
{
	TRY(str_append(str, indent));
	TRY(append_which(str, call));
	TRY(str_append(str, ": "));
	TRY(words_append(str, call->api));
	if (*call->argument) {
		TRY(str_append(str, " ("));
		TRY(words_append(str, call->argument));
		TRY(str_append(str, ")"));
	}
	TRY(str_append(str, ": "));
	if (*call->did)
		TRY(words_append(str, call->did));
	else
		TRY(str_appendf(str, "chose alternative %llu of %llu",
				(unsigned long long)call->pick + 1,
				(unsigned long long)call->alternatives));
	TRY(str_append(str, "\n"));
	return choices_append_stack(str, call, indent,
				    choices_bound(all, FRAMES_MAX));
}

/*
 * The decisive calls, a line each and their stacks below: "call 3 of the test:
 * …". Every line begins with @indent. @all: however many there are.
 */
static struct err *append_calls(struct str *str,
				const struct assumption *assumption,
				const char *indent, bool all)
{
	size_t n = assumption->calls.n,
	       max = choices_bound(all, ASSUMPTION_CALLS_MAX);
	size_t shown = n <= max + 1 ? n : max;
	if (n > 1)
		TRY(str_appendf(str, "%s%zu calls together%s:\n", indent, n,
				assumption->minimal
					? ", none of them can be left out"
					: ""));
	for (size_t i = 0; i < shown; i++)
		TRY(append_call(str, &assumption->calls.data[i], indent, all));
	if (shown < n)
		TRY(str_appendf(str, "%s… and %zu more calls\n", indent,
				n - shown));
	if (!assumption->minimal)
		TRY(str_appendf(str,
				"%sthe search ended early: fewer calls may "
				"suffice\n",
				indent));
	return NULL;
}

/* What leaves it open, of each API once. */
static struct err *append_clauses(struct str *str,
				  const struct assumption *assumption)
{
	size_t all = MIN(assumption->calls.n, (size_t)ASSUMPTION_CALLS_MAX);
	for (size_t i = 0; i < all; i++) {
		const struct assumption_call *call = &assumption->calls.data[i];
		bool known = false;
		for (size_t j = 0; j < i; j++)
			known |= !strcmp(assumption->calls.data[j].api,
					 call->api);
		if (known)
			continue;
		TRY(str_append(str, INDENT));
		TRY(words_append(str, call->api));
		TRY(str_append(str, ": "));
		TRY(words_append(str, call->clause));
		TRY(str_append(str, "\n"));
	}
	return NULL;
}

/*
 * "level one, seed 2: failed 2 of 3 runs; 3 of 3 times with that call alone …"
 */
static struct err *append_runs(struct str *str,
			       const struct assumption *assumption)
{
	if (!assumption->systematic)
		return str_appendf(
			str,
			INDENT "level %s, seed %llu: failed in %zu of %zu "
			       "run%s%s; with %s alone in %zu of %zu, "
			       "without choices in none\n",
			assumption_levels[assumption->level],
			(unsigned long long)assumption->failing_seed,
			assumption->failures, assumption->runs,
			plural_ending(assumption->runs),
			assumption->alone ? ""
					  : ", only after the tests before it",
			assumption->calls.n == 1 ? "that call" : "those calls",
			assumption->repeats, assumption->repeats);
	return str_appendf(
		str,
		INDENT "%zu of %zu paths through it fail, %.4g %% if all "
		       "choices are equally likely; %zu choice%s decide%s "
		       "by %s\n",
		assumption->failures, assumption->runs,
		assumption->probability * 100, assumption->critical.n,
		plural_ending(assumption->critical.n),
		assumption->critical.n == 1 ? "s" : "",
		assumption->critical.n == 1 ? "itself" : "themselves");
}

static struct err *append_critical(struct str *str,
				   const struct assumption *assumption)
{
	for (size_t i = 0; i < MIN(assumption->critical.n, (size_t)VERBOSE_MAX);
	     i++) {
		TRY(str_append(str, INDENT "decides: "));
		TRY(append_which(str, &assumption->critical.data[i]));
		TRY(str_append(str, ": "));
		TRY(words_append(str, assumption->critical.data[i].api));
		TRY(str_append(str, "\n"));
	}
	return NULL;
}

/* "then it fails at x.c:3: expected 1" */
static struct err *choices_append_failure(struct str *str,
					  const struct finding_failure *failure)
{
	_cleanup_(str_freep) struct str failed = STR_INIT;
	TRY(words_append_failure(&failed, failure->outcome, failure->file,
				 failure->line, failure->message));
	return str_appendf(str, INDENT "then it %s\n",
			   failed.n ? failed.s : words_verb(failure->outcome));
}

static struct err *choices_write_finding(const struct finding *finding,
					 const struct report_style *style,
					 FILE *out)
{
	const struct assumption *assumption = assumption_of(finding);
	_cleanup_(str_freep) struct str line = STR_INIT;
	_cleanup_(str_freep) struct str remarks = STR_INIT;
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(words_append(&line, finding_test(finding)));
	TRY(str_append(&line, " assumes more than "));
	TRY(assumption_append_apis(&line, assumption));
	TRY(str_append(&remarks, finding->known ? "known" : ""));
	kind_write_head(finding, &line, &remarks, style, out);
	if (style->quiet)
		return NULL;
	TRY(append_clauses(&text, assumption));
	TRY(append_calls(&text, assumption, INDENT, style->verbose));
	TRY(choices_append_failure(&text, &assumption->failure));
	TRY(append_runs(&text, assumption));
	if (style->verbose)
		TRY(append_critical(&text, assumption));
	fputs(text.s, out);
	TRY(kind_write_hint(finding, out));
	return kind_write_replay(finding, out);
}

/* "T assumes more than qsort promises" */
static struct err *choices_append_head(const struct finding *finding,
				       struct str *line)
{
	TRY(words_append(line, finding_test(finding)));
	TRY(str_append(line, " assumes more than "));
	return assumption_append_apis(line, assumption_of(finding));
}

/* The innermost place of the project: "called at x.c:12: it did this instead" */
static struct err *choices_append_about(const struct finding *finding,
					struct str *line)
{
	const struct assumption_call *call =
		&assumption_of(finding)->calls.data[0];
	TRY(str_append(line, "the call"));
	for (size_t i = 0; i < call->stack.n; i++) {
		const struct call_frame *frame = &call->stack.data[i];
		if (!frame->file ||
		    !strncmp(frame->file, "/usr/", strlen("/usr/")))
			continue;
		TRY(str_append(line, " at "));
		TRY(words_append_place(line, frame->file, frame->line));
		break;
	}
	TRY(str_append(line, " may do this, too: "));
	return words_append(line, *call->did ? call->did : call->clause);
}

static const struct finding_failure *
choices_failure(const struct finding *finding)
{
	return &assumption_of(finding)->failure;
}

/* ---- the whole search ---- */

static void choices_write_found(const struct report *report, FILE *out)
{
	size_t tests = 0, all = 0;
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct finding *finding = &report->findings[i];
		bool again = false;
		if (!assumption_of(finding))
			continue;
		all++;
		for (size_t j = 0; j < i && !again; j++)
			again = assumption_of(&report->findings[j]) &&
				report->findings[j].test == finding->test;
		tests += !again;
	}
	if (!all)
		fprintf(out, "no unsafe API assumption found%s\n",
			kind_this_time(report, &assumption_kind));
	else
		fprintf(out,
			"%zu test%s assume%s more than an API promises: %zu "
			"finding%s\n",
			tests, plural_ending(tests), tests == 1 ? "s" : "", all,
			plural_ending(all));
}

/* "choices: 12 runs at levels …, and 2 without; 1,234 test executions" */
static struct err *choices_append_tried(struct str *line,
					const struct choices_reach *choices)
{
	unsigned long long seed = choices->seed;
	if (choices->systematic) {
		TRY(str_appendf(
			line,
			"choices: paths through %zu test%s, and %zu run%s "
			"without choices; ",
			choices->spaces.n, plural_ending(choices->spaces.n),
			choices->baselines, plural_ending(choices->baselines)));
	} else {
		TRY(str_appendf(line, "choices: %zu run%s at level%s ",
				choices->runs, plural_ending(choices->runs),
				plural_ending(choices->n_levels)));
		TRY(words_append_texts(line,
				       assumption_levels + choices->first_level,
				       choices->n_levels, VERBOSE_MAX));
		TRY(str_appendf(line, " with seed%s %llu",
				plural_ending(choices->seeds), seed));
		if (choices->seeds > 1)
			TRY(str_appendf(line, " to %llu",
					seed + choices->seeds - 1));
		TRY(str_appendf(line, ", and %zu without; ",
				choices->baselines));
	}
	TRY(words_append_count(line, choices->executions));
	return str_appendf(line, " test execution%s\n",
			   plural_ending(choices->executions));
}

/* "models: 12 of 83 exercised: qsort, …; 1,234 of 2,345 calls varied" */
static struct err *
append_made(struct str *line, const struct choices_reach *choices, bool verbose)
{
	if (!choices->met.n)
		return str_appendf(line, "models: none of %zu exercised\n",
				   choices->models);
	TRY(str_appendf(line, "models: %zu of %zu exercised: ", choices->met.n,
			choices->models));
	TRY(words_append_texts(line, (const char *const *)choices->met.data,
			       choices->met.n,
			       choices_bound(verbose, MODELS_MAX)));
	if (choices->met.n < choices->models)
		TRY(str_append(line, "; the rest were not exercised"));
	if (choices->systematic) /* paths are counted instead */
		return str_append(line, "\n");
	TRY(str_append(line, "; "));
	TRY(words_append_count(line, choices->acted));
	TRY(str_append(line, " of "));
	TRY(words_append_count(line, choices->made));
	return str_appendf(line, " call%s varied\n",
			   plural_ending(choices->made));
}

/* "; 24 edges, 3 merge nodes, 2 critical states" */
static struct err *append_graph(struct str *line,
				const struct choices_space *space)
{
	const struct {
		uint64_t n;
		const char *what;
	} numbers[] = {
		{ space->edges, "edge" },
		{ space->merge_nodes, "merge node" },
		{ space->critical, "critical state" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		TRY(str_append(line, i ? ", " : "; "));
		TRY(words_append_count(line, numbers[i].n));
		TRY(str_appendf(line, " %s%s", numbers[i].what,
				plural_ending(numbers[i].n)));
	}
	return NULL;
}

/*
 * "all paths: T: 24 paths over 9 choices, 12 fail (50 %); 24 edges, 3 merge nodes,
 * 2 critical states; all paths were tried"
 */
static struct err *append_spaces(struct str *line, const struct roster *roster,
				 const struct choices_reach *choices,
				 bool verbose)
{
	size_t max = choices_bound(verbose, SPACES_MAX);
	size_t shown = MIN(choices->spaces.n, max);
	for (size_t i = 0; i < shown; i++) {
		const struct choices_space *space = &choices->spaces.data[i];
		TRY(str_append(line, "all paths: "));
		TRY(words_append(line, roster_name(roster, space->test)));
		TRY(str_append(line, ": "));
		if (space->leaves >= WAYS_MAX) /* not counted on */
			TRY(str_append(line, "more than "));
		TRY(words_append_count(line, space->leaves));
		TRY(str_appendf(line, " path%s over ",
				plural_ending(space->leaves)));
		TRY(words_append_count(line, space->nodes));
		TRY(str_appendf(line, " choice%s, ",
				plural_ending(space->nodes)));
		TRY(words_append_count(line, space->failing));
		TRY(str_appendf(line, " fail (%.4g %%)",
				space->probability * 100));
		TRY(append_graph(line, space));
		TRY(str_append(line, space->exhausted
					     ? "; all paths were tried\n"
					     : "; more paths exist "
					       "(--bound)\n"));
	}
	if (shown == choices->spaces.n)
		return NULL;
	return str_appendf(line, "all paths: … and %zu more tests\n",
			   choices->spaces.n - shown);
}

static struct err *choices_write_summary(const struct report *report,
					 const struct report_style *style,
					 FILE *out)
{
	const struct choices_reach *choices = report->choices;
	_cleanup_(str_freep) struct str text = STR_INIT;
	if (!choices)
		return NULL;
	if (!style->quiet)
		choices_write_found(report, out);
	if (!style->quiet) {
		TRY(choices_append_tried(&text, choices));
		TRY(append_made(&text, choices, style->verbose));
		TRY(append_spaces(&text, report->roster, choices,
				  style->verbose));
	}
	if (text.n)
		fputs(text.s, out);
	return NULL;
}

/* ---- JSON ---- */

static json_t *make_call(const struct assumption_call *call)
{
	bool in_main = assumption_call_in_main(call);
	char thread[24];
	/* No JSON reader keeps 64 bits of a number. */
	snprintf(thread, sizeof(thread), "%llx",
		 (unsigned long long)call->thread);
	json_t *object = json_pack(
		"{s:o, s:I, s:s, s:b, s:o, s:o, s:o, s:o}", "api",
		value_text(call->api), "index", (json_int_t)call->n + 1,
		"thread", in_main ? "main" : thread, "before_first_test",
		(int)assumption_call_early(call), "argument",
		value_text(call->argument), "did", value_text(call->did),
		"clause", value_text(call->clause), "stack",
		value_frames(call->stack.data, call->stack.n));
	if (object && call->test)
		json_object_set_new(object, "test", value_text(call->test));
	return object;
}

static json_t *make_calls(const struct assumption_calls *calls)
{
	json_t *list = json_array();
	for (size_t i = 0; i < calls->n; i++)
		value_append(&list, make_call(&calls->data[i]));
	return list;
}

static json_t *choices_make_fields(const struct finding *finding)
{
	const struct assumption *assumption = assumption_of(finding);
	const struct assumption_call *first = &assumption->calls.data[0];
	const struct finding_failure *failure = &assumption->failure;
	json_t *fields = json_pack(
		"{s:o, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:b, s:b, s:s, s:o, "
		"s:I}",
		"api", value_text(first->api), "level",
		assumption_levels[assumption->level], "runs",
		(json_int_t)assumption->runs, "failures",
		(json_int_t)assumption->failures, "failing_seed",
		(json_int_t)assumption->failing_seed, "call", make_call(first),
		"calls", make_calls(&assumption->calls), "clause",
		value_text(first->clause), "minimal", (int)assumption->minimal,
		"alone", (int)assumption->alone, "outcome",
		outcome_name(failure->outcome), "failure",
		value_failure(failure->file, failure->line, failure->message),
		"repeats", (json_int_t)assumption->repeats);
	if (!fields || !assumption->systematic)
		return fields;
	json_t *more =
		json_pack("{s:f, s:o}", "probability", assumption->probability,
			  "critical", make_calls(&assumption->critical));
	if (!more || json_object_update_new(fields, more)) {
		json_decref(fields);
		return NULL;
	}
	return fields;
}

static json_t *make_spaces(const struct report *report)
{
	json_t *list = json_array();
	for (size_t i = 0; i < report->choices->spaces.n; i++) {
		const struct choices_space *space =
			&report->choices->spaces.data[i];
		value_append(
			&list,
			json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
				  "s:f, s:b}",
				  "test",
				  value_test(report->roster, space->test),
				  "nodes", (json_int_t)space->nodes, "edges",
				  (json_int_t)space->edges, "merge_nodes",
				  (json_int_t)space->merge_nodes, "critical",
				  (json_int_t)space->critical, "leaves",
				  (json_int_t)space->leaves, "failing",
				  (json_int_t)space->failing, "merged",
				  (json_int_t)space->merged, "probability",
				  space->probability, "exhausted",
				  (int)space->exhausted));
	}
	return list;
}

static json_t *make_outcomes(const struct report *report)
{
	const struct choices_reach *reach = report->choices;
	json_t *list = json_array();
	for (size_t i = 0; i < reach->outcomes.n; i++) {
		const struct choices_run *run = &reach->outcomes.data[i];
		value_append(
			&list,
			json_pack("{s:s, s:I, s:o}", "level",
				  assumption_levels[run->level], "seed",
				  (json_int_t)run->seed, "failed",
				  value_tests(report->roster, run->failed.data,
					      run->failed.n)));
	}
	return list;
}

static struct err *choices_make_section(const struct report *report,
					json_t **ret)
{
	const struct choices_reach *reach = report->choices;
	if (!reach)
		return NULL;
	return value_made(
		json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I, "
			  "s:o, s:I, s:o, s:o}",
			  "levels",
			  value_texts(assumption_levels + reach->first_level,
				      reach->n_levels),
			  "seeds", (json_int_t)reach->seeds, "seed",
			  (json_int_t)reach->seed, "executions",
			  (json_int_t)reach->executions, "runs",
			  (json_int_t)reach->runs, "baselines",
			  (json_int_t)reach->baselines, "made",
			  (json_int_t)reach->made, "acted",
			  (json_int_t)reach->acted, "models",
			  value_texts((const char *const *)reach->met.data,
				      reach->met.n),
			  "models_all", (json_int_t)reach->models, "ended_by",
			  value_text(reach->why), "unexplained",
			  (json_int_t)reach->undebugged, "spaces",
			  make_spaces(report), "outcomes",
			  make_outcomes(report)),
		ret);
}

/* ---- JUnit ---- */

/* Which calls, from where: for readers in a browser. */
static struct err *choices_append_detail(const struct finding *finding,
					 struct str *str)
{
	const struct assumption *assumption = assumption_of(finding);
	if (assumption->failure.message) {
		TRY(str_append(str, assumption->failure.message));
		TRY(str_append(str, "\n"));
	}
	return append_calls(str, assumption, "", true);
}

const struct report_kind report_choices = {
	.kind = &assumption_kind,
	.help = "docs/choices.md",
	.title = "Test assumes more than an API promises",
	.about = "The test passes as things are today, and fails where an API "
		 "does something else that its specification allows, such as "
		 "another order of directory entries. Compare without regard "
		 "to what is left open, or ask for what the test needs.",
	.append_head = choices_append_head,
	.append_about = choices_append_about,
	.failure = choices_failure,
	.write_finding = choices_write_finding,
	.write_summary = choices_write_summary,
	.make_fields = choices_make_fields,
	.section = "choices",
	.make_section = choices_make_section,
	.append_detail = choices_append_detail,
};

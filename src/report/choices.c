#include "report/choices.h"

#include <string.h>

#include "report/object.h"
#include "report/width.h"
#include "report/words.h"

#define RESET "\033[0m"
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define INDENT "        "

/* What is shown of a finding, and with --verbose. */
#define CALLS_MAX 4
#define FRAMES_MAX 8
#define WAYS_MAX 1000000000000000000ULL /* as choices/systematic.c */
#define MODELS_MAX 12
#define SPACES_MAX 10
#define RANDOMS_MAX 10
#define VERBOSE_MAX 100

static size_t bound(bool all, size_t max)
{
	return all ? VERBOSE_MAX : max;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- one finding ---- */

/* "qsort", "qsort and read": each once, in the sequence of their calls. */
static struct err *append_apis(struct str *str,
			       const struct report_choice *choice)
{
	size_t all = MIN(choice->n_calls, (size_t)CALLS_MAX), shown = 0;
	if (!all)
		return words_append(str, choice->api);
	for (size_t i = 0; i < all; i++) {
		const char *api = choice->calls[i].api;
		bool known = false;
		for (size_t j = 0; j < i; j++)
			known |= !strcmp(choice->calls[j].api, api);
		if (known)
			continue;
		TRY(str_append(str, shown++ ? " and " : ""));
		TRY(words_append(str, api));
	}
	return shown > 1 ? str_append(str, " promise")
			 : str_append(str, " promises");
}

struct err *choices_append_message(struct str *str, const char *test,
				   const struct report_choice *choice)
{
	const char *did = choice->n_calls ? choice->calls[0].did : "";
	TRY(words_append(str, test));
	TRY(str_append(str, " assumes more than "));
	TRY(append_apis(str, choice));
	TRY(str_appendf(str, ": it %s when that does otherwise",
			words_verb(choice->outcome)));
	if (!*did)
		return NULL;
	TRY(str_append(str, " ("));
	TRY(words_append(str, did));
	return str_append(str, ")");
}

/* "call 3 of the test", "call 5 of another thread", "call 2 before the first test" */
static struct err *append_which(struct str *str, const struct report_call *call)
{
	return str_appendf(str, "call %llu %s%s",
			   (unsigned long long)call->index,
			   call->in_main  ? ""
			   : call->before ? "of another thread "
					  : "of another thread",
			   call->before	   ? "before the first test"
			   : call->in_main ? "of the test"
					   : "");
}

/* Behind the last place of the project come framework and runtime. */
static size_t to_project(const struct report_call *call)
{
	size_t last = 0;
	for (size_t i = 0; i < call->n_stack; i++) {
		const char *function = call->stack[i].function;
		const char *file = call->stack[i].file;
		bool is_main = function && !strcmp(function, "main");
		if (file && strncmp(file, "/usr/", strlen("/usr/")) != 0 &&
		    (!is_main || !last))
			last = i + 1;
		if (is_main)
			break;
	}
	return last ? last : call->n_stack;
}

static struct err *append_stack(struct str *str, const struct report_call *call,
				const char *indent, size_t max)
{
	size_t n = max < VERBOSE_MAX ? to_project(call) : call->n_stack;
	size_t shown = n <= max + 1 ? n : max;
	for (size_t i = 0; i < shown; i++) {
		const struct report_frame *frame = &call->stack[i];
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

static struct err *append_call(struct str *str, const struct report_call *call,
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
		TRY(str_appendf(str,
				"did number %llu of %llu things that it "
				"may do",
				(unsigned long long)call->pick + 1,
				(unsigned long long)call->alternatives));
	TRY(str_append(str, "\n"));
	return append_stack(str, call, indent, bound(all, FRAMES_MAX));
}

struct err *choices_append_calls(struct str *str,
				 const struct report_choice *choice,
				 const char *indent, bool all)
{
	size_t n = choice->n_calls, max = bound(all, CALLS_MAX);
	size_t shown = n <= max + 1 ? n : max;
	if (n > 1)
		TRY(str_appendf(str, "%s%zu calls together%s:\n", indent, n,
				choice->minimal
					? ", none of them can be left out"
					: ""));
	for (size_t i = 0; i < shown; i++)
		TRY(append_call(str, &choice->calls[i], indent, all));
	if (shown < n)
		TRY(str_appendf(str, "%s… and %zu more calls\n", indent,
				n - shown));
	if (!choice->minimal)
		TRY(str_appendf(str,
				"%sthe search ended early: fewer calls "
				"may do\n",
				indent));
	return NULL;
}

/* What leaves it open, of each API once. */
static struct err *append_clauses(struct str *str,
				  const struct report_choice *choice)
{
	size_t all = MIN(choice->n_calls, (size_t)CALLS_MAX);
	for (size_t i = 0; i < all; i++) {
		const struct report_call *call = &choice->calls[i];
		bool known = false;
		for (size_t j = 0; j < i; j++)
			known |= !strcmp(choice->calls[j].api, call->api);
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

/* "level one, seed 2: failed 2 of 3 runs; 3 of 3 times with that call alone …" */
static struct err *append_runs(struct str *str,
			       const struct report_choice *choice)
{
	if (!choice->systematic)
		return str_appendf(
			str,
			INDENT "level %s, seed %llu: failed in %zu of %zu "
			       "run%s%s; with %s and nothing else in %zu of "
			       "%zu, without choices in none\n",
			choice->level, (unsigned long long)choice->failing_seed,
			choice->failures, choice->runs, plural(choice->runs),
			choice->alone ? "" : ", only after the tests before it",
			choice->n_calls == 1 ? "that call" : "those calls",
			choice->repeats, choice->repeats);
	return str_appendf(str,
			   INDENT "%zu of %zu ways through it fail, %.4g %% if "
				  "each choice is as likely; %zu choice%s "
				  "decide%s by %s\n",
			   choice->failures, choice->runs,
			   choice->probability * 100, choice->n_critical,
			   plural(choice->n_critical),
			   choice->n_critical == 1 ? "s" : "",
			   choice->n_critical == 1 ? "itself" : "themselves");
}

static struct err *append_critical(struct str *str,
				   const struct report_choice *choice)
{
	for (size_t i = 0; i < MIN(choice->n_critical, (size_t)VERBOSE_MAX);
	     i++) {
		TRY(str_append(str, INDENT "decides: "));
		TRY(append_which(str, &choice->critical[i]));
		TRY(str_append(str, ": "));
		TRY(words_append(str, choice->critical[i].api));
		TRY(str_append(str, "\n"));
	}
	return NULL;
}

struct err *choices_write(const struct report_finding *finding,
			  const char *color, const struct report_style *style,
			  FILE *out)
{
	const struct report_choice *choice = finding->choice;
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(str_appendf(&text, "%s%-7s%s ", style->color ? color : "",
			finding->severity, style->color ? RESET : ""));
	TRY(words_append(&text, finding->test));
	TRY(str_append(&text, " assumes more than "));
	TRY(append_apis(&text, choice));
	if (finding->known)
		TRY(str_appendf(&text, " %s(known)%s", style->color ? DIM : "",
				style->color ? RESET : ""));
	TRY(str_append(&text, "\n"));
	if (style->quiet) {
		fputs(text.s, out);
		return NULL;
	}
	TRY(append_clauses(&text, choice));
	TRY(choices_append_calls(&text, choice, INDENT, style->verbose));
	_cleanup_(str_freep) struct str failure = STR_INIT;
	TRY(words_append_failure(&failure, choice->outcome, choice->file,
				 choice->line, choice->message));
	if (failure.n)
		TRY(str_appendf(&text, INDENT "then it %s\n", failure.s));
	else
		TRY(str_appendf(&text, INDENT "then it %s\n",
				words_verb(choice->outcome)));
	TRY(append_runs(&text, choice));
	if (style->verbose)
		TRY(append_critical(&text, choice));
	TRY(str_append(&text, INDENT "again: "));
	TRY(words_append(&text, finding->replay));
	TRY(str_append(&text, "\n"));
	fputs(text.s, out);
	return NULL;
}

/* ---- the whole search ---- */

static void write_found(const struct report *report, FILE *out)
{
	size_t tests = 0, all = 0;
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct report_finding *finding = &report->findings[i];
		bool again = false;
		if (!finding->choice)
			continue;
		all++;
		for (size_t j = 0; j < i && !again; j++)
			again = report->findings[j].choice &&
				!strcmp(report->findings[j].test,
					finding->test);
		tests += !again;
	}
	if (!all)
		fputs("no test was seen to assume more than an API promises\n",
		      out);
	else
		fprintf(out,
			"%zu test%s assume%s more than an API promises: %zu "
			"finding%s\n",
			tests, plural(tests), tests == 1 ? "s" : "", all,
			plural(all));
}

static struct err *append_names(struct str *line,
				const struct report_names *names, size_t max)
{
	size_t shown = names->n <= max + 1 ? names->n : max;
	for (size_t i = 0; i < shown; i++) {
		TRY(str_append(line, i ? ", " : ""));
		TRY(words_append(line, names->data[i]));
	}
	return shown < names->n
		       ? str_appendf(line, " and %zu more", names->n - shown)
		       : NULL;
}

/* "choices: 12 runs at levels …, and 2 without; 1,234 test executions" */
static struct err *append_tried(struct str *line,
				const struct report_choices *choices)
{
	unsigned long long seed = choices->seed;
	if (choices->systematic) {
		TRY(str_appendf(line,
				"choices: ways through %zu test%s, and %zu "
				"run%s without choices; ",
				choices->n_spaces, plural(choices->n_spaces),
				choices->baselines,
				plural(choices->baselines)));
	} else {
		TRY(str_appendf(line, "choices: %zu run%s at level%s ",
				choices->runs, plural(choices->runs),
				plural(choices->levels.n)));
		TRY(append_names(line, &choices->levels, VERBOSE_MAX));
		TRY(str_appendf(line, " with seed%s %llu",
				plural(choices->seeds), seed));
		if (choices->seeds > 1)
			TRY(str_appendf(line, " to %llu",
					seed + choices->seeds - 1));
		TRY(str_appendf(line, ", and %zu without; ",
				choices->baselines));
	}
	TRY(words_append_count(line, choices->executions));
	return str_appendf(line, " test execution%s\n",
			   plural(choices->executions));
}

/* "models: 12 of 83 met: qsort, …; 1,234 choices made, …" */
static struct err *append_made(struct str *line,
			       const struct report_choices *choices,
			       bool verbose)
{
	TRY(str_appendf(line, "models: %zu of %zu met", choices->met.n,
			choices->models));
	if (choices->met.n) {
		TRY(str_append(line, ": "));
		TRY(append_names(line, &choices->met,
				 bound(verbose, MODELS_MAX)));
	}
	if (choices->met.n < choices->models)
		TRY(str_append(line, "; of the others nothing is known"));
	if (choices->systematic) /* ways are counted instead */
		return str_append(line, "\n");
	TRY(str_append(line, "; "));
	TRY(words_append_count(line, choices->made));
	TRY(str_appendf(line, " choice%s made, ", plural(choices->made)));
	TRY(words_append_count(line, choices->acted));
	return str_append(line, " of them otherwise than today\n");
}

/* "every way: T: 24 ways in 9 nodes, 12 of them fail (50 %): all there are" */
static struct err *append_spaces(struct str *line,
				 const struct report_choices *choices,
				 bool verbose)
{
	size_t max = bound(verbose, SPACES_MAX);
	size_t shown = MIN(choices->n_spaces, max);
	for (size_t i = 0; i < shown; i++) {
		const struct report_space *space = &choices->spaces[i];
		TRY(str_append(line, "every way: "));
		TRY(words_append(line, space->test));
		TRY(str_append(line, ": "));
		if (space->leaves >= WAYS_MAX) /* not counted on */
			TRY(str_append(line, "more than "));
		TRY(words_append_count(line, space->leaves));
		TRY(str_appendf(line, " way%s over ", plural(space->leaves)));
		TRY(words_append_count(line, space->nodes));
		TRY(str_appendf(line, " choice%s, ", plural(space->nodes)));
		TRY(words_append_count(line, space->failing));
		TRY(str_appendf(line, " fail (%.4g %%)",
				space->probability * 100));
		if (space->merged) {
			TRY(str_append(line, "; "));
			TRY(words_append_count(line, space->merged));
			TRY(str_append(line, " states met again"));
		}
		TRY(str_append(line, space->exhausted
					     ? "; there are no others\n"
					     : "; there are more (--bound)\n"));
	}
	if (shown == choices->n_spaces)
		return NULL;
	return str_appendf(line, "every way: … and %zu more tests\n",
			   choices->n_spaces - shown);
}

struct err *choices_write_summary(const struct report *report,
				  const struct report_style *style, FILE *out)
{
	const struct report_choices *choices = report->choices;
	_cleanup_(str_freep) struct str text = STR_INIT;
	if (!style->quiet)
		write_found(report, out);
	TRY(words_append_randoms(
		&text, "fails now and then, also with the same choices",
		choices->randoms, choices->n_randoms,
		bound(style->verbose, RANDOMS_MAX)));
	if (text.n)
		TRY(str_append(&text, "\n"));
	if (!style->quiet) {
		TRY(append_tried(&text, choices));
		TRY(append_made(&text, choices, style->verbose));
		TRY(append_spaces(&text, choices, style->verbose));
	}
	if (text.n)
		fputs(text.s, out);
	return NULL;
}

/* ---- the table of models ---- */

struct err *choices_write_models(const struct report *report,
				 const struct report_style *style, FILE *out)
{
	size_t columns = 0, optional = 0;
	for (size_t i = 0; i < report->n_models; i++) {
		columns = MAX(columns, width_of(report->models[i].api));
		optional += report->models[i].optional;
	}
	for (size_t i = 0; i < report->n_models; i++) {
		const struct report_model *model = &report->models[i];
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(words_append(&line, model->api));
		if (style->quiet) {
			fprintf(out, "%s\n", line.s);
			continue;
		}
		int pad = (int)(columns - MIN(width_of(line.s), columns));
		_cleanup_(str_freep) struct str clause = STR_INIT;
		TRY(words_append(&clause, model->clause));
		fprintf(out, "%s%s%s%*s  %-11s  %-4s  %s%s\n",
			style->color ? BOLD : "", line.s,
			style->color ? RESET : "", pad, "", model->kind,
			model->level, model->optional ? "(optional) " : "",
			clause.s);
		if (style->verbose && *model->never) {
			_cleanup_(str_freep) struct str never = STR_INIT;
			TRY(words_append(&never, model->never));
			fprintf(out, "%*s  never: %s\n", (int)columns, "",
				never.s);
		}
	}
	if (!style->quiet)
		fprintf(out,
			"\n%zu model%s, %zu of them only where --api "
			"names them\n",
			report->n_models, plural(report->n_models), optional);
	return NULL;
}

/* ---- JSON ---- */

static struct err *call_json(const struct report_call *call, json_t **ret)
{
	_cleanup_(object_freep) json_t *object = json_object();
	json_t *stack = NULL;
	char thread[24];
	if (!object)
		return err_nomem();
	TRY(object_set_string(object, "api", call->api));
	TRY(object_set_count(object, "index", call->index));
	/* No JSON reader keeps 64 bits of a number. */
	snprintf(thread, sizeof(thread), "%llx",
		 (unsigned long long)call->thread);
	TRY(object_set_string(object, "thread",
			      call->in_main ? "main" : thread));
	TRY(object_set(object, "before_first_test",
		       json_boolean(call->before)));
	TRY(object_set_string(object, "argument", call->argument));
	TRY(object_set_string(object, "did", call->did));
	TRY(object_set_string(object, "clause", call->clause));
	TRY(object_frames(call->stack, call->n_stack, &stack));
	TRY(object_set(object, "stack", stack));
	*ret = take_ptr(object);
	return NULL;
}

static struct err *set_calls(json_t *object, const char *key,
			     const struct report_call *calls, size_t n)
{
	json_t *list = json_array();
	TRY(object_set(object, key, list));
	for (size_t i = 0; i < n; i++) {
		json_t *call = NULL;
		TRY(call_json(&calls[i], &call));
		TRY(object_append(list, call));
	}
	return NULL;
}

struct err *choices_finding_json(const struct report_choice *choice,
				 json_t *object)
{
	static const struct report_call none = { .argument = "", .did = "" };
	const struct report_call *first =
		choice->n_calls ? &choice->calls[0] : &none;
	json_t *call = NULL;
	TRY(object_set_string(object, "api", choice->api));
	TRY(object_set_string(object, "level", choice->level));
	TRY(object_set_count(object, "runs", choice->runs));
	TRY(object_set_count(object, "failures", choice->failures));
	TRY(object_set_count(object, "failing_seed", choice->failing_seed));
	TRY(call_json(first, &call));
	TRY(object_set(object, "call", call));
	TRY(set_calls(object, "calls", choice->calls, choice->n_calls));
	TRY(object_set_string(object, "clause", first->clause));
	TRY(object_set(object, "minimal", json_boolean(choice->minimal)));
	TRY(object_set(object, "alone", json_boolean(choice->alone)));
	TRY(object_set(object, "outcome",
		       json_string(outcome_name(choice->outcome))));
	json_t *failure = json_object();
	TRY(object_set(object, "failure", failure));
	TRY(object_set_place(failure, choice->file, choice->line));
	TRY(object_set_string(failure, "message", choice->message));
	TRY(object_set_count(object, "repeats", choice->repeats));
	if (!choice->systematic)
		return NULL;
	TRY(object_set(object, "probability", json_real(choice->probability)));
	return set_calls(object, "critical", choice->critical,
			 choice->n_critical);
}

static struct err *set_names(json_t *object, const char *key,
			     const struct report_names *names)
{
	json_t *list = json_array();
	TRY(object_set(object, key, list));
	for (size_t i = 0; i < names->n; i++) {
		json_t *name = NULL;
		TRY(object_text(names->data[i], &name));
		TRY(object_append(list, name));
	}
	return NULL;
}

static struct err *set_spaces(json_t *object,
			      const struct report_choices *choices)
{
	json_t *list = json_array();
	TRY(object_set(object, "spaces", list));
	for (size_t i = 0; i < choices->n_spaces; i++) {
		const struct report_space *space = &choices->spaces[i];
		json_t *entry = json_object();
		TRY(object_append(list, entry));
		TRY(object_set_string(entry, "test", space->test));
		TRY(object_set_count(entry, "nodes", space->nodes));
		TRY(object_set_count(entry, "leaves", space->leaves));
		TRY(object_set_count(entry, "failing", space->failing));
		TRY(object_set_count(entry, "merged", space->merged));
		TRY(object_set(entry, "probability",
			       json_real(space->probability)));
		TRY(object_set(entry, "exhausted",
			       json_boolean(space->exhausted)));
	}
	return NULL;
}

struct err *choices_json(const struct report_choices *choices, json_t **ret)
{
	_cleanup_(object_freep) json_t *object = json_object();
	if (!object)
		return err_nomem();
	TRY(set_names(object, "levels", &choices->levels));
	TRY(object_set_count(object, "seeds", choices->seeds));
	TRY(object_set_count(object, "seed", choices->seed));
	TRY(object_set_count(object, "executions", choices->executions));
	TRY(object_set_count(object, "runs", choices->runs));
	TRY(object_set_count(object, "baselines", choices->baselines));
	TRY(object_set_count(object, "made", choices->made));
	TRY(object_set_count(object, "acted", choices->acted));
	TRY(set_names(object, "models", &choices->met));
	TRY(object_set_count(object, "models_all", choices->models));
	TRY(object_set_string(object, "ended_by", choices->why));
	TRY(object_set_count(object, "unexplained", choices->undebugged));
	TRY(set_spaces(object, choices));
	json_t *random = json_array();
	TRY(object_set(object, "random", random));
	for (size_t i = 0; i < choices->n_randoms; i++) {
		const struct report_random *record = &choices->randoms[i];
		json_t *entry = json_object();
		TRY(object_append(random, entry));
		TRY(object_set_string(entry, "test", record->test));
		TRY(object_set_count(entry, "runs", record->runs));
		TRY(object_set_count(entry, "failures", record->failures));
	}
	*ret = take_ptr(object);
	return NULL;
}

struct err *choices_model_json(const struct report_model *model, json_t **ret)
{
	_cleanup_(object_freep) json_t *object = json_object();
	if (!object)
		return err_nomem();
	TRY(object_set_string(object, "api", model->api));
	TRY(object_set_string(object, "kind", model->kind));
	TRY(object_set_string(object, "level", model->level));
	TRY(object_set(object, "optional", json_boolean(model->optional)));
	TRY(object_set_string(object, "clause", model->clause));
	TRY(object_set_string(object, "never", model->never));
	*ret = take_ptr(object);
	return NULL;
}

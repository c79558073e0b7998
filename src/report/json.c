/* The findings format of the contract: one object a run, one test a line. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "report/choices.h"
#include "report/object.h"
#include "report/report.h"

static struct err *failure_json(const struct report_test *test, json_t **ret)
{
	_cleanup_(object_freep) json_t *failure = json_object();
	if (!failure)
		return err_nomem();
	TRY(object_set_place(failure, test->failure_file, test->failure_line));
	TRY(object_set_text(failure, "message", test->message,
			    test->message ? strlen(test->message) : 0));
	*ret = take_ptr(failure);
	return NULL;
}

static struct err *test_json(const struct report_test *test, bool verbose,
			     json_t **ret)
{
	_cleanup_(object_freep) json_t *object = json_object();
	if (!object)
		return err_nomem();
	TRY(object_set_text(object, "name", test->name, strlen(test->name)));
	TRY(object_set_place(object, test->file, test->line));
	if (test->outcome != OUTCOME_NONE) {
		/* Whole microseconds: what is below is noise. */
		double seconds = round((double)test->ns / 1e3) / 1e6;
		TRY(object_set(object, "outcome",
			       json_string(outcome_name(test->outcome))));
		TRY(object_set(object, "seconds", json_real(seconds)));
	}
	if (test->disabled)
		TRY(object_set(object, "disabled", json_true()));
	bool skipped = test->outcome == OUTCOME_SKIP;
	if (test->outcome != OUTCOME_NONE && test->outcome != OUTCOME_PASS &&
	    (!skipped || test->message || test->failure_file)) {
		json_t *failure = NULL;
		TRY(failure_json(test, &failure));
		TRY(object_set(object, "failure", failure));
	}
	if (verbose && test->outcome != OUTCOME_NONE) {
		TRY(object_set_text(object, "output",
				    test->output ? test->output : "",
				    test->output ? test->output_n : 0));
		if (test->output_dropped)
			TRY(object_set(
				object, "output_dropped",
				json_integer(
					(json_int_t)test->output_dropped)));
	}
	*ret = take_ptr(object);
	return NULL;
}

static struct err *dump(const json_t *json, FILE *out)
{
	const size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(12);
	/* A full disk is seen by whoever closes @out; memory is ours. */
	if (json_dumpf(json, out, flags) && !ferror(out))
		return err_create(ERR_INTERNAL, "cannot write JSON");
	return NULL;
}

static struct err *write_head(const struct report *report, FILE *out)
{
	_cleanup_(object_freep) json_t *suite = json_object();
	_cleanup_(object_freep) json_t *version = json_string(report->version);
	json_t *command = json_array();
	if (!suite || !version)
		return err_nomem();
	TRY(object_set(suite, "command", command));
	for (size_t i = 0; report->command[i]; i++) {
		json_t *word = NULL;
		TRY(object_text(report->command[i], &word));
		TRY(object_append(command, word));
	}
	TRY(object_set(suite, "framework", json_string(report->framework)));
	TRY(object_set(suite, "tests",
		       json_integer((json_int_t)report->suite_tests)));

	fputs("{\n  \"schema\": 1,\n  \"polygraph\": ", out);
	TRY(dump(version, out));
	fputs(",\n  \"suite\": ", out);
	TRY(dump(suite, out));
	if (report->seed)
		fprintf(out, ",\n  \"seed\": %llu",
			(unsigned long long)*report->seed);
	return NULL;
}

static struct err *paths_json(const struct report_finding *finding,
			      json_t **ret)
{
	_cleanup_(object_freep) json_t *paths = json_array();
	if (!paths)
		return err_nomem();
	for (size_t i = 0; i < finding->n_paths; i++) {
		const struct report_path *path = &finding->paths[i];
		json_t *object = json_object();
		TRY(object_append(paths, object));
		TRY(object_set_string(object, "path", path->path));
		TRY(object_set_string(object, "before", path->before));
		TRY(object_set_string(object, "after", path->after));
	}
	*ret = take_ptr(paths);
	return NULL;
}

static struct err *pollution_json(const struct report_finding *finding,
				  json_t *object)
{
	const struct report_path *first = &finding->paths[0];
	TRY(object_set_string(object, "where", finding->where));
	TRY(object_set_string(object, "root", finding->root));
	TRY(object_set_string(object, "path", first->path));
	TRY(object_set_string(object, "before", first->before));
	TRY(object_set_string(object, "after", first->after));
	json_t *declared = json_object();
	TRY(object_set(object, "declared", declared));
	TRY(object_set_place(declared, finding->file, finding->line));
	TRY(object_set_string(object, "effect", finding->effect));
	json_t *readers = json_array();
	TRY(object_set(object, "readers", readers));
	for (size_t i = 0; i < finding->n_readers; i++) {
		json_t *name = NULL;
		TRY(object_text(finding->readers[i], &name));
		TRY(object_append(readers, name));
	}
	json_t *paths = NULL, *stack = NULL;
	TRY(paths_json(finding, &paths));
	TRY(object_set(object, "paths", paths));
	TRY(object_set(object, "more_paths",
		       json_integer((json_int_t)finding->more_paths)));
	for (size_t i = 0; i < finding->n_paths && !first->n_stack; i++)
		first = &finding->paths[i];
	TRY(object_frames(first->stack, first->n_stack, &stack));
	return object_set(object, "allocated", stack);
}

static struct err *names_json(const struct report_names *names, json_t **ret)
{
	_cleanup_(object_freep) json_t *array = json_array();
	if (!array)
		return err_nomem();
	for (size_t i = 0; i < names->n; i++) {
		json_t *name = NULL;
		TRY(object_text(names->data[i], &name));
		TRY(object_append(array, name));
	}
	*ret = take_ptr(array);
	return NULL;
}

static struct err *set_names(json_t *object, const char *key,
			     const struct report_names *names)
{
	json_t *array = NULL;
	TRY(names_json(names, &array));
	return object_set(object, key, array);
}

static struct err *lists_json(const struct report_lists *lists, json_t **ret)
{
	_cleanup_(object_freep) json_t *array = json_array();
	if (!array)
		return err_nomem();
	for (size_t i = 0; i < lists->n; i++) {
		json_t *names = NULL;
		TRY(names_json(&lists->data[i], &names));
		TRY(object_append(array, names));
	}
	*ret = take_ptr(array);
	return NULL;
}

static struct err *set_lists(json_t *object, const char *key,
			     const struct report_lists *lists)
{
	json_t *array = NULL;
	TRY(lists_json(lists, &array));
	return object_set(object, key, array);
}

static struct err *set_cleaned(json_t *object, const struct report_order *order)
{
	json_t *array = json_array();
	TRY(object_set(object, "cleaners_by_polluter", array));
	for (size_t i = 0; i < order->n_cleaned; i++) {
		json_t *lists = NULL;
		TRY(lists_json(&order->cleaned[i], &lists));
		TRY(object_append(array, lists));
	}
	return NULL;
}

static struct err *order_json(const struct report_order *order, json_t *object)
{
	TRY(object_set_string(object, "class", order->class));
	TRY(set_lists(object, "polluters", &order->polluters));
	TRY(set_lists(object, "setters", &order->setters));
	TRY(set_lists(object, "cleaners", &order->cleaners));
	TRY(set_names(object, "passing_order", &order->passing));
	TRY(set_names(object, "failing_order", &order->failing));
	TRY(set_names(object, "polluted", &order->polluted));
	TRY(object_set(object, "outcome",
		       json_string(outcome_name(order->outcome))));
	json_t *failure = json_object();
	TRY(object_set(object, "failure", failure));
	TRY(object_set_place(failure, order->file, order->line));
	TRY(object_set_string(failure, "message", order->message));
	TRY(object_set(object, "repeats",
		       json_integer((json_int_t)order->repeats)));
	TRY(object_set(object, "natural", json_boolean(order->natural)));
	TRY(object_set(object, "polluters_complete",
		       json_boolean(!order->polluters.partial)));
	TRY(object_set(object, "setters_complete",
		       json_boolean(!order->setters.partial)));
	TRY(object_set(object, "cleaners_complete",
		       json_boolean(!order->cleaners.partial)));
	TRY(set_cleaned(object, order));
	TRY(object_set(object, "polluted_known",
		       json_boolean(order->roots_known)));
	TRY(object_set(object, "polluted_together",
		       json_boolean(order->polluted_together)));
	if (!order->left.test)
		return object_set(object, "left", json_null());
	json_t *left = json_object();
	TRY(object_set(object, "left", left));
	TRY(object_set_string(left, "test", order->left.test));
	TRY(object_set_string(left, "path", order->left.path));
	TRY(object_set_string(left, "before", order->left.before));
	return object_set_string(left, "after", order->left.after);
}

static struct err *finding_json(const struct report_finding *finding,
				json_t **ret)
{
	_cleanup_(object_freep) json_t *object = json_object();
	if (!object)
		return err_nomem();
	TRY(object_set_string(object, "id", finding->id));
	TRY(object_set_string(object, "kind", finding->kind));
	TRY(object_set_string(object, "test", finding->test));
	TRY(object_set_string(object, "severity", finding->severity));
	TRY(object_set_string(object, "message", finding->message));
	TRY(object_set(object, "known", json_boolean(finding->known)));
	TRY(object_set_string(object, "replay", finding->replay));
	if (finding->n_paths)
		TRY(pollution_json(finding, object));
	if (finding->order)
		TRY(order_json(finding->order, object));
	if (finding->choice)
		TRY(choices_finding_json(finding->choice, object));
	*ret = take_ptr(object);
	return NULL;
}

struct err *report_finding_text(const struct report_finding *finding,
				char **ret)
{
	_cleanup_(object_freep) json_t *object = NULL;
	TRY(finding_json(finding, &object));
	char *text = json_dumps(object, JSON_REAL_PRECISION(12));
	if (!text)
		return err_create(ERR_INTERNAL, "cannot write JSON");
	*ret = text;
	return NULL;
}

static struct err *write_findings(const struct report *report, FILE *out)
{
	fputs("  \"findings\": [", out);
	for (size_t i = 0; i < report->n_findings; i++) {
		_cleanup_(object_freep) json_t *finding = NULL;
		TRY(finding_json(&report->findings[i], &finding));
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(dump(finding, out));
	}
	fputs(report->n_findings ? "\n  ],\n" : "],\n", out);
	if (strcmp(report->kind, "pollution") != 0 &&
	    strcmp(report->kind, "check") != 0)
		return NULL;
	fputs("  \"first_initialised\": [", out);
	for (size_t i = 0; i < report->n_firsts; i++) {
		_cleanup_(object_freep) json_t *first = json_object();
		if (!first)
			return err_nomem();
		TRY(object_set_string(first, "test", report->firsts[i].test));
		TRY(object_set_string(first, "root", report->firsts[i].root));
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(dump(first, out));
	}
	fputs(report->n_firsts ? "\n  ],\n" : "],\n", out);
	return NULL;
}

static struct err *reach_json(const struct report_reach *reach, json_t **ret)
{
	_cleanup_(object_freep) json_t *object = json_object();
	if (!object)
		return err_nomem();
	TRY(object_set(
		object, "strategy",
		json_string(reach->systematic ? "systematic" : "random")));
	TRY(object_set_count(object, "executions", reach->executions));
	TRY(object_set_count(object, "until_last", reach->until_last));
	TRY(object_set_count(object, "known", reach->known));
	json_t *pairs = json_object();
	TRY(object_set(object, "pairs", pairs));
	TRY(object_set_count(pairs, "all", reach->pairs));
	TRY(object_set_count(pairs, "tried", reach->pairs_tried));
	TRY(object_set_count(pairs, "by_state", reach->pairs_by_state));
	TRY(object_set_count(object, "orders", reach->orders));
	TRY(object_set_count(object, "rows", reach->rows));
	TRY(object_set_count(object, "rows_all", reach->rows_all));
	TRY(object_set(object, "alone", json_boolean(reach->alone)));
	TRY(object_set(object, "twice", json_boolean(reach->twice)));
	TRY(object_set(object, "reversed", json_boolean(reach->reversed)));
	TRY(object_set_string(object, "ended_by", reach->why));
	json_t *random = json_array();
	TRY(object_set(object, "random", random));
	for (size_t i = 0; i < reach->n_randoms; i++) {
		const struct report_random *record = &reach->randoms[i];
		json_t *entry = json_object();
		TRY(object_append(random, entry));
		TRY(object_set_string(entry, "test", record->test));
		TRY(object_set_count(entry, "runs", record->runs));
		TRY(object_set_count(entry, "failures", record->failures));
	}
	*ret = take_ptr(object);
	return NULL;
}

static struct err *write_reach(const struct report *report, FILE *out)
{
	_cleanup_(object_freep) json_t *reach = NULL;
	if (!report->reach)
		return NULL;
	TRY(reach_json(report->reach, &reach));
	fputs("  \"order\": ", out);
	TRY(dump(reach, out));
	fputs(",\n", out);
	return NULL;
}

static struct err *write_choices(const struct report *report, FILE *out)
{
	_cleanup_(object_freep) json_t *choices = NULL;
	if (!report->choices)
		return NULL;
	TRY(choices_json(report->choices, &choices));
	fputs("  \"choices\": ", out);
	TRY(dump(choices, out));
	fputs(",\n", out);
	return NULL;
}

static struct err *write_models(const struct report *report, FILE *out)
{
	_cleanup_(object_freep) json_t *version = json_string(report->version);
	if (!version)
		return err_nomem();
	fputs("{\n  \"schema\": 1,\n  \"polygraph\": ", out);
	TRY(dump(version, out));
	fputs(",\n  \"models\": [", out);
	for (size_t i = 0; i < report->n_models; i++) {
		_cleanup_(object_freep) json_t *model = NULL;
		TRY(choices_model_json(&report->models[i], &model));
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(dump(model, out));
	}
	fputs(report->n_models ? "\n  ]\n}\n" : "]\n}\n", out);
	return NULL;
}

static struct err *json_write(const struct report *report,
			      const struct report_style *style, FILE *out)
{
	if (!strcmp(report->kind, "models"))
		return write_models(report, out);
	TRY(write_head(report, out));
	fputs(",\n  \"tests\": [", out);
	for (size_t i = 0; i < report->n; i++) {
		_cleanup_(object_freep) json_t *test = NULL;
		TRY(test_json(&report->tests[i], style->verbose, &test));
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(dump(test, out));
	}
	fputs(report->n ? "\n  ],\n" : "],\n", out);
	TRY(write_findings(report, out));
	TRY(write_reach(report, out));
	TRY(write_choices(report, out));
	fputs("  \"limits\": [", out);
	for (size_t i = 0; i < report->n_limits; i++) {
		_cleanup_(object_freep) json_t *limit = NULL;
		TRY(object_text(report->limits[i], &limit));
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(dump(limit, out));
	}
	fputs(report->n_limits ? "\n  ]\n}\n" : "]\n}\n", out);
	return NULL;
}

const struct report_format report_json = {
	.name = "json",
	.lists = true,
	.write = json_write,
};

/* The findings format of the contract: one object a run, one test a line. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "report/report.h"

static void json_freep(json_t **json)
{
	json_decref(*json);
}

static void free_textp(char **text)
{
	free(*text);
}

static struct err *set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) ? err_nomem() : NULL;
}

/* Bytes that are not UTF-8 become \xNN; NULL becomes null. */
static struct err *set_text(json_t *object, const char *key, const char *text,
			    size_t n)
{
	if (!text)
		return set(object, key, json_null());
	_cleanup_(str_freep) struct str clean = STR_INIT;
	TRY(str_append_utf8(&clean, text, n));
	return set(object, key, json_stringn_nocheck(clean.s, clean.n));
}

static struct err *set_place(json_t *object, const char *file, unsigned line)
{
	_cleanup_(free_textp) char *shown = NULL;
	if (file)
		TRY(path_display(NULL, file, &shown));
	TRY(set_text(object, "file", shown, shown ? strlen(shown) : 0));
	return set(object, "line",
		   file && line ? json_integer(line) : json_null());
}

static struct err *failure_json(const struct report_test *test, json_t **ret)
{
	_cleanup_(json_freep) json_t *failure = json_object();
	if (!failure)
		return err_nomem();
	TRY(set_place(failure, test->failure_file, test->failure_line));
	TRY(set_text(failure, "message", test->message,
		     test->message ? strlen(test->message) : 0));
	*ret = take_ptr(failure);
	return NULL;
}

static struct err *test_json(const struct report_test *test, bool verbose,
			     json_t **ret)
{
	_cleanup_(json_freep) json_t *object = json_object();
	if (!object)
		return err_nomem();
	TRY(set_text(object, "name", test->name, strlen(test->name)));
	TRY(set_place(object, test->file, test->line));
	if (test->outcome != OUTCOME_NONE) {
		/* Whole microseconds: what is below is noise. */
		double seconds = round((double)test->ns / 1e3) / 1e6;
		TRY(set(object, "outcome",
			json_string(outcome_name(test->outcome))));
		TRY(set(object, "seconds", json_real(seconds)));
	}
	if (test->disabled)
		TRY(set(object, "disabled", json_true()));
	bool skipped = test->outcome == OUTCOME_SKIP;
	if (test->outcome != OUTCOME_NONE && test->outcome != OUTCOME_PASS &&
	    (!skipped || test->message || test->failure_file)) {
		json_t *failure = NULL;
		TRY(failure_json(test, &failure));
		TRY(set(object, "failure", failure));
	}
	if (verbose && test->outcome != OUTCOME_NONE) {
		TRY(set_text(object, "output", test->output ? test->output : "",
			     test->output ? test->output_n : 0));
		if (test->output_dropped)
			TRY(set(object, "output_dropped",
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

static struct err *text_json(const char *text, json_t **ret)
{
	_cleanup_(str_freep) struct str clean = STR_INIT;
	TRY(str_append_utf8(&clean, text, strlen(text)));
	*ret = json_stringn_nocheck(clean.s, clean.n);
	return *ret ? NULL : err_nomem();
}

static struct err *write_head(const struct report *report, FILE *out)
{
	_cleanup_(json_freep) json_t *suite = json_object();
	_cleanup_(json_freep) json_t *version = json_string(report->version);
	json_t *command = json_array();
	if (!suite || !version)
		return err_nomem();
	TRY(set(suite, "command", command));
	for (size_t i = 0; report->command[i]; i++) {
		json_t *word = NULL;
		TRY(text_json(report->command[i], &word));
		if (json_array_append_new(command, word))
			return err_nomem();
	}
	TRY(set(suite, "framework", json_string(report->framework)));
	TRY(set(suite, "tests", json_integer((json_int_t)report->suite_tests)));

	fputs("{\n  \"schema\": 1,\n  \"polygraph\": ", out);
	TRY(dump(version, out));
	fputs(",\n  \"suite\": ", out);
	TRY(dump(suite, out));
	if (report->seed)
		fprintf(out, ",\n  \"seed\": %llu",
			(unsigned long long)*report->seed);
	return NULL;
}

static struct err *json_write(const struct report *report,
			      const struct report_style *style, FILE *out)
{
	TRY(write_head(report, out));
	fputs(",\n  \"tests\": [", out);
	for (size_t i = 0; i < report->n; i++) {
		_cleanup_(json_freep) json_t *test = NULL;
		TRY(test_json(&report->tests[i], style->verbose, &test));
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(dump(test, out));
	}
	fputs(report->n ? "\n  ],\n" : "],\n", out);
	fputs("  \"findings\": [],\n  \"limits\": [", out);
	for (size_t i = 0; i < report->n_limits; i++) {
		_cleanup_(json_freep) json_t *limit = NULL;
		TRY(text_json(report->limits[i], &limit));
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

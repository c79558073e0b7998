/*
 * The findings format of the contract: one object per run, one test per line.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/str.h"
#include "report/kind.h"
#include "report/left_out.h"
#include "report/models.h"
#include "report/value.h"
#include "report/verdict.h"

static struct err *make_test(const struct report_test *test, bool verbose,
			     json_t **ret)
{
	enum outcome outcome = test->outcome;
	bool ran = outcome != OUTCOME_NONE;
	bool failed = ran && outcome != OUTCOME_PASS &&
		      (outcome != OUTCOME_SKIP || test->message ||
		       test->failure_file);
	/* Of tests that fail, it is part of why they do. */
	bool bad = failed && outcome != OUTCOME_SKIP;
	bool shown = ran && (verbose || (bad && test->output));
	/* Whole microseconds: what is below is noise. */
	double seconds = round((double)test->ns / 1e3) / 1e6;
	json_t *const none = NULL;
	char digest[17];
	snprintf(digest, sizeof(digest), "%016llx",
		 (unsigned long long)test->digest);
	/* With '*', what is NULL is left out. */
	return value_made(
		json_pack(
			"{s:o, s:o, s:o, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, "
			"s:o*, s:o*}",
			"name", value_text(test->name), "file",
			value_file(test->file), "line",
			value_line(test->file, test->line), "digest",
			test->digest ? json_string(digest) : none, "outcome",
			ran ? json_string(outcome_name(outcome)) : none,
			"seconds", ran ? json_real(seconds) : none, "disabled",
			test->disabled ? json_true() : none, "known",
			test->known ? json_true() : none, "failure",
			failed ? value_failure(test->failure_file,
					       test->failure_line,
					       test->message)
			       : none,
			"output",
			shown ? value_text_n(test->output ? test->output : "",
					     test->output ? test->output_n : 0)
			      : none,
			"output_dropped",
			shown && test->output_dropped
				? json_integer((json_int_t)test->output_dropped)
				: none),
		ret);
}

static struct err *json_write_value(const json_t *json, FILE *out)
{
	return json_write_to(json, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12),
			     out);
}

static struct err *json_write_head(const struct report *report, FILE *out)
{
	_cleanup_(value_freep) json_t *suite = NULL;
	_cleanup_(value_freep) json_t *version = json_string(report->version);
	size_t words = 0;
	if (!version)
		return err_nomem();
	while (report->command[words])
		words++;
	TRY(value_made(json_pack("{s:o, s:o, s:s, s:I}", "command",
				 value_texts(report->command, words),
				 "arguments",
				 value_texts(report->command + (words > 0),
					     words - (words > 0)),
				 "framework", report->framework, "tests",
				 (json_int_t)report->suite_tests),
		       &suite));

	fputs("{\n  \"schema\": 1,\n  \"polygraph\": ", out);
	TRY(json_write_value(version, out));
	fputs(",\n  \"suite\": ", out);
	TRY(json_write_value(suite, out));
	if (report->seed)
		fprintf(out, ",\n  \"seed\": %llu",
			(unsigned long long)*report->seed);
	return NULL;
}

/* ---- the run ---- */

static json_t *make_seconds(uint64_t ns)
{
	return json_real(round((double)ns / 1e3) / 1e6);
}

static json_t *make_phases(const struct report_run *run)
{
	json_t *list = json_array();
	for (size_t i = 0; i < run->n_phases; i++) {
		const struct report_phase *phase = &run->phases[i];
		value_append(&list,
			     json_pack("{s:s, s:o, s:o, s:I}", "name",
				       phase->name, "start",
				       make_seconds(phase->start), "seconds",
				       make_seconds(phase->ns), "executions",
				       (json_int_t)phase->executions));
	}
	return list;
}

/* Tests by outcome, findings and problems by severity. */
static json_t *make_totals(const struct report *report,
			   const struct report_verdict *verdict)
{
	struct report_counts counts = report_count(report);
	size_t of[FINDING_HIGH + 1] = {};
	size_t new = report_new_findings(report);
	json_t *tests = json_object();
	for (int i = OUTCOME_NONE + 1; tests && i < OUTCOMES; i++) {
		if (json_object_set_new(
			    tests, outcome_name((enum outcome)i),
			    json_integer((json_int_t)counts.of[i]))) {
			json_decref(tests);
			tests = NULL;
		}
	}
	for (size_t i = 0; i < report->n_findings; i++)
		of[report->findings[i].severity]++;
	return json_pack("{s:o, s:{s:I, s:I, s:I, s:I, s:I}, s:o, s:I, s:s}",
			 "tests", tests, "findings", "high",
			 (json_int_t)of[FINDING_HIGH], "medium",
			 (json_int_t)of[FINDING_MEDIUM], "low",
			 (json_int_t)of[FINDING_LOW], "new", (json_int_t) new,
			 "known", (json_int_t)(report->n_findings - new),
			 "problems", verdict_problems(verdict), "failing",
			 (json_int_t)verdict->failing, "fail_on",
			 verdict_fail_on(report->fail_on));
}

static struct err *write_totals(const struct report *report, FILE *out)
{
	_cleanup_(value_freep) json_t *value = NULL;
	_cleanup_(causes_free) struct causes causes = {};
	struct report_verdict verdict;
	const json_t *earlier = json_object_get(report->earlier, "totals");
	/* Of several suites it is their sum, and not that of all as one. */
	if (json_object_get(report->earlier, "suites") && earlier) {
		fputs(",\n  \"totals\": ", out);
		return json_write_value(earlier, out);
	}
	TRY(causes_group(report, &causes));
	TRY(verdict_judge(report, &causes, &verdict));
	TRY(value_made(make_totals(report, &verdict), &value));
	fputs(",\n  \"totals\": ", out);
	return json_write_value(value, out);
}

static struct err *json_write_run(const struct report *report, FILE *out)
{
	const struct report_run *run = report->run;
	_cleanup_(value_freep) json_t *value = NULL;
	if (!run)
		return NULL;
	json_t *const none = NULL;
	time_t started = (time_t)run->started;
	struct tm tm = {};
	char text[32] = "";
	gmtime_r(&started, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	TRY(value_made(json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:o, s:o, "
				 "s:i, s:o*}",
				 "command", report->kind, "folder",
				 value_text(run->folder), "sources",
				 value_text(run->sources), "options",
				 value_texts(run->options, run->n_options),
				 "build_id", value_text(run->build_id),
				 "started", text, "seconds",
				 make_seconds(run->ns), "phases",
				 make_phases(run), "exit_status", run->status,
				 "reused", report->reused ? json_true() : none),
		       &value));
	fputs(",\n  \"run\": ", out);
	return json_write_value(value, out);
}

/* ---- findings ---- */

/* As it was then; only what the baseline says is of today. */
static struct err *make_earlier(const struct finding *finding, json_t **ret)
{
	_cleanup_(value_freep) json_t *object =
		json_loads(finding->earlier, 0, NULL);
	if (!object ||
	    json_object_set_new(object, "known",
				json_boolean(finding->known)) ||
	    json_object_set_new(object, "suppressed",
				json_boolean(finding->suppressed)) ||
	    (!finding->rendered &&
	     json_object_set_new(object, "earlier", json_true())))
		return err_nomem();
	*ret = take_ptr(object);
	return NULL;
}

/* One of the lines of a block (report/block.h), as text, and what goes with it. */
static struct err *
make_line(struct err *(*append)(const struct finding *, struct str *),
	  const struct finding *finding, const char *more, json_t **ret)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	if (append)
		TRY(append(finding, &line));
	if (more)
		TRY(str_appendf(&line, "%s%s", line.n ? "; " : "", more));
	*ret = line.n ? value_text(line.s) : json_null();
	return *ret ? NULL : err_nomem();
}

/* What a block says of it, so that it is said again without its evidence. */
static struct err *add_lines(const struct finding *finding, json_t *object)
{
	const struct report_kind *kind = report_kind_of(finding);
	json_t *headline = NULL, *reason = NULL;
	bool explains =
		kind->explains_failure && kind->explains_failure(finding);
	TRY(make_line(kind->append_head, finding, NULL, &headline));
	if (json_object_set_new(object, "headline", headline))
		return err_nomem();
	TRY(make_line(kind->append_about, finding, finding->isolation,
		      &reason));
	return json_object_set_new(object, "reason", reason) ||
			       json_object_set_new(object, "explains_failure",
						   json_boolean(explains))
		       ? err_nomem()
		       : NULL;
}

struct err *report_finding_json(const struct finding *finding, json_t **ret)
{
	if (finding->earlier)
		return make_earlier(finding, ret);
	_cleanup_(value_freep) json_t *object = json_pack(
		"{s:s, s:s, s:o, s:s, s:o, s:b, s:b, s:o, s:o, s:o*, s:s}",
		"id", finding->id, "kind", finding->kind->name, "test",
		value_text(finding_test(finding)), "severity",
		finding_severity_name(finding->severity), "message",
		value_text(finding->message), "known", (int)finding->known,
		"suppressed", (int)finding->suppressed, "replay",
		value_text(finding->replay), "hint", value_text(finding->hint),
		"isolation",
		finding->isolation ? value_text(finding->isolation) : NULL,
		"help", report_kind_of(finding)->help);
	const struct report_kind *kind = report_kind_of(finding);
	/* Takes the fields over, and fails if either is NULL. */
	if (!object ||
	    (kind->make_fields &&
	     json_object_update_new(object, kind->make_fields(finding))))
		return err_nomem();
	TRY(add_lines(finding, object));
	*ret = take_ptr(object);
	return NULL;
}

struct err *report_finding_text(const struct finding *finding, char **ret)
{
	_cleanup_(value_freep) json_t *object = NULL;
	TRY(report_finding_json(finding, &object));
	char *text = json_dumps(object, JSON_REAL_PRECISION(12));
	if (!text)
		return err_create(ERR_INTERNAL, "cannot write JSON");
	*ret = text;
	return NULL;
}

static struct err *json_write_findings(const struct report *report, FILE *out)
{
	fputs("  \"findings\": [", out);
	for (size_t i = 0; i < report->n_findings; i++) {
		_cleanup_(value_freep) json_t *finding = NULL;
		TRY(report_finding_json(&report->findings[i], &finding));
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(json_write_value(finding, out));
	}
	fputs(report->n_findings ? "\n  ],\n" : "],\n", out);
	return NULL;
}

/* A list has a line for each of its values. */
static struct err *write_section(const char *key, const json_t *value,
				 FILE *out)
{
	fprintf(out, "  \"%s\": ", key);
	if (!json_is_array(value)) {
		TRY(json_write_value(value, out));
		fputs(",\n", out);
		return NULL;
	}
	size_t n = json_array_size(value);
	fputs("[", out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(json_write_value(json_array_get(value, i), out));
	}
	fputs(n ? "\n  ],\n" : "],\n", out);
	return NULL;
}

/* Of a report that is rendered again. */
static struct err *write_earlier_sections(const struct report *report,
					  FILE *out)
{
	static const char *const others[] = {
		"schema", "polygraph", "suite",	 "seed", "run",	 "totals",
		"tests",  "findings",  "limits", "gone", "open",
	};
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)report->earlier, key, value)
	{
		bool other = false;
		for (size_t i = 0; i < ARRAY_SIZE(others); i++)
			other |= !strcmp(key, others[i]);
		if (!other)
			TRY(write_section(key, value, out));
	}
	return NULL;
}

static struct err *write_sections(const struct report *report, FILE *out)
{
	if (report->earlier)
		return write_earlier_sections(report, out);
	for (size_t i = 0; report_kinds[i]; i++) {
		const struct report_kind *kind = report_kinds[i];
		_cleanup_(value_freep) json_t *value = NULL;
		if (kind->make_section)
			TRY(kind->make_section(report, &value));
		if (value)
			TRY(write_section(kind->section, value, out));
	}
	return NULL;
}

static struct err *write_models(const struct report *report, FILE *out)
{
	_cleanup_(value_freep) json_t *version = json_string(report->version);
	if (!version)
		return err_nomem();
	fputs("{\n  \"schema\": 1,\n  \"polygraph\": ", out);
	TRY(json_write_value(version, out));
	fputs(",\n  \"models\": [", out);
	for (size_t i = 0; i < report->n_models; i++) {
		_cleanup_(value_freep) json_t *model = NULL;
		TRY(value_made(models_make_one(&report->models[i]), &model));
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(json_write_value(model, out));
	}
	fputs(report->n_models ? "\n  ]\n}\n" : "]\n}\n", out);
	return NULL;
}

static struct err *json_write_left_out(const struct report *report, FILE *out)
{
	_cleanup_(value_freep) json_t *value = NULL;
	if (!report->watched && !report->n_left_out)
		return NULL;
	TRY(value_made(left_out_make(report), &value));
	return write_section("left_out", value, out);
}

/* Only where there is a baseline that lists more than is found. */
static struct err *json_write_gone(const struct report *report, FILE *out)
{
	_cleanup_(value_freep) json_t *value = NULL;
	if (!report->n_gone)
		return NULL;
	TRY(value_made(value_texts(report->gone, report->n_gone), &value));
	return write_section("gone", value, out);
}

/* What the budget left open, and which one goes further. */
static struct err *json_write_open(const struct report *report, FILE *out)
{
	_cleanup_(value_freep) json_t *value = NULL;
	if (!report->open)
		return NULL;
	TRY(value_made(value_text(report->open), &value));
	return write_section("open", value, out);
}

static struct err *json_write(const struct report *report,
			      const struct report_style *style, FILE *out)
{
	if (!strcmp(report->kind, "models"))
		return write_models(report, out);
	TRY(json_write_head(report, out));
	if (strcmp(report->kind, "list") != 0) {
		TRY(json_write_run(report, out));
		TRY(write_totals(report, out));
	}
	fputs(",\n  \"tests\": [", out);
	for (size_t i = 0; i < report->n; i++) {
		_cleanup_(value_freep) json_t *test = NULL;
		TRY(make_test(&report->tests[i], style->verbose, &test));
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(json_write_value(test, out));
	}
	fputs(report->n ? "\n  ],\n" : "],\n", out);
	TRY(json_write_findings(report, out));
	TRY(write_sections(report, out));
	TRY(json_write_left_out(report, out));
	TRY(json_write_gone(report, out));
	TRY(json_write_open(report, out));
	fputs("  \"limits\": [", out);
	for (size_t i = 0; i < report->n_limits; i++) {
		_cleanup_(value_freep) json_t *limit = NULL;
		TRY(value_made(value_text(report->limits[i]), &limit));
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(json_write_value(limit, out));
	}
	fputs(report->n_limits ? "\n  ]\n}\n" : "]\n}\n", out);
	return NULL;
}

const struct report_format report_json = {
	.name = "json",
	.lists = true,
	.patches = true,
	.write = json_write,
};

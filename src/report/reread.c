#include "report/reread.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "base/str.h"
#include "report/kind.h"
#include "report/verdict.h"

/* What is unknown is shown as this. */
#define UNKNOWN "?"

struct reread {
	json_t *document;
	struct report report; /* of these: */
	struct report_run run;
	VEC(const char *) command;
	VEC(const char *) options;
	VEC(const char *) limits;
	VEC(const char *) gone;
	VEC(struct report_phase) phases;
	VEC(struct report_test) tests;
	struct findings findings;
	VEC(struct roster_test) roster_tests;
	struct roster roster;
	struct map_text numbers; /* in the roster, by name */
	uint64_t seed;
};

void reread_destroy(struct reread *reread)
{
	if (!reread)
		return;
	findings_free(&reread->findings);
	vec_free(&reread->command);
	vec_free(&reread->options);
	vec_free(&reread->limits);
	vec_free(&reread->gone);
	vec_free(&reread->phases);
	vec_free(&reread->tests);
	vec_free(&reread->roster_tests);
	map_text_free(&reread->numbers);
	json_decref(reread->document);
	free(reread);
}

const struct report *reread_report(const struct reread *reread)
{
	return &reread->report;
}

struct findings *reread_findings(struct reread *reread)
{
	return &reread->findings;
}

/* ---- values ---- */

static const char *reread_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static unsigned read_line(const json_t *object)
{
	json_int_t line = json_integer_value(json_object_get(object, "line"));
	return line > 0 && line < UINT32_MAX ? (unsigned)line : 0;
}

static uint64_t read_ns(const json_t *object, const char *key)
{
	double seconds = json_number_value(json_object_get(object, key));
	return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
}

/* All of a list that are texts; the vectors differ in type only. */
#define read_texts(list, vec)                                                  \
	({                                                                     \
		struct err *texts_err_ = NULL;                                 \
		const json_t *texts_ = (list);                                 \
		for (size_t i_ = 0;                                            \
		     !texts_err_ && i_ < json_array_size(texts_); i_++) {      \
			const char *text_ =                                    \
				json_string_value(json_array_get(texts_, i_)); \
			if (text_)                                             \
				texts_err_ = vec_push((vec), text_);           \
		}                                                              \
		texts_err_;                                                    \
	})

static struct err *not_a_report(const char *why)
{
	return err_create(ERR_USAGE, "not a report of polygraph: %s", why);
}

/* ---- tests ---- */

static enum outcome outcome_named(const char *name)
{
	for (int i = OUTCOME_NONE + 1; name && i < OUTCOMES; i++) {
		if (!strcmp(outcome_name((enum outcome)i), name))
			return (enum outcome)i;
	}
	return OUTCOME_NONE;
}

static struct err *add_name(struct reread *reread, const char *name,
			    const json_t *test)
{
	uint64_t number;
	if (!name || map_text_get(&reread->numbers, name, &number))
		return NULL;
	const struct roster_test one = {
		.name = name,
		.file = reread_text(test, "file"),
		.line = read_line(test),
		.disabled = json_is_true(json_object_get(test, "disabled")),
	};
	TRY(map_text_put(&reread->numbers, name, reread->roster_tests.n));
	return vec_push(&reread->roster_tests, one);
}

/* Names, and lists of names, that findings have. */
static struct err *add_names(struct reread *reread, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *value = json_array_get(list, i);
		TRY(add_name(reread, json_string_value(value), NULL));
		for (size_t j = 0; j < json_array_size(value); j++)
			TRY(add_name(
				reread,
				json_string_value(json_array_get(value, j)),
				NULL));
	}
	return NULL;
}

static struct err *read_test(struct reread *reread, const json_t *value)
{
	const json_t *failure = json_object_get(value, "failure");
	const char *output = reread_text(value, "output");
	struct report_test test = {
		.name = reread_text(value, "name"),
		.file = reread_text(value, "file"),
		.line = read_line(value),
		.disabled = json_is_true(json_object_get(value, "disabled")),
		.known = json_is_true(json_object_get(value, "known")),
		.outcome = outcome_named(reread_text(value, "outcome")),
		.ns = read_ns(value, "seconds"),
		.message = reread_text(failure, "message"),
		.failure_file = reread_text(failure, "file"),
		.failure_line = read_line(failure),
		.output = output,
		.output_n = output ? strlen(output) : 0,
	};
	if (!test.name)
		return not_a_report("a test has no name");
	TRY(add_name(reread, test.name, value));
	return vec_push(&reread->tests, test);
}

/* ---- findings ---- */

static const struct finding_kind *kind_by_name(const char *name)
{
	for (size_t i = 0; name && report_kinds[i]; i++) {
		if (!strcmp(report_kinds[i]->kind->name, name))
			return report_kinds[i]->kind;
	}
	return NULL;
}

static enum finding_severity severity_by_name(const char *name)
{
	enum finding_severity severity = FINDING_HIGH;
	while (severity > FINDING_LOW &&
	       (!name || strcmp(finding_severity_name(severity), name) != 0))
		severity--;
	return severity;
}

/* What the report was judged by; where it does not say, as is usual. */
static unsigned reread_fail_on(const json_t *document)
{
	const char *name =
		reread_text(json_object_get(document, "totals"), "fail_on");
	return !name		       ? FINDING_MEDIUM
	       : !strcmp(name, "none") ? FAIL_ON_NONE
				       : (unsigned)severity_by_name(name);
}

/* Where to look: as the detectors say it of each kind. */
static void reread_place(const json_t *value, struct finding *finding)
{
	static const char *const keys[] = { "declared", "failure" };
	for (size_t i = 0; i < ARRAY_SIZE(keys) && !finding->file; i++) {
		const json_t *place = json_object_get(value, keys[i]);
		finding->file = reread_text(place, "file");
		finding->line = read_line(place);
	}
}

static struct err *reread_finding(struct reread *reread, const json_t *value)
{
	static const char *const lists[] = {
		"readers",	 "polluters",	  "setters", "cleaners",
		"passing_order", "failing_order", "order",
	};
	const char *id = reread_text(value, "id");
	const char *test = reread_text(value, "test");
	const char *message = reread_text(value, "message");
	const char *replay = reread_text(value, "replay");
	const struct finding_kind *kind =
		kind_by_name(reread_text(value, "kind"));
	uint64_t number = 0;
	if (!id || !test || !message || !replay)
		return not_a_report("a finding has no id, test, message or "
				    "replay");
	if (!kind)
		return not_a_report("a finding is of a kind that this version "
				    "does not have");
	TRY(add_name(reread, test, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		TRY(add_names(reread, json_object_get(value, lists[i])));
	map_text_get(&reread->numbers, test, &number);
	_cleanup_(finding_free) struct finding finding = {
		.kind = kind,
		.tests = &reread->roster,
		.test = number,
		.severity = severity_by_name(reread_text(value, "severity")),
		.known = json_is_true(json_object_get(value, "known")),
		.suppressed =
			json_is_true(json_object_get(value, "suppressed")),
		.rendered = true,
		.earlier = json_dumps(value, JSON_REAL_PRECISION(12)),
	};
	if (!finding.earlier)
		return err_nomem();
	/* Where it is shown it is taken for one of ours. */
	finding.id = str_escape(id);
	if (!finding.id)
		return err_nomem();
	TRY(str_copy(message, &finding.message));
	TRY(str_copy(replay, &finding.replay));
	TRY(str_copy(reread_text(value, "hint"), &finding.hint));
	TRY(str_copy(reread_text(value, "isolation"), &finding.isolation));
	reread_place(value, &finding);
	TRY(vec_push(&reread->findings, finding));
	finding = (struct finding){};
	return NULL;
}

/* ---- the run ---- */

static uint64_t read_time(const char *text)
{
	struct tm tm = {};
	if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm))
		return 0;
	time_t at = timegm(&tm);
	return at > 0 ? (uint64_t)at : 0;
}

static struct err *read_run(struct reread *reread)
{
	const json_t *from = json_object_get(reread->document, "run");
	const json_t *phases = json_object_get(from, "phases");
	struct report_run *run = &reread->run;
	if (!json_is_object(from))
		return NULL;
	TRY(read_texts(json_object_get(from, "options"), &reread->options));
	for (size_t i = 0; i < json_array_size(phases); i++) {
		const json_t *phase = json_array_get(phases, i);
		const char *name = reread_text(phase, "name");
		json_int_t executions = json_integer_value(
			json_object_get(phase, "executions"));
		if (name)
			TRY(vec_push(&reread->phases,
				     (struct report_phase){
					     .name = name,
					     .start = read_ns(phase, "start"),
					     .ns = read_ns(phase, "seconds"),
					     .executions = (uint64_t)MAX(
						     executions, 0LL),
				     }));
	}
	*run = (struct report_run){
		.folder = reread_text(from, "folder"),
		.sources = reread_text(from, "sources"),
		.build_id = reread_text(from, "build_id"),
		.options = reread->options.data,
		.n_options = reread->options.n,
		.started = read_time(reread_text(from, "started")),
		.ns = read_ns(from, "seconds"),
		.phases = reread->phases.data,
		.n_phases = reread->phases.n,
		.status = (int)json_integer_value(
			json_object_get(from, "exit_status")),
	};
	reread->report.run = run;
	reread->report.reused = json_is_true(json_object_get(from, "reused"));
	if (reread_text(from, "command"))
		reread->report.kind = reread_text(from, "command");
	return NULL;
}

static struct err *read_lists(struct reread *reread)
{
	const json_t *document = reread->document;
	const json_t *suite = json_object_get(document, "suite");
	const json_t *tests = json_object_get(document, "tests");
	const json_t *findings = json_object_get(document, "findings");
	TRY(read_texts(json_object_get(suite, "command"), &reread->command));
	if (!reread->command.n)
		TRY(vec_push(&reread->command, UNKNOWN));
	TRY(vec_push(&reread->command, NULL));
	TRY(read_texts(json_object_get(document, "limits"), &reread->limits));
	TRY(read_texts(json_object_get(document, "gone"), &reread->gone));
	for (size_t i = 0; i < json_array_size(tests); i++)
		TRY(read_test(reread, json_array_get(tests, i)));
	for (size_t i = 0; i < json_array_size(findings); i++)
		TRY(reread_finding(reread, json_array_get(findings, i)));
	return NULL;
}

static size_t count_distinct(const struct reread *reread)
{
	size_t n = 0;
	for (size_t i = 0; i < reread->tests.n; i++) {
		uint64_t number = 0;
		map_text_get(&reread->numbers, reread->tests.data[i].name,
			     &number);
		n = MAX(n, (size_t)number + 1);
	}
	return n;
}

/* Numbers are those of the vectors, which do not grow any more. */
static void fill_report(struct reread *reread)
{
	const json_t *document = reread->document;
	const json_t *suite = json_object_get(document, "suite");
	const json_t *seed = json_object_get(document, "seed");
	struct report *report = &reread->report;
	const char *version = reread_text(document, "polygraph");
	const char *framework = reread_text(suite, "framework");
	json_int_t tests = json_integer_value(json_object_get(suite, "tests"));
	reread->roster = (struct roster){ reread->roster_tests.data,
					  reread->roster_tests.n };
	report->version = version ? version : UNKNOWN;
	report->command = reread->command.data;
	report->framework = framework ? framework : UNKNOWN;
	report->suite_tests = (size_t)MAX(tests, 0LL);
	report->tests = reread->tests.data;
	report->n = reread->tests.n;
	report->distinct = count_distinct(reread);
	report->ns = reread->run.ns;
	report->roster = &reread->roster;
	report->findings = reread->findings.data;
	report->n_findings = reread->findings.n;
	report->limits = reread->limits.data;
	report->n_limits = reread->limits.n;
	report->gone = reread->gone.data;
	report->n_gone = reread->gone.n;
	report->open = reread_text(document, "open");
	report->fail_on = reread_fail_on(document);
	report->earlier = document;
	if (json_is_integer(seed)) {
		reread->seed = (uint64_t)json_integer_value(seed);
		report->seed = &reread->seed;
	}
}

struct err *reread_create(json_t *document, struct reread **ret)
{
	_cleanup_(reread_destroyp) struct reread *reread =
		calloc(1, sizeof(*reread));
	if (!reread) {
		json_decref(document);
		return err_nomem();
	}
	reread->document = document;
	reread->report.kind = "check";
	if (json_integer_value(json_object_get(document, "schema")) != 1)
		return not_a_report("it has no \"schema\": 1");
	if (!json_is_array(json_object_get(document, "tests")) ||
	    !json_is_array(json_object_get(document, "findings")))
		return not_a_report("it has no tests or no findings");
	TRY(read_lists(reread));
	TRY(read_run(reread));
	fill_report(reread);
	*ret = take_ptr(reread);
	return NULL;
}

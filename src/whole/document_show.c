/* A document as JSON, as text for people, and as JUnit XML. */
#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/str.h"
#include "base/xml.h"
#include "whole/document.h"

#define RESET "\033[0m"
#define BOLD "\033[1m"
#define RED "\033[31m"
#define INDENT "        "
#define LIMITS_SHOWN 10

/* ---- JSON ---- */

/* A line for each member, so that the file can be read and compared. */
static struct err *document_write_list(const char *key, const json_t *list,
				       FILE *out)
{
	size_t n = json_array_size(list);
	fprintf(out, ",\n  \"%s\": [", key);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		TRY(json_write_to(json_array_get(list, i),
				  JSON_ENCODE_ANY | JSON_REAL_PRECISION(12),
				  out));
	}
	fputs(n ? "\n  ]" : "]", out);
	return NULL;
}

struct err *document_write_json(const struct document *document, FILE *out)
{
	const char *key;
	json_t *value;
	bool first = true;
	fputs("{", out);
	json_object_foreach(document->root, key, value)
	{
		if (json_is_array(value))
			continue;
		fprintf(out, "%s\n  \"%s\": ", first ? "" : ",", key);
		TRY(json_write_to(
			value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12), out));
		first = false;
	}
	json_object_foreach(document->root, key, value)
	{
		if (json_is_array(value))
			TRY(document_write_list(key, value, out));
	}
	fputs("\n}\n", out);
	return NULL;
}

/* ---- what is in it ---- */

static const char *member_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static const json_t *member_list(const struct document *document,
				 const char *key)
{
	return json_object_get(document->root, key);
}

static bool document_is_known(const json_t *finding)
{
	return json_is_true(json_object_get(finding, "known"));
}

struct document_counts {
	size_t passed, failed, skipped, tests;
	size_t findings, known, high, medium, low;
};

static struct document_counts count_all(const struct document *document)
{
	struct document_counts counts = {};
	size_t i;
	json_t *member;
	json_array_foreach((json_t *)member_list(document, "tests"), i, member)
	{
		const char *outcome = member_text(member, "outcome");
		counts.tests++;
		if (!strcmp(outcome, "pass"))
			counts.passed++;
		else if (!strcmp(outcome, "skip"))
			counts.skipped++;
		else
			counts.failed++;
	}
	json_array_foreach((json_t *)member_list(document, "findings"), i,
			   member)
	{
		const char *severity = member_text(member, "severity");
		counts.findings++;
		counts.known += document_is_known(member);
		if (!strcmp(severity, "high"))
			counts.high++;
		else if (!strcmp(severity, "medium"))
			counts.medium++;
		else
			counts.low++;
	}
	return counts;
}

/* ---- text ---- */

static void put_text(const char *text, FILE *out)
{
	_cleanup_(freep) char *escaped = str_escape(text);
	fputs(escaped ? escaped : "?", out);
}

static void write_finding(const json_t *finding,
			  const struct document_style *style, FILE *out)
{
	const char *severity = member_text(finding, "severity");
	const char *message = member_text(finding, "message");
	const char *test = member_text(finding, "test");
	const char *replay = member_text(finding, "replay");
	fprintf(out, "%-6s  ", severity);
	/* Most messages begin with it. */
	if (strncmp(message, test, strlen(test)) != 0) {
		put_text(test, out);
		fputs(": ", out);
	}
	put_text(message, out);
	fputs(document_is_known(finding) ? " (known)\n" : "\n", out);
	if (*replay && !style->quiet) {
		fputs(INDENT "reproduce: ", out);
		put_text(replay, out);
		fputc('\n', out);
	}
}

static void write_failure_of(const json_t *test, FILE *out)
{
	const json_t *failure = json_object_get(test, "failure");
	const char *message = member_text(failure, "message");
	const char *outcome = member_text(test, "outcome");
	if (!strcmp(outcome, "pass") || !strcmp(outcome, "skip"))
		return;
	fprintf(out, "%-6s  ", outcome);
	put_text(member_text(test, "name"), out);
	if (*message) {
		_cleanup_(freep) char *line =
			strndup(message, strcspn(message, "\n"));
		fputs(": ", out);
		put_text(line ? line : message, out);
	}
	fputc('\n', out);
}

static void write_suite_head(const json_t *suite, size_t findings,
			     const struct document_style *style, FILE *out)
{
	json_int_t tests = json_integer_value(json_object_get(suite, "tests"));
	double seconds = json_number_value(json_object_get(suite, "seconds"));
	fputs(style->color ? BOLD : "", out);
	fputs("== ", out);
	put_text(member_text(suite, "name"), out);
	fputs(style->color ? RESET : "", out);
	if (json_object_get(suite, "framework"))
		fprintf(out, " (%s, %lld test%s, %.1f s)",
			member_text(suite, "framework"), (long long)tests,
			tests == 1 ? "" : "s", seconds);
	if (findings)
		fprintf(out, ": %zu finding%s", findings,
			findings == 1 ? "" : "s");
	fputc('\n', out);
}

/* Both lists are sorted by suite: a cursor each. */
struct suite_cursor {
	const json_t *list;
	size_t at;
};

static size_t cursor_span(const struct suite_cursor *cursor, const char *suite)
{
	size_t n = 0;
	while (!strcmp(member_text(json_array_get(cursor->list, cursor->at + n),
				   "suite"),
		       suite) &&
	       cursor->at + n < json_array_size(cursor->list))
		n++;
	return n;
}

static void write_suite(const json_t *suite, struct suite_cursor *tests,
			struct suite_cursor *findings,
			const struct document_style *style, FILE *out)
{
	const char *name = member_text(suite, "name");
	const char *message = member_text(suite, "message");
	size_t n_tests = cursor_span(tests, name);
	size_t n_findings = cursor_span(findings, name);
	json_int_t status =
		json_integer_value(json_object_get(suite, "status"));
	if (status || n_findings || style->verbose)
		write_suite_head(suite, n_findings, style, out);
	for (size_t i = 0; i < n_findings; i++)
		write_finding(json_array_get(findings->list, findings->at + i),
			      style, out);
	for (size_t i = 0; i < n_tests; i++)
		write_failure_of(json_array_get(tests->list, tests->at + i),
				 out);
	while (*message) {
		size_t n = strcspn(message, "\n");
		_cleanup_(freep) char *line = strndup(message, n);
		fputs(INDENT, out);
		put_text(line ? line : "?", out);
		fputc('\n', out);
		message += n + (message[n] == '\n');
	}
	tests->at += n_tests;
	findings->at += n_findings;
}

static void document_write_limits(const struct document *document,
				  const struct document_style *style, FILE *out)
{
	const json_t *limits = member_list(document, "limits");
	size_t n = json_array_size(limits);
	size_t shown = style->verbose ? n : MIN(n, (size_t)LIMITS_SHOWN);
	for (size_t i = 0; i < shown; i++) {
		const char *text = json_string_value(json_array_get(limits, i));
		fputs("limit: ", out);
		put_text(text ? text : "", out);
		fputc('\n', out);
	}
	if (shown < n)
		fprintf(out, "limit: … and %zu more (--verbose)\n", n - shown);
}

static void write_verdict(const struct document *document, FILE *out)
{
	struct document_counts counts = count_all(document);
	const json_t *suites = member_list(document, "suites");
	size_t n = json_array_size(suites), bad = 0, i;
	double seconds = 0;
	json_t *suite;
	json_array_foreach((json_t *)suites, i, suite)
	{
		seconds += json_number_value(json_object_get(suite, "seconds"));
		bad += json_integer_value(json_object_get(suite, "status")) !=
		       0;
	}
	fprintf(out, "%zu suite%s, %zu tests: %zu passed", n, n == 1 ? "" : "s",
		counts.tests, counts.passed);
	if (counts.failed)
		fprintf(out, ", %zu failed", counts.failed);
	if (counts.skipped)
		fprintf(out, ", %zu skipped", counts.skipped);
	fprintf(out, " in %.1f s\n", seconds);
	fprintf(out, "%zu finding%s", counts.findings,
		counts.findings == 1 ? "" : "s");
	if (counts.findings)
		fprintf(out, ": %zu high, %zu medium, %zu low", counts.high,
			counts.medium, counts.low);
	if (counts.known)
		fprintf(out, "; %zu known", counts.known);
	fprintf(out, "; %zu of %zu suites can be trusted\n", n - bad, n);
}

struct err *document_write_text(const struct document *document,
				const struct document_style *style, FILE *out)
{
	struct suite_cursor tests = { member_list(document, "tests"), 0 };
	struct suite_cursor findings = { member_list(document, "findings"), 0 };
	size_t i;
	json_t *suite;
	json_array_foreach((json_t *)member_list(document, "suites"), i, suite)
		write_suite(suite, &tests, &findings, style, out);
	write_verdict(document, out);
	if (!style->quiet)
		document_write_limits(document, style, out);
	return NULL;
}

/* ---- JUnit ---- */

static struct err *junit_put_test(const json_t *test, FILE *out)
{
	const char *outcome = member_text(test, "outcome");
	const json_t *failure = json_object_get(test, "failure");
	const char *message = member_text(failure, "message");
	fputs("    <testcase", out);
	xml_write_attribute("name", member_text(test, "name"), out);
	xml_write_attribute("classname", member_text(test, "suite"), out);
	fprintf(out, " time=\"%.6f\"",
		json_number_value(json_object_get(test, "seconds")));
	if (!strcmp(outcome, "pass") || !*outcome) {
		fputs("/>\n", out);
		return NULL;
	}
	const char *element = !strcmp(outcome, "skip")	 ? "skipped"
			      : !strcmp(outcome, "fail") ? "failure"
							 : "error";
	fprintf(out, ">\n      <%s", element);
	xml_write_attribute("message", *message ? message : outcome, out);
	fputs("/>\n    </testcase>\n", out);
	return NULL;
}

static struct err *junit_put_finding(const json_t *finding, FILE *out)
{
	_cleanup_(str_freep) struct str class = STR_INIT;
	TRY(str_appendf(&class, "%s.%s", member_text(finding, "suite"),
			member_text(finding, "kind")));
	fputs("    <testcase", out);
	xml_write_attribute("name", member_text(finding, "test"), out);
	xml_write_attribute("classname", class.s, out);
	if (document_is_known(finding)) {
		fputs("/>\n", out);
		return NULL;
	}
	fputs(">\n      <failure", out);
	xml_write_attribute("message", member_text(finding, "message"), out);
	xml_write_attribute("type", member_text(finding, "severity"), out);
	fputs(">", out);
	const char *replay = member_text(finding, "replay");
	xml_write(replay, strlen(replay), false, out);
	fputs("</failure>\n    </testcase>\n", out);
	return NULL;
}

/* Of a suite that could not be run: an error of its own. */
static struct err *junit_put_message(const json_t *suite, FILE *out)
{
	fputs("    <testcase name=\"(the suite)\"", out);
	xml_write_attribute("classname", member_text(suite, "name"), out);
	fputs(">\n      <error", out);
	xml_write_attribute("message", member_text(suite, "message"), out);
	fputs("/>\n    </testcase>\n", out);
	return NULL;
}

static struct err *junit_put_suite(const json_t *suite,
				   struct suite_cursor *tests,
				   struct suite_cursor *findings, FILE *out)
{
	const char *name = member_text(suite, "name");
	size_t n_tests = cursor_span(tests, name);
	size_t n_findings = cursor_span(findings, name);
	bool unrun = *member_text(suite, "message");
	fputs("  <testsuite", out);
	xml_write_attribute("name", name, out);
	fprintf(out, " tests=\"%zu\" time=\"%.6f\">\n",
		n_tests + n_findings + unrun,
		json_number_value(json_object_get(suite, "seconds")));
	for (size_t i = 0; i < n_tests; i++)
		TRY(junit_put_test(json_array_get(tests->list, tests->at + i),
				   out));
	for (size_t i = 0; i < n_findings; i++)
		TRY(junit_put_finding(
			json_array_get(findings->list, findings->at + i), out));
	if (unrun)
		TRY(junit_put_message(suite, out));
	fputs("  </testsuite>\n", out);
	tests->at += n_tests;
	findings->at += n_findings;
	return NULL;
}

struct err *document_write_junit(const struct document *document, FILE *out)
{
	struct suite_cursor tests = { member_list(document, "tests"), 0 };
	struct suite_cursor findings = { member_list(document, "findings"), 0 };
	struct document_counts counts = count_all(document);
	size_t i;
	json_t *suite;
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"%zu\" failures=\"%zu\">\n",
		counts.tests + counts.findings,
		counts.failed + counts.findings - counts.known);
	json_array_foreach((json_t *)member_list(document, "suites"), i, suite)
		TRY(junit_put_suite(suite, &tests, &findings, out));
	fputs("</testsuites>\n", out);
	return NULL;
}

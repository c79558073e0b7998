/* A document as JSON and as JUnit XML; as text: document_text.c. */
#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/macro.h"
#include "base/str.h"
#include "base/xml.h"
#include "whole/document_internal.h"

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

bool document_is_known(const json_t *finding)
{
	return json_is_true(json_object_get(finding, "known"));
}

struct document_counts document_count(const struct document *document)
{
	struct document_counts counts = {};
	size_t i;
	json_t *member;
	json_array_foreach(document_list_of(document, "tests"), i, member)
	{
		const char *outcome = document_text_of(member, "outcome");
		counts.tests++;
		if (!strcmp(outcome, "pass"))
			counts.passed++;
		else if (!strcmp(outcome, "skip"))
			counts.skipped++;
		else
			counts.failed++;
	}
	json_array_foreach(document_list_of(document, "findings"), i, member)
	{
		const char *severity = document_text_of(member, "severity");
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

size_t suite_cursor_span(struct suite_cursor *cursor, const char *suite)
{
	size_t all = json_array_size(cursor->list), n = 0;
	/* A file of others may have members of suites that it does not list. */
	while (cursor->at < all &&
	       strcmp(document_text_of(json_array_get(cursor->list, cursor->at),
				       "suite"),
		      suite) < 0)
		cursor->at++;
	while (cursor->at + n < all &&
	       !strcmp(document_text_of(
			       json_array_get(cursor->list, cursor->at + n),
			       "suite"),
		       suite))
		n++;
	return n;
}

/* ---- JUnit ---- */

static struct err *junit_put_test(const json_t *test, FILE *out)
{
	const char *outcome = document_text_of(test, "outcome");
	const json_t *failure = json_object_get(test, "failure");
	const char *message = document_text_of(failure, "message");
	fputs("    <testcase", out);
	xml_write_attribute("name", document_text_of(test, "name"), out);
	xml_write_attribute("classname", document_text_of(test, "suite"), out);
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
	TRY(str_appendf(&class, "%s.%s", document_text_of(finding, "suite"),
			document_text_of(finding, "kind")));
	fputs("    <testcase", out);
	xml_write_attribute("name", document_text_of(finding, "test"), out);
	xml_write_attribute("classname", class.s, out);
	if (document_is_known(finding)) {
		fputs("/>\n", out);
		return NULL;
	}
	fputs(">\n      <failure", out);
	xml_write_attribute("message", document_text_of(finding, "message"),
			    out);
	xml_write_attribute("type", document_text_of(finding, "severity"), out);
	fputs(">", out);
	const char *replay = document_text_of(finding, "replay");
	xml_write(replay, strlen(replay), false, out);
	fputs("</failure>\n    </testcase>\n", out);
	return NULL;
}

/* Of a suite that could not be run: an error of its own. */
static struct err *junit_put_message(const json_t *suite, FILE *out)
{
	fputs("    <testcase name=\"(the suite)\"", out);
	xml_write_attribute("classname", document_text_of(suite, "name"), out);
	fputs(">\n      <error", out);
	xml_write_attribute("message", document_text_of(suite, "message"), out);
	fputs("/>\n    </testcase>\n", out);
	return NULL;
}

static struct err *junit_put_suite(const json_t *suite,
				   struct suite_cursor *tests,
				   struct suite_cursor *findings, FILE *out)
{
	const char *name = document_text_of(suite, "name");
	size_t n_tests = suite_cursor_span(tests, name);
	size_t n_findings = suite_cursor_span(findings, name);
	bool unrun = *document_text_of(suite, "message");
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
	struct suite_cursor tests = { document_list_of(document, "tests"), 0 };
	struct suite_cursor findings = { document_list_of(document, "findings"),
					 0 };
	struct document_counts counts = document_count(document);
	size_t i;
	json_t *suite;
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"%zu\" failures=\"%zu\">\n",
		counts.tests + counts.findings,
		counts.failed + counts.findings - counts.known);
	json_array_foreach(document_list_of(document, "suites"), i, suite)
		TRY(junit_put_suite(suite, &tests, &findings, out));
	fputs("</testsuites>\n", out);
	return NULL;
}

/* A document as JSON and as JUnit XML, and its totals; as text: document_text.c. */
#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/macro.h"
#include "base/str.h"
#include "report/junit.h"
#include "report/reread.h"
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

/* Tests by outcome; NULL: no memory. */
static json_t *count_outcomes(const struct document *document)
{
	json_t *counts = json_object();
	size_t i;
	json_t *test;
	for (int j = OUTCOME_NONE + 1; j < OUTCOMES; j++)
		json_object_set_new(counts, outcome_name((enum outcome)j),
				    json_integer(0));
	json_array_foreach(document_list_of(document, "tests"), i, test)
	{
		json_t *count = json_object_get(
			counts, document_text_of(test, "outcome"));
		if (count)
			json_integer_set(count, json_integer_value(count) + 1);
	}
	return counts;
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

static struct err *take_members(struct suite_cursor *cursor, const char *suite,
				json_t **ret)
{
	size_t n = suite_cursor_span(cursor, suite);
	*ret = json_array();
	for (size_t i = 0; i < n; i++) {
		if (json_array_append(
			    *ret, json_array_get(cursor->list, cursor->at++)))
			return err_nomem();
	}
	return *ret ? NULL : err_nomem();
}

struct err *document_open(const json_t *suite, struct suite_cursor *tests,
			  struct suite_cursor *findings, struct reread **ret)
{
	const char *name = document_text_of(suite, "name");
	_cleanup_(json_freep) json_t *its_tests = NULL, *its_findings = NULL;
	TRY(take_members(tests, name, &its_tests));
	TRY(take_members(findings, name, &its_findings));
	json_t *root =
		json_pack("{s:i, s:O, s:O, s:O, s:O*}", "schema", 1, "suite",
			  suite, "tests", its_tests, "findings", its_findings,
			  "totals", json_object_get(suite, "totals"));
	return root ? reread_create(root, ret) : err_nomem();
}

/* ---- totals ---- */

/* What is known since it was checked does not count any more. */
static struct err *settle_statuses(const struct document *document)
{
	struct suite_cursor tests = { document_list_of(document, "tests"), 0 };
	struct suite_cursor findings = { document_list_of(document, "findings"),
					 0 };
	size_t i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
	{
		_cleanup_(reread_destroyp) struct reread *reread = NULL;
		_cleanup_(causes_free) struct causes causes = {};
		struct report_verdict verdict;
		json_t *status = json_object_get(suite, "status");
		struct err *err =
			document_open(suite, &tests, &findings, &reread);
		/* A file that others wrote. */
		if (err && err_kind(err) == ERR_USAGE) {
			err_destroy(err);
			continue;
		}
		TRY(err);
		if (json_integer_value(status) != 1)
			continue;
		TRY(causes_group(reread_report(reread), &causes));
		TRY(verdict_judge(reread_report(reread), &causes, &verdict));
		json_integer_set(status, verdict_status(&verdict));
	}
	return NULL;
}

struct err *document_total(struct document *document)
{
	TRY(settle_statuses(document));
	struct document_counts counts = document_count(document);
	struct report_verdict verdict;
	TRY(document_judge(document, &verdict));
	json_t *totals = json_pack(
		"{s:o, s:{s:I, s:I, s:I, s:I, s:I}, s:o, s:I, s:s}", "tests",
		count_outcomes(document), "findings", "high",
		(json_int_t)counts.high, "medium", (json_int_t)counts.medium,
		"low", (json_int_t)counts.low, "new",
		(json_int_t)(counts.findings - counts.known), "known",
		(json_int_t)counts.known, "problems",
		verdict_problems(&verdict), "failing",
		(json_int_t)verdict.failing, "fail_on",
		verdict_fail_on(verdict.fail_on));
	if (json_object_set_new(document->root, "totals", totals))
		return err_nomem();
	return document_set_run(document);
}

/* ---- JUnit ---- */

/* Of each suite, in turn: @out NULL: it is only counted. */
static struct err *junit_put_suites(const struct document *document,
				    struct junit_counts *ret, FILE *out)
{
	struct suite_cursor tests = { document_list_of(document, "tests"), 0 };
	struct suite_cursor findings = { document_list_of(document, "findings"),
					 0 };
	size_t i;
	json_t *suite;
	json_array_foreach(document_list_of(document, "suites"), i, suite)
	{
		_cleanup_(reread_destroyp) struct reread *reread = NULL;
		const char *message = document_text_of(suite, "message");
		struct err *err =
			document_open(suite, &tests, &findings, &reread);
		/* A file that others wrote. */
		if (err && err_kind(err) != ERR_USAGE)
			return err;
		if (err)
			message = err_message(err);
		const struct junit_suite of = {
			.name = document_text_of(suite, "name"),
			.report = reread ? reread_report(reread) : NULL,
			.seconds = json_number_value(
				json_object_get(suite, "seconds")),
			.message = *message ? message : NULL,
		};
		struct err *failed = junit_put_suite(&of, ret, out);
		err_destroy(err);
		TRY(failed);
	}
	return NULL;
}

struct err *document_write_junit(const struct document *document, FILE *out)
{
	struct junit_counts counts = {};
	TRY(junit_put_suites(document, &counts, NULL));
	junit_begin(&counts, -1, out);
	TRY(junit_put_suites(document, &counts, out));
	junit_end(out);
	return NULL;
}

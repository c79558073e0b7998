/*
 * JUnit XML, as CI systems read it: failures are failed assertions, errors are
 * crashes and time-outs; of what was found there is a test for each cause.
 *
 * Jenkins' xunit plugin rejects a file with anything that its schema does not
 * have (junit-4.xsd in old versions, junit-10.xsd now), so there is nothing else
 * in it: no place on a test, and no attribute on what is skipped. GitLab and
 * GitHub actions have no schema, and read what these have in common.
 *
 * Written by hand: the few elements need no library, only the escaping has to
 * be right. XML 1.0 cannot hold control characters at all, so they become \xNN, and
 * so do those that would mislead who reads the file (str_misleads()).
 */
#include "report/junit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "base/xml.h"
#include "report/kind.h"
#include "report/value.h"
#include "report/verdict.h"

/* First line of @message; the rest is in the element's text. */
static struct err *write_failure(const struct report_test *test,
				 const char *element, FILE *out)
{
	const char *message = test->message ? test->message : "";
	_cleanup_(freep) char *first = strndup(message, strcspn(message, "\n"));
	if (!first)
		return err_nomem();
	fprintf(out, "      <%s", element);
	xml_write_attribute("message",
			    *first ? first : outcome_name(test->outcome), out);
	fprintf(out, " type=\"%s\">", outcome_name(test->outcome));
	if (test->failure_file) {
		_cleanup_(freep) char *shown = NULL;
		TRY(path_display(NULL, test->failure_file, &shown));
		xml_write(shown, strlen(shown), false, out);
		if (test->failure_line)
			fprintf(out, ":%u", test->failure_line);
		fputc('\n', out);
	}
	xml_write(message, strlen(message), false, out);
	fprintf(out, "</%s>\n", element);
	return NULL;
}

/* What the exit status does not follow from is skipped, with the reason. */
static struct err *write_told(const struct report_test *test, FILE *out)
{
	const char *message = test->message ? test->message : "";
	fprintf(out, "      <skipped>known: %s%s", outcome_name(test->outcome),
		*message ? ": " : "");
	xml_write(message, strlen(message), false, out);
	fputs("</skipped>\n", out);
	return NULL;
}

static bool junit_is_told(const struct report_test *test,
			  const struct map_text *explained)
{
	return verdict_has_failed(test) &&
	       verdict_why(test, explained) == WHY_KNOWN;
}

static struct err *junit_write_test(const struct report_test *test,
				    const char *class_name,
				    const struct map_text *explained,
				    bool verbose, FILE *out)
{
	bool bad = verdict_has_failed(test);
	bool output = test->output && test->output_n && (bad || verbose);

	fputs("    <testcase", out);
	xml_write_attribute("name", test->name, out);
	xml_write_attribute("classname", class_name, out);
	fprintf(out, " time=\"%.6f\"", (double)test->ns / 1e9);
	if (test->outcome == OUTCOME_PASS && !output) {
		fputs("/>\n", out);
		return NULL;
	}
	fputs(">\n", out);
	if (test->outcome == OUTCOME_SKIP) {
		fputs("      <skipped>", out);
		if (test->message)
			xml_write(test->message, strlen(test->message), false,
				  out);
		fputs("</skipped>\n", out);
	} else if (junit_is_told(test, explained)) {
		TRY(write_told(test, out));
	} else if (bad) {
		TRY(write_failure(test,
				  test->outcome == OUTCOME_FAIL ? "failure"
								: "error",
				  out));
	}
	if (output) {
		fputs("      <system-out>", out);
		xml_write(test->output, test->output_n, false, out);
		if (test->output_dropped)
			fprintf(out, "\n(%llu bytes omitted in the middle)",
				(unsigned long long)test->output_dropped);
		fputs("</system-out>\n", out);
	}
	fputs("    </testcase>\n", out);
	return NULL;
}

/* ---- findings ---- */

/* "CLASS: NAME" is what a CI system shows, and what it compares over time. */
static const char *class_of_cause(const struct cause *cause)
{
	static const char *const names[CAUSE_TYPES] = {
		[CAUSE_MEMORY] = "polygraph.memory",
		[CAUSE_FILE] = "polygraph.file",
		[CAUSE_PROCESS] = "polygraph.process",
		[CAUSE_CALL] = "polygraph.call",
		[CAUSE_LEFT] = "polygraph.left",
		[CAUSE_TEST] = "polygraph.test",
	};
	return names[cause->type];
}

/* Of an earlier run: how it failed is in its JSON. */
static struct err *append_earlier_failure(struct str *str,
					  const struct finding *finding)
{
	_cleanup_(value_freep) json_t *object = NULL;
	TRY(report_finding_json(finding, &object));
	const char *message = json_string_value(
		json_object_get(json_object_get(object, "failure"), "message"));
	return message ? str_appendf(str, "%s\n", message) : NULL;
}

/* Of a finding: what it says, where, how it failed, how to see it again. */
static struct err *junit_append_finding(struct str *str,
					const struct finding *finding)
{
	const struct report_kind *kind = report_kind_of(finding);
	TRY(str_appendf(str, "%s%s: %s\n", str->n ? "\n" : "",
			finding_severity_name(finding->severity),
			finding->message));
	if (finding->file) {
		_cleanup_(freep) char *shown = NULL;
		TRY(path_display(NULL, finding->file, &shown));
		TRY(str_appendf(str, "at %s", shown));
		if (finding->line)
			TRY(str_appendf(str, ":%u", finding->line));
		TRY(str_append(str, "\n"));
	}
	if (finding->earlier)
		TRY(append_earlier_failure(str, finding));
	else if (kind->append_detail)
		TRY(kind->append_detail(finding, str));
	if (finding->isolation)
		TRY(str_appendf(str, "%s\n", finding->isolation));
	if (finding->hint)
		TRY(str_appendf(str, "hint: %s\n", finding->hint));
	return str_appendf(str, "reproduce: %s\n", finding->replay);
}

/*
 * A cause is a test that should not fail. It does where the exit status follows from
 * it; else it passes, and says what was found. What the baseline lists is skipped; in
 * the schema that old versions of Jenkins have, only a text can say why. @suite: one
 * of several; NULL: there is but this one.
 */
static struct err *junit_write_cause(const struct cause *cause,
				     const char *suite, unsigned fail_on,
				     FILE *out)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	_cleanup_(str_freep) struct str class = STR_INIT;
	const struct finding *first = cause->findings.data[0];
	for (size_t i = 0; i < cause->findings.n; i++) {
		if (!cause->findings.data[i]->known || !cause->fresh)
			TRY(junit_append_finding(&text,
						 cause->findings.data[i]));
	}
	for (size_t i = 0; i < cause->findings.n && cause->fresh; i++) {
		first = cause->findings.data[i];
		if (!first->known)
			break;
	}
	if (suite)
		TRY(str_appendf(&class, "%s.", suite));
	TRY(str_append(&class, class_of_cause(cause)));
	fputs("    <testcase", out);
	xml_write_attribute("name", cause->name, out);
	xml_write_attribute("classname", class.s, out);
	fputs(" time=\"0\">\n", out);
	if (!verdict_counts(cause, fail_on)) {
		const char *element = cause->fresh ? "system-out" : "skipped";
		fprintf(out, "      <%s>%s", element,
			cause->fresh ? "" : "known: ");
		xml_write(text.s, text.n, false, out);
		fprintf(out, "</%s>\n    </testcase>\n", element);
		return NULL;
	}
	fputs("      <failure", out);
	xml_write_attribute("message", first->message, out);
	xml_write_attribute("type",
			    finding_severity_name(cause->fresh_severity), out);
	fputs(">", out);
	xml_write(text.s, text.n, false, out);
	fputs("</failure>\n    </testcase>\n", out);
	return NULL;
}

/* Causes as a suite of their own. */
static struct err *junit_write_causes(const struct report *report,
				      const struct causes *causes,
				      const struct report_verdict *verdict,
				      FILE *out)
{
	if (!causes->n)
		return NULL;
	fputs("  <testsuite", out);
	xml_write_attribute("name", report->kind, out);
	fprintf(out,
		" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
		"skipped=\"%zu\" time=\"0\">\n",
		causes->n, verdict->counted, causes->n - verdict->fresh);
	for (size_t i = 0; i < causes->n; i++)
		TRY(junit_write_cause(&causes->data[i], NULL, report->fail_on,
				      out));
	fputs("  </testsuite>\n", out);
	return NULL;
}

/*
 * Where a test is: no schema of Jenkins has room for it in the test itself, and
 * all of them have it here.
 */
static struct err *write_place(const struct report_test *test, FILE *out)
{
	_cleanup_(str_freep) struct str name = STR_INIT;
	_cleanup_(str_freep) struct str place = STR_INIT;
	_cleanup_(freep) char *shown = NULL;
	if (!test->file)
		return NULL;
	TRY(path_display(NULL, test->file, &shown));
	TRY(str_appendf(&name, "place: %s", test->name));
	TRY(str_append(&place, shown));
	if (test->line)
		TRY(str_appendf(&place, ":%u", test->line));
	fputs("      <property", out);
	xml_write_attribute("name", name.s, out);
	xml_write_attribute("value", place.s, out);
	fputs("/>\n", out);
	return NULL;
}

static struct err *write_properties(const struct report *report, FILE *out)
{
	bool places = false;
	for (size_t i = 0; i < report->n; i++)
		places |= report->tests[i].file != NULL;
	if (!report->seed && !report->n_limits && !places)
		return NULL;
	fputs("    <properties>\n", out);
	if (report->seed)
		fprintf(out, "      <property name=\"seed\" value=\"%llu\"/>\n",
			(unsigned long long)*report->seed);
	for (size_t i = 0; i < report->n_limits; i++) {
		fputs("      <property name=\"limit\"", out);
		xml_write_attribute("value", report->limits[i], out);
		fputs("/>\n", out);
	}
	for (size_t i = 0; i < report->n; i++)
		TRY(write_place(&report->tests[i], out));
	fputs("    </properties>\n", out);
	return NULL;
}

/* ---- suites ---- */

/* What there is to say of a report. */
struct junit_parts {
	struct causes causes;
	struct map_text explained;
	struct report_verdict verdict;
	struct junit_counts tests; /* without causes */
};

static void junit_parts_free(struct junit_parts *parts)
{
	causes_free(&parts->causes);
	map_text_free(&parts->explained);
}

static struct err *junit_take_apart(const struct report *report,
				    struct junit_parts *parts)
{
	struct junit_counts *counts = &parts->tests;
	TRY(causes_group(report, &parts->causes));
	TRY(verdict_judge(report, &parts->causes, &parts->verdict));
	TRY(verdict_explained(report, &parts->explained));
	counts->tests = report->n;
	for (size_t i = 0; i < report->n; i++) {
		const struct report_test *test = &report->tests[i];
		if (test->outcome == OUTCOME_SKIP ||
		    junit_is_told(test, &parts->explained))
			counts->skipped++;
		else if (test->outcome == OUTCOME_FAIL)
			counts->failures++;
		else
			counts->errors += verdict_has_failed(test);
	}
	return NULL;
}

/* With its causes. */
static struct junit_counts junit_sum(const struct junit_parts *parts)
{
	const struct junit_counts *tests = &parts->tests;
	const struct report_verdict *verdict = &parts->verdict;
	return (struct junit_counts){
		.tests = tests->tests + verdict->problems,
		.failures = tests->failures + verdict->counted,
		.errors = tests->errors,
		.skipped = tests->skipped + verdict->problems - verdict->fresh,
	};
}

static void junit_open_suite(const char *name,
			     const struct junit_counts *counts, double seconds,
			     FILE *out)
{
	fputs("  <testsuite", out);
	xml_write_attribute("name", name, out);
	fprintf(out,
		" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		"skipped=\"%zu\" time=\"%.6f\">\n",
		counts->tests, counts->failures, counts->errors,
		counts->skipped, seconds);
}

static struct err *junit_write_tests(const struct report *report,
				     const struct junit_parts *parts,
				     const char *class_name, bool verbose,
				     FILE *out)
{
	TRY(write_properties(report, out));
	for (size_t i = 0; i < report->n; i++)
		TRY(junit_write_test(&report->tests[i], class_name,
				     &parts->explained, verbose, out));
	return NULL;
}

void junit_begin(const struct junit_counts *counts, double seconds, FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
	fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"",
		counts->tests, counts->failures, counts->errors);
	if (seconds >= 0)
		fprintf(out, " time=\"%.6f\"", seconds);
	fputs(">\n", out);
}

void junit_end(FILE *out)
{
	fputs("</testsuites>\n", out);
}

/* Of a suite that could not be run: an error of its own. */
static void junit_put_message(const struct junit_suite *suite, FILE *out)
{
	fputs("    <testcase name=\"(the suite)\"", out);
	xml_write_attribute("classname", suite->name, out);
	fputs(" time=\"0\">\n      <error", out);
	xml_write_attribute("message", suite->message, out);
	fputs(" type=\"suite\"/>\n    </testcase>\n", out);
}

struct err *junit_put_suite(const struct junit_suite *suite,
			    struct junit_counts *counts, FILE *out)
{
	const struct report *report = suite->report;
	_cleanup_(junit_parts_free) struct junit_parts parts = {};
	if (report)
		TRY(junit_take_apart(report, &parts));
	struct junit_counts sum = junit_sum(&parts);
	sum.tests += suite->message != NULL;
	sum.errors += suite->message != NULL;
	counts->tests += sum.tests;
	counts->failures += sum.failures;
	counts->errors += sum.errors;
	counts->skipped += sum.skipped;
	if (!out)
		return NULL;
	junit_open_suite(suite->name, &sum, suite->seconds, out);
	if (report)
		TRY(junit_write_tests(report, &parts, suite->name, false, out));
	for (size_t i = 0; i < parts.causes.n; i++)
		TRY(junit_write_cause(&parts.causes.data[i], suite->name,
				      report->fail_on, out));
	if (suite->message)
		junit_put_message(suite, out);
	fputs("  </testsuite>\n", out);
	return NULL;
}

static struct err *junit_write(const struct report *report,
			       const struct report_style *style, FILE *out)
{
	_cleanup_(junit_parts_free) struct junit_parts parts = {};
	double seconds = (double)report->ns / 1e9;
	/* Of a process suite the first word is "--ctest". */
	const char *suite = report->command[0][0] == '-'
				    ? report->framework
				    : path_base(report->command[0]);
	TRY(junit_take_apart(report, &parts));
	struct junit_counts sum = junit_sum(&parts);
	junit_begin(&sum, seconds, out);
	junit_open_suite(suite, &parts.tests, seconds, out);
	TRY(junit_write_tests(report, &parts, suite, style->verbose, out));
	fputs("  </testsuite>\n", out);
	TRY(junit_write_causes(report, &parts.causes, &parts.verdict, out));
	junit_end(out);
	return NULL;
}

const struct report_format report_junit = {
	.name = "junit",
	.write = junit_write,
};

/*
 * JUnit XML, as CI systems read it (the schema of Jenkins' xunit plugin and
 * what GitLab and GitHub actions made of it): failures are failed assertions,
 * errors are crashes and time-outs.
 *
 * Written by hand: the few elements need no library, only the escaping has to
 * be right. XML 1.0 cannot hold control characters at all, so they become \xNN, and
 * so do those that would mislead who reads the file (str_misleads()).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "report/kind.h"

/* U+FFFE and U+FFFF are not characters of XML 1.0 (section 2.2). */
static bool xml_forbids(const char *p, size_t n)
{
	unsigned char c = (unsigned char)*p;
	return !n || (c < 0x20 && c != '\n' && c != '\t') ||
	       str_misleads(p, n) ||
	       (n == 3 && !memcmp(p, "\xef\xbf", 2) &&
		(unsigned char)p[2] >= 0xbe);
}

static void write_escaped(const char *text, size_t n, bool attribute, FILE *out)
{
	for (size_t i = 0; i < n;) {
		size_t length = str_utf8_length(text + i, n - i);
		if (xml_forbids(text + i, length)) {
			for (size_t j = 0; j < MAX(length, (size_t)1); j++)
				fprintf(out, "\\x%02x",
					(unsigned char)text[i + j]);
			i += MAX(length, (size_t)1);
			continue;
		}
		switch (text[i]) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs(attribute ? "&quot;" : "\"", out);
			break;
		case '\n':
			fputs(attribute ? "&#10;" : "\n", out);
			break;
		case '\t':
			fputs(attribute ? "&#9;" : "\t", out);
			break;
		default:
			fwrite(text + i, 1, length, out);
		}
		i += length;
	}
}

static void write_attribute(const char *key, const char *text, FILE *out)
{
	fprintf(out, " %s=\"", key);
	write_escaped(text, strlen(text), true, out);
	fputc('"', out);
}

static struct err *write_place(const char *file, unsigned line, FILE *out)
{
	if (!file)
		return NULL;
	_cleanup_(freep) char *shown = NULL;
	TRY(path_display(NULL, file, &shown));
	write_attribute("file", shown, out);
	if (line)
		fprintf(out, " line=\"%u\"", line);
	return NULL;
}

/* First line of @message; the rest is in the element's text. */
static struct err *write_failure(const struct report_test *test,
				 const char *element, FILE *out)
{
	const char *message = test->message ? test->message : "";
	_cleanup_(freep) char *first = strndup(message, strcspn(message, "\n"));
	if (!first)
		return err_nomem();
	fprintf(out, "      <%s", element);
	write_attribute("message", *first ? first : outcome_name(test->outcome),
			out);
	fprintf(out, " type=\"%s\">", outcome_name(test->outcome));
	if (test->failure_file) {
		_cleanup_(freep) char *shown = NULL;
		TRY(path_display(NULL, test->failure_file, &shown));
		write_escaped(shown, strlen(shown), false, out);
		if (test->failure_line)
			fprintf(out, ":%u", test->failure_line);
		fputc('\n', out);
	}
	write_escaped(message, strlen(message), false, out);
	fprintf(out, "</%s>\n", element);
	return NULL;
}

static struct err *junit_write_test(const struct report_test *test,
				    const char *class_name, bool verbose,
				    FILE *out)
{
	bool bad =
		test->outcome != OUTCOME_PASS && test->outcome != OUTCOME_SKIP;
	bool output = test->output && test->output_n && (bad || verbose);

	fputs("    <testcase", out);
	write_attribute("name", test->name, out);
	write_attribute("classname", class_name, out);
	TRY(write_place(test->file, test->line, out));
	fprintf(out, " time=\"%.6f\"", (double)test->ns / 1e9);
	if (test->outcome == OUTCOME_PASS && !output) {
		fputs("/>\n", out);
		return NULL;
	}
	fputs(">\n", out);
	if (test->outcome == OUTCOME_SKIP) {
		fputs("      <skipped", out);
		if (test->message)
			write_attribute("message", test->message, out);
		fputs("/>\n", out);
	} else if (bad) {
		TRY(write_failure(test,
				  test->outcome == OUTCOME_FAIL ? "failure"
								: "error",
				  out));
	}
	if (output) {
		fputs("      <system-out>", out);
		write_escaped(test->output, test->output_n, false, out);
		if (test->output_dropped)
			fprintf(out, "\n(%llu bytes omitted in the middle)",
				(unsigned long long)test->output_dropped);
		fputs("</system-out>\n", out);
	}
	fputs("    </testcase>\n", out);
	return NULL;
}

static struct err *junit_write_finding(const struct finding *finding, FILE *out)
{
	const struct report_kind *kind = report_kind_of(finding);
	_cleanup_(str_freep) struct str name = STR_INIT;
	_cleanup_(str_freep) struct str detail = STR_INIT;
	TRY(str_append(&name, finding_test(finding)));
	if (kind->subject && !finding->earlier)
		TRY(str_appendf(&name, ": %s", kind->subject(finding)));
	fputs("    <testcase", out);
	write_attribute("name", name.s, out);
	write_attribute("classname", finding->kind->name, out);
	TRY(write_place(finding->file, finding->line, out));
	if (finding->known) {
		fputs("/>\n", out);
		return NULL;
	}
	fputs(">\n      <failure", out);
	write_attribute("message", finding->message, out);
	write_attribute("type", finding_severity_name(finding->severity), out);
	fputs(">", out);
	if (kind->append_detail && !finding->earlier)
		TRY(kind->append_detail(finding, &detail));
	write_escaped(detail.s, detail.n, false, out);
	write_escaped(finding->replay, strlen(finding->replay), false, out);
	fputs("</failure>\n    </testcase>\n", out);
	return NULL;
}

/* Findings as a suite of their own: each is a test that should not fail. */
static struct err *junit_write_findings(const struct report *report, FILE *out)
{
	size_t new = report_new_findings(report);
	if (!report->n_findings)
		return NULL;
	fputs("  <testsuite", out);
	write_attribute("name", report->kind, out);
	fprintf(out,
		" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
		"skipped=\"0\">\n",
		report->n_findings, new);
	for (size_t i = 0; i < report->n_findings; i++)
		TRY(junit_write_finding(&report->findings[i], out));
	fputs("  </testsuite>\n", out);
	return NULL;
}

static struct err *junit_write(const struct report *report,
			       const struct report_style *style, FILE *out)
{
	struct report_counts counts = report_count(report);
	/* Of a process suite the first word is "--ctest". */
	const char *suite = report->command[0][0] == '-'
				    ? report->framework
				    : path_base(report->command[0]);

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
	fprintf(out,
		" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		"skipped=\"%zu\" time=\"%.6f\">\n  <testsuite",
		report->n + report->n_findings,
		counts.of[OUTCOME_FAIL] + report_new_findings(report),
		counts.of[OUTCOME_CRASH] + counts.of[OUTCOME_TIMEOUT],
		counts.of[OUTCOME_SKIP], (double)report->ns / 1e9);
	write_attribute("name", suite, out);
	fprintf(out,
		" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		"skipped=\"%zu\" time=\"%.6f\">\n",
		report->n, counts.of[OUTCOME_FAIL],
		counts.of[OUTCOME_CRASH] + counts.of[OUTCOME_TIMEOUT],
		counts.of[OUTCOME_SKIP], (double)report->ns / 1e9);
	if (report->seed || report->n_limits) {
		fputs("    <properties>\n", out);
		if (report->seed)
			fprintf(out,
				"      <property name=\"seed\" "
				"value=\"%llu\"/>\n",
				(unsigned long long)*report->seed);
		for (size_t i = 0; i < report->n_limits; i++) {
			fputs("      <property name=\"limit\"", out);
			write_attribute("value", report->limits[i], out);
			fputs("/>\n", out);
		}
		fputs("    </properties>\n", out);
	}
	for (size_t i = 0; i < report->n; i++)
		TRY(junit_write_test(&report->tests[i], suite, style->verbose,
				     out));
	fputs("  </testsuite>\n", out);
	TRY(junit_write_findings(report, out));
	fputs("</testsuites>\n", out);
	return NULL;
}

const struct report_format report_junit = {
	.name = "junit",
	.write = junit_write,
};

#include "report/report.h"

#include <string.h>

static const struct report_format *const formats[] = {
	&report_text, &report_json, &report_junit, &report_sarif, &report_html,
};

const struct report_format *report_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	}
	return NULL;
}

struct report_counts report_count(const struct report *report)
{
	struct report_counts counts = {};
	for (size_t i = 0; i < report->n; i++) {
		const struct report_test *test = &report->tests[i];
		counts.of[test->outcome]++;
		if (test->disabled && test->outcome == OUTCOME_SKIP)
			counts.disabled++;
	}
	return counts;
}

bool report_has_failures(const struct report *report)
{
	struct report_counts counts = report_count(report);
	return counts.of[OUTCOME_FAIL] || counts.of[OUTCOME_CRASH] ||
	       counts.of[OUTCOME_TIMEOUT];
}

size_t report_new_findings(const struct report *report)
{
	size_t n = 0;
	for (size_t i = 0; i < report->n_findings; i++)
		n += !report->findings[i].known;
	return n;
}

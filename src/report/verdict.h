/*
 * What a report comes to. It is counted here, once: the last line of a text, the
 * totals of JSON, what fails in JUnit, and the exit status all read the same struct.
 *
 *	6 problems (2 new) in 20 tests; start with: polygraph replay order-1052f0457994
 *
 * A problem is a cause (report/cause.h). Those of which all findings are known are
 * not new. A new one counts if one of its new findings is as severe as --fail-on
 * says. Tests that fail although no finding says why, and the baseline does not
 * list them, fail on their own.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "report/cause.h"

/* --fail-on none: nothing is as severe as that. */
#define FAIL_ON_NONE (FINDING_HIGH + 1)

struct report_verdict {
	size_t suites; /* 0: it is of one, which need not be said */
	size_t unrun;  /* those that could not be run */
	size_t tests, skipped, disabled;
	size_t failing;		     /* tests, on their own */
	size_t of[FINDING_HIGH + 1]; /* problems by severity */
	size_t problems, fresh, counted;
	unsigned fail_on;
	/* The first finding of the worst problem that is new; NULL: none is. */
	const struct finding *lead;
};

struct err *verdict_judge(const struct report *report,
			  const struct causes *causes,
			  struct report_verdict *ret) _must_check_;
/* "medium", "none" */
const char *verdict_fail_on(unsigned fail_on);
/* Does the exit status follow from it? */
static inline bool verdict_counts(const struct cause *cause, unsigned fail_on)
{
	return cause->fresh && (unsigned)cause->fresh_severity >= fail_on;
}
/*
 * What nobody is expected to act on: it misleads no test, its severity is low, and
 * the exit status does not follow from it. Text has their number in a line.
 */
bool verdict_is_minor(enum finding_severity severity, size_t misled,
		      bool counts);
/* "2 more problems of low severity are not listed (--all lists them)" */
void verdict_tell_minor(size_t minor, bool more,
			const struct report_style *style, FILE *out);
/* 0; 1: problems that count; 3: tests that fail on their own. */
int verdict_status(const struct report_verdict *verdict);
/* Problems by severity, as JSON; NULL: no memory. */
struct json_t *verdict_problems(const struct report_verdict *verdict);
/* "6 problems (2 new) in 20 tests" */
struct err *verdict_append(const struct report_verdict *verdict,
			   struct str *str) _must_check_;
/* With @start, the command to begin with; NULL: none. Nothing if quiet and good. */
struct err *verdict_put(const struct report_verdict *verdict, const char *start,
			const struct report_style *style,
			FILE *out) _must_check_;

/* Nothing of a report that has no findings by its nature, such as a list. */
struct err *verdict_write(const struct report *report,
			  const struct causes *causes,
			  const struct report_style *style,
			  FILE *out) _must_check_;
/* The same, where nothing else of the report is shown. */
struct err *verdict_write_alone(const struct report *report,
				const struct report_style *style,
				FILE *out) _must_check_;
/* Were findings looked for? */
bool verdict_applies(const struct report *report);

/* Why a test fails in the suite's own order, as far as findings say. */
enum verdict_why {
	WHY_OWN = 1, /* on its own; or so the report says */
	WHY_KNOWN,   /* it is known, or told and no more */
	WHY_COUNTED, /* a finding that counts */
};
bool verdict_has_failed(const struct report_test *test);
/* Of all tests with such a finding; others are not in @ret. */
struct err *verdict_explained(const struct report *report,
			      struct map_text *ret) _must_check_;
/* Of one that fails; @explained: of all. */
enum verdict_why verdict_why(const struct report_test *test,
			     const struct map_text *explained);

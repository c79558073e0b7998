#include "report/verdict.h"

#include <jansson.h>
#include <string.h>

#include "report/block.h"
#include "report/kind.h"

#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"

bool verdict_applies(const struct report *report)
{
	static const char *const others[] = { "list", "run", "models" };
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!strcmp(report->kind, others[i]))
			return false;
	}
	return true;
}

/* Of a report that is shown again, as it says itself. */
static bool says_explained(const struct finding *finding)
{
	json_t *object = json_loads(finding->earlier, 0, NULL);
	bool explained =
		json_is_true(json_object_get(object, "explains_failure"));
	json_decref(object);
	return explained;
}

static bool explains_failure(const struct finding *finding)
{
	const struct report_kind *kind = report_kind_of(finding);
	if (finding->earlier)
		return finding->rendered && says_explained(finding);
	return kind->explains_failure && kind->explains_failure(finding);
}

struct err *verdict_explained(const struct report *report, struct map_text *ret)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct finding *finding = &report->findings[i];
		bool counts = !finding->known &&
			      (unsigned)finding->severity >= report->fail_on;
		uint64_t why = 0;
		if (!explains_failure(finding))
			continue;
		map_text_get(ret, finding_test(finding), &why);
		TRY(map_text_put(ret, finding_test(finding),
				 counts || why == WHY_COUNTED ? WHY_COUNTED
							      : WHY_KNOWN));
	}
	return NULL;
}

enum verdict_why verdict_why(const struct report_test *test,
			     const struct map_text *explained)
{
	uint64_t why;
	if (map_text_get(explained, test->name, &why))
		return (enum verdict_why)why;
	return test->known ? WHY_KNOWN : WHY_OWN;
}

bool verdict_has_failed(const struct report_test *test)
{
	return test->outcome != OUTCOME_PASS && test->outcome != OUTCOME_SKIP &&
	       test->outcome != OUTCOME_NONE;
}

const char *verdict_fail_on(unsigned fail_on)
{
	return fail_on >= FAIL_ON_NONE
		       ? "none"
		       : finding_severity_name((enum finding_severity)fail_on);
}

static struct err *count_failing(const struct report *report, size_t *ret)
{
	_cleanup_(map_text_freep) struct map_text explained = MAP_INIT;
	TRY(verdict_explained(report, &explained));
	*ret = 0;
	for (size_t i = 0; i < report->n; i++)
		*ret += verdict_has_failed(&report->tests[i]) &&
			verdict_why(&report->tests[i], &explained) == WHY_OWN;
	return NULL;
}

struct err *verdict_judge(const struct report *report,
			  const struct causes *causes,
			  struct report_verdict *ret)
{
	struct report_counts counts = report_count(report);
	const struct cause *worst = NULL;
	*ret = (struct report_verdict){
		.tests = report->distinct,
		.skipped = counts.of[OUTCOME_SKIP],
		.disabled = counts.disabled,
		.problems = causes->n,
		.fail_on = report->fail_on,
	};
	for (size_t i = 0; i < causes->n; i++) {
		const struct cause *cause = &causes->data[i];
		ret->of[cause->severity]++;
		ret->fresh += cause->fresh != 0;
		ret->counted += verdict_counts(cause, report->fail_on);
		if (cause->fresh &&
		    (!worst || cause->fresh_severity > worst->fresh_severity))
			worst = cause;
	}
	ret->lead = worst ? block_lead(worst) : NULL;
	return count_failing(report, &ret->failing);
}

bool verdict_is_minor(enum finding_severity severity, size_t misled,
		      bool counts)
{
	return severity == FINDING_LOW && !misled && !counts;
}

void verdict_tell_minor(size_t minor, bool more,
			const struct report_style *style, FILE *out)
{
	bool one = minor == 1;
	if (!minor || style->quiet)
		return;
	fprintf(out, "%s%zu %sproblem%s of low severity %s not listed (%s)%s\n",
		style->color ? DIM : "", minor, more ? "more " : "",
		one ? "" : "s", one ? "is" : "are",
		one ? "--all lists it" : "--all lists them",
		style->color ? RESET : "");
}

int verdict_status(const struct report_verdict *verdict)
{
	return verdict->counted			    ? 1
	       : verdict->failing || verdict->unrun ? 3
						    : 0;
}

json_t *verdict_problems(const struct report_verdict *verdict)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "high",
			 (json_int_t)verdict->of[FINDING_HIGH], "medium",
			 (json_int_t)verdict->of[FINDING_MEDIUM], "low",
			 (json_int_t)verdict->of[FINDING_LOW], "new",
			 (json_int_t)verdict->fresh, "known",
			 (json_int_t)(verdict->problems - verdict->fresh),
			 "counted", (json_int_t)verdict->counted);
}

static const char *plural_of(size_t n)
{
	return n == 1 ? "" : "s";
}

/* " (2 new, 1 of them below severity medium)" */
static struct err *append_parts(const struct report_verdict *verdict,
				struct str *str)
{
	size_t below = verdict->counted ? verdict->fresh - verdict->counted : 0;
	bool some = verdict->fresh && verdict->fresh < verdict->problems;
	if (some)
		TRY(str_appendf(str, " (%zu new", verdict->fresh));
	if (below)
		TRY(str_appendf(
			str, "%s%zu %sbelow severity %s", some ? ", " : " (",
			below, some ? "of them " : "",
			finding_severity_name(
				(enum finding_severity)verdict->fail_on)));
	return some || below ? str_append(str, ")") : NULL;
}

/* ", none of severity medium or higher": nothing that is new counts. */
static struct err *append_none(const struct report_verdict *verdict,
			       struct str *str)
{
	unsigned fail_on = verdict->fail_on;
	if (!verdict->fresh || verdict->counted)
		return NULL;
	if (fail_on >= FAIL_ON_NONE)
		return str_append(str, ", none of which counts "
				       "(--fail-on none)");
	return str_appendf(str, ", %s of severity %s%s",
			   verdict->fresh < verdict->problems ? "no new one"
							      : "none",
			   verdict_fail_on(fail_on),
			   fail_on < FINDING_HIGH ? " or higher" : "");
}

struct err *verdict_append(const struct report_verdict *verdict,
			   struct str *str)
{
	size_t n = verdict->problems;
	if (!n)
		TRY(str_append(str, "no problem found"));
	else if (!verdict->fresh)
		TRY(str_appendf(str, "no new problem (%zu known)", n));
	else
		TRY(str_appendf(str, "%zu problem%s", n, plural_of(n)));
	TRY(append_parts(verdict, str));
	TRY(str_appendf(str, " in %zu test%s", verdict->tests,
			plural_of(verdict->tests)));
	if (verdict->skipped)
		TRY(str_appendf(str, " (%zu %s)", verdict->skipped,
				verdict->disabled == verdict->skipped
					? "disabled"
					: "skipped"));
	if (verdict->suites)
		TRY(str_appendf(str, " of %zu suite%s", verdict->suites,
				plural_of(verdict->suites)));
	TRY(append_none(verdict, str));
	if (verdict->failing)
		TRY(str_appendf(str, ", of which %zu fail%s", verdict->failing,
				verdict->failing == 1 ? "s" : ""));
	return verdict->unrun
		       ? str_appendf(str, "; %zu suite%s could not be run",
				     verdict->unrun, plural_of(verdict->unrun))
		       : NULL;
}

struct err *verdict_put(const struct report_verdict *verdict, const char *start,
			const struct report_style *style, FILE *out)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	int status = verdict_status(verdict);
	if (style->quiet && !status && !verdict->fresh)
		return NULL;
	TRY(verdict_append(verdict, &line));
	if (start)
		TRY(str_appendf(&line, "; start with: %s", start));
	const char *color = status ? RED : verdict->fresh ? YELLOW : GREEN;
	fprintf(out, "%s%s%s\n", style->color ? color : "", line.s,
		style->color ? RESET : "");
	return NULL;
}

struct err *verdict_write(const struct report *report,
			  const struct causes *causes,
			  const struct report_style *style, FILE *out)
{
	_cleanup_(str_freep) struct str start = STR_INIT;
	struct report_verdict verdict;
	if (report->in_replay)
		return NULL;
	TRY(verdict_judge(report, causes, &verdict));
	if (verdict.lead)
		TRY(str_appendf(&start, "polygraph replay %s",
				verdict.lead->id));
	return verdict_put(&verdict, start.s, style, out);
}

struct err *verdict_write_alone(const struct report *report,
				const struct report_style *style, FILE *out)
{
	_cleanup_(causes_free) struct causes causes = {};
	if (!strcmp(report->kind, "repair"))
		return repair_write_verdict(report, style, out);
	if (!verdict_applies(report))
		return NULL;
	TRY(causes_group(report, &causes));
	return verdict_write(report, &causes, style, out);
}

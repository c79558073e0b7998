#include "report/verdict.h"

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
		if (explains_failure(finding))
			TRY(map_text_put(ret, finding_test(finding), 1));
	}
	return NULL;
}

/* Tests that fail without a finding that says why. */
static struct err *count_own_failures(const struct report *report, size_t *ret)
{
	_cleanup_(map_text_freep) struct map_text explained = MAP_INIT;
	TRY(verdict_explained(report, &explained));
	*ret = 0;
	for (size_t i = 0; i < report->n; i++) {
		const struct report_test *test = &report->tests[i];
		uint64_t is_explained;
		*ret += test->outcome != OUTCOME_PASS &&
			test->outcome != OUTCOME_SKIP &&
			!map_text_get(&explained, test->name, &is_explained);
	}
	return NULL;
}

static const char *plural_of(size_t n)
{
	return n == 1 ? "" : "s";
}

/* The worst that is new: what counts for the exit status. */
static const struct cause *first_new(const struct causes *causes)
{
	for (size_t i = 0; i < causes->n; i++) {
		if (causes->data[i].fresh)
			return &causes->data[i];
	}
	return NULL;
}

static struct err *append_problems(const struct report *report,
				   const struct causes *causes, struct str *str)
{
	size_t known = 0;
	for (size_t i = 0; i < causes->n; i++)
		known += !causes->data[i].fresh;
	if (!causes->n)
		TRY(str_append(str, "no problem found"));
	else if (known == causes->n)
		TRY(str_appendf(str, "no new problem (%zu known)", known));
	else
		TRY(str_appendf(str, "%zu problem%s", causes->n,
				plural_of(causes->n)));
	if (known && known < causes->n)
		TRY(str_appendf(str, " (%zu new)", causes->n - known));
	TRY(str_appendf(str, " in %zu test%s", report->distinct,
			plural_of(report->distinct)));
	struct report_counts counts = report_count(report);
	size_t skipped = counts.of[OUTCOME_SKIP];
	return skipped ? str_appendf(str, " (%zu %s)", skipped,
				     counts.disabled == skipped ? "disabled"
								: "skipped")
		       : NULL;
}

struct err *verdict_write(const struct report *report,
			  const struct causes *causes,
			  const struct report_style *style, FILE *out)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	const struct cause *worst = first_new(causes);
	const struct finding *lead = worst ? block_lead(worst) : NULL;
	bool minor = lead && lead->severity < report->fail_on;
	size_t failures;
	TRY(count_own_failures(report, &failures));
	if (report->in_replay || (style->quiet && !worst && !failures))
		return NULL;
	TRY(append_problems(report, causes, &line));
	if (minor)
		TRY(str_appendf(&line, ", none of severity %s%s",
				finding_severity_name(report->fail_on),
				report->fail_on < FINDING_HIGH ? " or higher"
							       : ""));
	if (failures)
		TRY(str_appendf(&line, ", of which %zu fail%s", failures,
				failures == 1 ? "s" : ""));
	if (lead)
		TRY(str_appendf(&line, "; start with: polygraph replay %s",
				lead->id));
	const char *color = (lead && !minor) || failures ? RED
			    : lead			 ? YELLOW
							 : GREEN;
	fprintf(out, "%s%s%s\n", style->color ? color : "", line.s,
		style->color ? RESET : "");
	return NULL;
}

struct err *verdict_write_alone(const struct report *report,
				const struct report_style *style, FILE *out)
{
	_cleanup_(causes_free) struct causes causes = {};
	if (!verdict_applies(report))
		return NULL;
	TRY(causes_group(report, &causes));
	return verdict_write(report, &causes, style, out);
}

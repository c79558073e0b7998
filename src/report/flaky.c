/* Tests that pass and fail in identical runs. */
#include "finding/flaky.h"

#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"

/* "T: flaky: failed in 7 of 30 identical runs alone" */
static struct err *flaky_write_head(const struct finding *finding,
				    const struct report_style *style, FILE *out)
{
	const struct flaky *flaky = flaky_of(finding);
	_cleanup_(str_freep) struct str line = STR_INIT;
	_cleanup_(str_freep) struct str remarks = STR_INIT;
	TRY(words_append(&line, finding_test(finding)));
	TRY(str_appendf(&line, ": flaky: failed in %zu of %zu identical runs ",
			flaky->failures, flaky->runs));
	TRY(dependence_append_order(&line, finding->tests, &flaky->order));
	if (finding->known)
		TRY(str_append(&remarks, "known"));
	kind_write_head(finding, &line, &remarks, style, out);
	return NULL;
}

static struct err *flaky_write_finding(const struct finding *finding,
				       const struct report_style *style,
				       FILE *out)
{
	const struct finding_failure *failure = &flaky_of(finding)->failure;
	_cleanup_(str_freep) struct str failed = STR_INIT;
	TRY(flaky_write_head(finding, style, out));
	if (style->quiet)
		return NULL;
	TRY(words_append_failure(&failed, failure->outcome, failure->file,
				 failure->line, failure->message));
	kind_write_indented(&failed, out);
	TRY(kind_write_hint(finding, out));
	return kind_write_replay(finding, out);
}

/* "T fails in 7 of 30 identical runs alone" */
static struct err *flaky_append_head(const struct finding *finding,
				     struct str *line)
{
	const struct flaky *flaky = flaky_of(finding);
	TRY(words_append(line, finding_test(finding)));
	TRY(str_appendf(line, " is flaky: %s in %zu of %zu identical runs ",
			words_verb(flaky->failure.outcome), flaky->failures,
			flaky->runs));
	return dependence_append_order(line, finding->tests, &flaky->order);
}

static const struct finding_failure *
flaky_failure(const struct finding *finding)
{
	return &flaky_of(finding)->failure;
}

/* Where others are counted, so are these; there is no line for none. */
static struct err *flaky_write_summary(const struct report *report,
				       const struct report_style *style,
				       FILE *out)
{
	size_t all = 0;
	for (size_t i = 0; i < report->n_findings; i++)
		all += flaky_of(&report->findings[i]) != NULL;
	if (all && !style->quiet)
		fprintf(out, "%zu flaky test%s, not order-dependent\n", all,
			all == 1 ? "" : "s");
	return NULL;
}

static bool flaky_explains_failure(const struct finding *finding)
{
	return flaky_of(finding);
}

static json_t *flaky_make_fields(const struct finding *finding)
{
	const struct flaky *flaky = flaky_of(finding);
	const struct finding_failure *failure = &flaky->failure;
	return json_pack(
		"{s:I, s:I, s:o, s:s, s:o}", "runs", (json_int_t)flaky->runs,
		"failures", (json_int_t)flaky->failures, "order",
		value_tests(finding->tests, flaky->order.data, flaky->order.n),
		"outcome", outcome_name(failure->outcome), "failure",
		value_failure(failure->file, failure->line, failure->message));
}

static struct err *flaky_append_detail(const struct finding *finding,
				       struct str *str)
{
	const char *message = flaky_of(finding)->failure.message;
	if (!message)
		return NULL;
	TRY(str_append(str, message));
	return str_append(str, "\n");
}

const struct report_kind report_flaky = {
	.kind = &flaky_kind,
	.help = "docs/order.md#flaky-tests",
	.title = "Test is flaky",
	.about = "In one and the same order, from the same state and the same "
		 "files, the test passed and it failed. Look for time, "
		 "threads, random numbers, addresses and the network in it.",
	.append_head = flaky_append_head,
	.failure = flaky_failure,
	.write_finding = flaky_write_finding,
	.write_summary = flaky_write_summary,
	.explains_failure = flaky_explains_failure,
	.make_fields = flaky_make_fields,
	.append_detail = flaky_append_detail,
};

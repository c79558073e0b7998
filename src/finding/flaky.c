#include "finding/flaky.h"

#include <stdlib.h>

#include "base/clock.h"
#include "finding/words.h"

#define RUNS_CHEAP 30
#define RUNS_SLOW 10
/* All runs of a cheap one take less than that. */
#define CHEAP_NS (15 * NS_PER_S)

void flaky_free(struct flaky *flaky)
{
	vec_free(&flaky->order);
	finding_failure_free(&flaky->failure);
	*flaky = (struct flaky){};
}

static void flaky_destroy(void *evidence)
{
	flaky_free(evidence);
	free(evidence);
}

const struct finding_kind flaky_kind = {
	.name = "flaky",
	.prefix = "flaky",
	.command = "order",
	.free = flaky_destroy,
};

size_t flaky_runs(uint64_t ns)
{
	return ns < CHEAP_NS / RUNS_CHEAP ? RUNS_CHEAP : RUNS_SLOW;
}

/* "T is flaky: it passes and fails in identical runs after A" */
static struct err *flaky_make_message(const struct finding_run *run,
				      const struct flaky *flaky, char **ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(words_append(&text, roster_name(run->tests, flaky->test)));
	TRY(str_appendf(&text, " is flaky: it passes and %s in identical runs ",
			words_verb(flaky->failure.outcome)));
	TRY(dependence_append_order(&text, run->tests, &flaky->order));
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

struct err *flaky_finding_make(const struct finding_run *run,
			       const char *detector, struct flaky *flaky,
			       struct finding *ret)
{
	_cleanup_(finding_free) struct finding finding = {
		.kind = &flaky_kind,
		.detector = detector,
		.tests = run->tests,
		.test = flaky->test,
		.severity = FINDING_HIGH,
		.file = flaky->failure.file,
		.line = flaky->failure.line,
	};
	/* Of the test alone: the order in which it was seen may be another. */
	TRY(finding_id(&flaky_kind, 0, roster_name(run->tests, flaky->test),
		       NULL, &finding.id));
	TRY(flaky_make_message(run, flaky, &finding.message));
	TRY(finding_replay(finding.id, &finding.replay));
	TRY(finding_take_evidence(&finding, flaky, sizeof(*flaky)));
	*ret = finding;
	finding = (struct finding){};
	return NULL;
}

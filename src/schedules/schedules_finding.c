/* From a schedule under which a test fails to a finding. */
#include <string.h>

#include "base/clock.h"
#include "finding/words.h"
#include "schedules/schedules_internal.h"

/* What a busy machine brings about easily, seldom, hardly. */
#define MARGIN_HIGH (100 * NS_PER_MS)
#define MARGIN_MEDIUM (400 * NS_PER_MS)
/* Lines of the time line. */
#define STEPS_MAX ((size_t)40)

struct err *schedules_copy_place(const struct suite_moment *moment,
				 struct arrival_place *ret)
{
	char *file = NULL;
	TRY(str_copy(moment->file, &file));
	free(ret->file);
	*ret = (struct arrival_place){ file, moment->line, moment->column };
	return NULL;
}

static const enum arrival_step_kind step_kinds[] = {
	[SUITE_MOMENT_STATEMENT] = ARRIVAL_STATEMENT,
	[SUITE_MOMENT_STARTED] = ARRIVAL_STARTED,
	[SUITE_MOMENT_RESUMED] = ARRIVAL_RESUMED,
	[SUITE_MOMENT_HELD] = ARRIVAL_HELD,
	[SUITE_MOMENT_RELEASED] = ARRIVAL_RELEASED,
	[SUITE_MOMENT_PAUSED] = ARRIVAL_PAUSED,
	[SUITE_MOMENT_EXPIRED] = ARRIVAL_EXPIRED,
	[SUITE_MOMENT_FAILED] = ARRIVAL_FAILED,
};

/* From shortly before what matters to the failure, one line for each place. */
struct err *schedules_take_steps(const struct suite_trace *trace,
				 struct arrival *arrival)
{
	size_t first = 0, last_line = 0;
	for (size_t i = 0; i < trace->moments.n; i++) {
		enum suite_moment_kind kind = trace->moments.data[i].kind;
		if (kind == SUITE_MOMENT_HELD || kind == SUITE_MOMENT_PAUSED) {
			first = i > 1 ? i - 1 : 0;
			break;
		}
	}
	for (size_t i = first;
	     i < trace->moments.n && arrival->steps.n < STEPS_MAX; i++) {
		const struct suite_moment *moment = &trace->moments.data[i];
		struct arrival_step step = {
			.kind = step_kinds[moment->kind],
			.thread = moment->thread,
			.ns = moment->ns,
		};
		/* Columns of one line are one step. */
		if (moment->kind == SUITE_MOMENT_STATEMENT &&
		    moment->line == last_line)
			continue;
		if (moment->kind == SUITE_MOMENT_STATEMENT)
			last_line = moment->line;
		else
			last_line = 0;
		TRY(schedules_copy_place(moment, &step.place));
		struct err *err = vec_push(&arrival->steps, step);
		if (err) {
			free(step.place.file);
			return err;
		}
	}
	return NULL;
}

static enum finding_severity
schedules_judge_severity(const struct arrival *arrival)
{
	return arrival->margin_ns <= MARGIN_HIGH     ? FINDING_HIGH
	       : arrival->margin_ns <= MARGIN_MEDIUM ? FINDING_MEDIUM
						     : FINDING_LOW;
}

/* "T depends on timing: it fails when the thread started at x.c:3 is late" */
static struct err *schedules_make_message(const char *test,
					  const struct arrival *arrival,
					  char **ret)
{
	_cleanup_(str_freep) struct str text = STR_INIT;
	TRY(words_append(&text, test));
	TRY(str_appendf(&text, " depends on timing: it %s when ",
			arrival->hung ? "hangs"
				      : words_verb(arrival->failure.outcome)));
	TRY(arrival_append_condition(&text, arrival));
	*ret = str_take(&text);
	return *ret ? NULL : err_nomem();
}

/* What tells defects of one test apart, without numbers of lines. */
static struct err *make_subject(const struct arrival *arrival, char **ret)
{
	const struct call_frame *frame =
		arrival->stack.n ? &arrival->stack.data[0] : NULL;
	return str_format(ret, "%s %s %s", arrival->early ? "early" : "late",
			  arrival->operation ? arrival->operation : "",
			  frame && frame->function ? frame->function : "");
}

static const char *schedules_hint(const struct arrival *arrival)
{
	if (!arrival->operation)
		return NULL;
	if (arrival->hung)
		return "before waiting, check in a loop whether what is waited "
		       "for has happened already";
	if (arrival->early)
		return "do not expect that the work takes time: let the test "
		       "decide when it may go on";
	return "wait for the work itself (join the thread, or wait for a "
	       "condition that it sets), not for a time";
}

struct err *schedules_add_finding(struct schedules_search *search,
				  const struct schedules_trial *failing,
				  struct arrival *arrival)
{
	const struct finding_run *run = search->options->run;
	const char *test = roster_name(run->tests, arrival->test);
	_cleanup_(freep) char *subject = NULL;
	arrival->margin_ns = failing->trace.margin_ns;
	arrival->hung = failing->trace.hung;
	arrival->repeats = search->options->repeats;
	arrival->failure.outcome = failing->result.outcome;
	arrival->failure.line = failing->result.line;
	TRY(str_copy(failing->result.message, &arrival->failure.message));
	TRY(str_copy(failing->result.file, &arrival->failure.file));
	TRY(schedules_take_steps(&failing->trace, arrival));
	_cleanup_(finding_free) struct finding finding = {
		.kind = &arrival_kind,
		.tests = run->tests,
		.test = arrival->test,
		.severity = schedules_judge_severity(arrival),
		.file = arrival->failure.file,
		.line = arrival->failure.line,
	};
	TRY(make_subject(arrival, &subject));
	TRY(finding_id(&arrival_kind, 0, test, subject, &finding.id));
	TRY(schedules_make_message(test, arrival, &finding.message));
	TRY(str_copy(schedules_hint(arrival), &finding.hint));
	TRY(finding_replay(finding.id, &finding.replay));
	TRY(finding_take_evidence(&finding, arrival, sizeof(*arrival)));
	TRY(vec_push(&search->result->findings, finding));
	finding = (struct finding){};
	return NULL;
}

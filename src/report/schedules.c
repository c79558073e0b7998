/* Tests whose outcome depends on when asynchronous work arrives. */
#include <string.h>

#include "base/clock.h"
#include "finding/arrival.h"
#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"
#include "report/width.h"

#define TIME_WIDTH ((size_t)9)

static struct err *schedules_write_head(const struct finding *finding,
					const struct report_style *style,
					FILE *out)
{
	const struct arrival *arrival = arrival_of(finding);
	_cleanup_(str_freep) struct str line = STR_INIT;
	_cleanup_(str_freep) struct str remarks = STR_INIT;
	char margin[16];
	duration_format(arrival->margin_ns, margin);
	TRY(words_append(&line, finding_test(finding)));
	TRY(str_appendf(&line, ": depends on timing: %s if ",
			arrival->hung ? "hangs"
				      : words_verb(arrival->failure.outcome)));
	TRY(arrival_append_condition(&line, arrival));
	if (arrival->margin_ns >= NS_PER_MS)
		TRY(str_appendf(&remarks, "by %s", margin));
	if (finding->known)
		TRY(str_append(&remarks, remarks.n ? ", known" : "known"));
	kind_write_head(finding, &line, &remarks, style, out);
	return NULL;
}

/* "x.c:12:5"; of the same file as @near "12:5". */
static struct err *append_bound(struct str *line, const char *near,
				const struct arrival_place *place)
{
	if (!near || strcmp(near, place->file) != 0)
		return arrival_append_place(line, place);
	TRY(str_appendf(line, "line %u", place->line));
	return place->column ? str_appendf(line, ":%u", place->column) : NULL;
}

/* "passes if it comes just before x.c:12:5, fails just before line 13:5" */
static struct err *append_bounds(struct str *line,
				 const struct arrival *arrival)
{
	const struct arrival_place *passing = &arrival->passing;
	const struct arrival_place *failing = &arrival->failing;
	if (!arrival->operation || (arrival->early && !failing->file))
		return NULL;
	bool passes = passing->file && !arrival->early;
	if (passes) {
		TRY(str_append(line, "passes if it comes just before "));
		TRY(append_bound(line, NULL, passing));
		TRY(str_append(line, ", "));
	}
	if (!arrival->early && !failing->column)
		return str_append(line, "fails if later");
	TRY(str_appendf(line, "fails %sjust before ",
			passes ? "" : "if it comes "));
	return append_bound(line, passes ? passing->file : NULL, failing);
}

static struct err *append_step(struct str *line,
			       const struct arrival_step *step)
{
	static const char *const texts[] = {
		[ARRIVAL_STATEMENT] = "",
		[ARRIVAL_STARTED] = "is started",
		[ARRIVAL_RESUMED] = "goes on",
		[ARRIVAL_HELD] = "is held",
		[ARRIVAL_RELEASED] = "what was held goes on",
		[ARRIVAL_PAUSED] = "waits for the other threads",
		[ARRIVAL_EXPIRED] = "runs out, armed",
		[ARRIVAL_FAILED] = "fails",
	};
	char time[16], who[24];
	duration_format(step->ns, time);
	if (step->kind == ARRIVAL_RELEASED)
		who[0] = '\0';
	else if (step->kind == ARRIVAL_EXPIRED)
		snprintf(who, sizeof(who), "a timer");
	else if (step->thread)
		snprintf(who, sizeof(who), "thread %u", step->thread);
	else
		snprintf(who, sizeof(who), "test");
	size_t wide = width_of(time);
	TRY(str_appendf(line, "%*s%s  %-9s %s",
			wide < TIME_WIDTH ? (int)(TIME_WIDTH - wide) : 0, "",
			time, who, texts[step->kind]));
	if (!step->place.file)
		return NULL;
	TRY(str_append(line, step->kind == ARRIVAL_STATEMENT ? "" : " at "));
	return arrival_append_place(line, &step->place);
}

static struct err *schedules_write_finding(const struct finding *finding,
					   const struct report_style *style,
					   FILE *out)
{
	const struct arrival *arrival = arrival_of(finding);
	const struct finding_failure *failure = &arrival->failure;
	_cleanup_(str_freep) struct str bounds = STR_INIT;
	_cleanup_(str_freep) struct str failed = STR_INIT;
	TRY(schedules_write_head(finding, style, out));
	if (style->quiet)
		return NULL;
	TRY(append_bounds(&bounds, arrival));
	kind_write_indented(&bounds, out);
	TRY(words_append_failure(&failed, failure->outcome, failure->file,
				 failure->line, failure->message));
	kind_write_indented(&failed, out);
	for (size_t i = 0; i < arrival->steps.n; i++) {
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(append_step(&line, &arrival->steps.data[i]));
		kind_write_indented(&line, out);
	}
	TRY(kind_write_hint(finding, out));
	return kind_write_replay(finding, out);
}

/* "T fails if the thread started at x.c:12 is 20 ms late" */
static struct err *schedules_append_head(const struct finding *finding,
					 struct str *line)
{
	const struct arrival *arrival = arrival_of(finding);
	const char *direction = arrival->early ? "early" : "late";
	char margin[16] = "";
	TRY(words_append(line, finding_test(finding)));
	TRY(str_appendf(line, " %s if ",
			arrival->hung ? "hangs"
				      : words_verb(arrival->failure.outcome)));
	if (!arrival->operation)
		return arrival_append_condition(line, arrival);
	TRY(arrival_append_event(line, arrival));
	if (arrival->margin_ns >= NS_PER_MS)
		duration_format(arrival->margin_ns, margin);
	return str_appendf(line, " is %s%s%s", margin, *margin ? " " : "",
			   direction);
}

/* "passes if it comes just before x.c:13:5, fails just before line 14:1" */
static struct err *schedules_append_about(const struct finding *finding,
					  struct str *line)
{
	const struct arrival *arrival = arrival_of(finding);
	return append_bounds(line, arrival);
}

static const struct finding_failure *
schedules_failure(const struct finding *finding)
{
	return &arrival_of(finding)->failure;
}

static bool schedules_explains_failure(const struct finding *finding)
{
	return arrival_of(finding);
}

static struct err *schedules_write_summary(const struct report *report,
					   const struct report_style *style,
					   FILE *out)
{
	const struct schedules_reach *reach = report->schedules;
	size_t all = 0;
	for (size_t i = 0; i < report->n_findings; i++)
		all += report->findings[i].kind == &arrival_kind;
	if (!reach || style->quiet)
		return NULL;
	fprintf(out, "%zu test%s that depend%s on timing%s; ", all,
		all == 1 ? "" : "s", all == 1 ? "s" : "",
		kind_this_time(report, &arrival_kind));
	if (!reach->tests)
		fprintf(out, "no test has other threads or timers\n");
	else
		fprintf(out,
			"%zu of %zu tests have other threads or timers, %llu "
			"runs\n",
			reach->tests, reach->all,
			(unsigned long long)reach->runs);
	return NULL;
}

static json_t *make_place(const struct arrival_place *place)
{
	if (!place->file)
		return json_null();
	return json_pack("{s:o, s:i, s:i}", "file", value_file(place->file),
			 "line", (int)place->line, "column",
			 (int)place->column);
}

static json_t *make_steps(const struct arrival *arrival)
{
	static const char *const names[] = {
		[ARRIVAL_STATEMENT] = "statement", [ARRIVAL_STARTED] = "start",
		[ARRIVAL_RESUMED] = "resume",	   [ARRIVAL_HELD] = "hold",
		[ARRIVAL_RELEASED] = "release",	   [ARRIVAL_PAUSED] = "wait",
		[ARRIVAL_FAILED] = "failure",	   [ARRIVAL_EXPIRED] = "timer",
	};
	json_t *list = json_array();
	for (size_t i = 0; list && i < arrival->steps.n; i++) {
		const struct arrival_step *step = &arrival->steps.data[i];
		json_array_append_new(
			list,
			json_pack("{s:f, s:i, s:s, s:o}", "seconds",
				  (double)step->ns / (double)NS_PER_S, "thread",
				  (int)step->thread, "what", names[step->kind],
				  "place", make_place(&step->place)));
	}
	return list;
}

static json_t *schedules_make_fields(const struct finding *finding)
{
	const struct arrival *arrival = arrival_of(finding);
	const struct finding_failure *failure = &arrival->failure;
	return json_pack(
		"{s:{s:i, s:o, s:o}, s:s, s:o, s:o, s:o, s:o, s:f, s:b, s:I, "
		"s:s, s:o, s:o}",
		"event", "thread", (int)arrival->thread, "operation",
		value_text(arrival->operation), "stack",
		value_frames(arrival->stack.data, arrival->stack.n),
		"direction", arrival->early ? "early" : "late", "lower",
		make_place(&arrival->lower), "upper",
		make_place(&arrival->upper), "passing",
		make_place(&arrival->passing), "failing",
		make_place(&arrival->failing), "margin",
		(double)arrival->margin_ns / (double)NS_PER_S, "hang",
		arrival->hung, "runs", (json_int_t)arrival->runs, "outcome",
		outcome_name(failure->outcome), "failure",
		value_failure(failure->file, failure->line, failure->message),
		"timeline", make_steps(arrival));
}

static struct err *schedules_make_section(const struct report *report,
					  json_t **ret)
{
	const struct schedules_reach *reach = report->schedules;
	if (!reach)
		return NULL;
	*ret = json_pack("{s:I, s:I, s:I, s:I}", "tests",
			 (json_int_t)reach->tests, "runs",
			 (json_int_t)reach->runs, "events",
			 (json_int_t)reach->events, "unsteady",
			 (json_int_t)reach->unsteady.n);
	return *ret ? NULL : err_nomem();
}

static struct err *schedules_append_detail(const struct finding *finding,
					   struct str *str)
{
	const char *message = arrival_of(finding)->failure.message;
	TRY(append_bounds(str, arrival_of(finding)));
	TRY(str_append(str, "\n"));
	if (!message)
		return NULL;
	TRY(str_append(str, message));
	return str_append(str, "\n");
}

const struct report_kind report_schedules = {
	.kind = &arrival_kind,
	.help = "docs/schedules.md#how-to-read-a-finding",
	.title = "Test depends on timing",
	.about = "The test fails when the work of another thread arrives later "
		 "or earlier than usual. Wait for the work itself: join the "
		 "thread, or wait for a condition that the thread sets.",
	.append_head = schedules_append_head,
	.append_about = schedules_append_about,
	.failure = schedules_failure,
	.write_finding = schedules_write_finding,
	.write_summary = schedules_write_summary,
	.explains_failure = schedules_explains_failure,
	.make_fields = schedules_make_fields,
	.section = "schedules",
	.make_section = schedules_make_section,
	.append_detail = schedules_append_detail,
};

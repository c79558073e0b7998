#include "report/kind.h"

#include <string.h>

const struct report_kind *const report_kinds[] = {
	&report_pollution, &report_order,  &report_flaky, &report_schedules,
	&report_choices,   &report_repair, NULL,
};

const struct report_kind *report_kind_of(const struct finding *finding)
{
	for (size_t i = 0; report_kinds[i]; i++) {
		if (report_kinds[i]->kind == finding->kind)
			return report_kinds[i];
	}
	BUG("no report of a kind of findings");
}

const char *kind_color_of(enum finding_severity severity)
{
	return severity == FINDING_HIGH	    ? "\033[1;31m"
	       : severity == FINDING_MEDIUM ? "\033[33m"
					    : DIM;
}

void kind_write_head(const struct finding *finding, const struct str *line,
		     const struct str *remarks,
		     const struct report_style *style, FILE *out)
{
	bool color = style->color;
	fprintf(out, "%s%-7s%s %s",
		color ? kind_color_of(finding->severity) : "",
		finding_severity_name(finding->severity), color ? RESET : "",
		line->s);
	if (remarks->n)
		fprintf(out, " %s(%s)%s", color ? DIM : "", remarks->s,
			color ? RESET : "");
	fputc('\n', out);
}

void kind_write_indented(const struct str *line, FILE *out)
{
	if (line->n)
		fprintf(out, INDENT "%s\n", line->s);
}

struct err *kind_write_hint(const struct finding *finding, FILE *out)
{
	if (finding->isolation)
		fprintf(out, INDENT "%s\n", finding->isolation);
	_cleanup_(str_freep) struct str line = STR_INIT;
	if (!finding->hint)
		return NULL;
	TRY(str_append(&line, "fix: "));
	TRY(str_append_escaped(&line, finding->hint, strlen(finding->hint)));
	kind_write_indented(&line, out);
	return NULL;
}

struct err *kind_write_replay(const struct finding *finding, FILE *out)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	TRY(str_append(&line, "reproduce: "));
	TRY(str_append_escaped(&line, finding->replay,
			       strlen(finding->replay)));
	kind_write_indented(&line, out);
	return NULL;
}

const char *kind_this_time(const struct report *report,
			   const struct finding_kind *kind)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		if (report->findings[i].kind == kind &&
		    report->findings[i].earlier)
			return " this time";
	}
	return "";
}

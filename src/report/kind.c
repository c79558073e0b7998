#include "report/kind.h"

#include "finding/words.h"
#include "report/value.h"

const struct report_kind *const report_kinds[] = {
	&report_pollution,
	&report_order,
	&report_choices,
	NULL,
};

const struct report_kind *report_kind_of(const struct finding *finding)
{
	for (size_t i = 0; report_kinds[i]; i++) {
		if (report_kinds[i]->kind == finding->kind)
			return report_kinds[i];
	}
	BUG("no report of a kind of findings");
}

static const char *color_of(enum finding_severity severity)
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
	fprintf(out, "%s%-7s%s %s", color ? color_of(finding->severity) : "",
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

struct err *kind_append_randoms(struct str *line, const char *what,
				const struct roster *roster,
				const struct random_tests *randoms, size_t max)
{
	size_t shown = MIN(randoms->n, max);
	if (!shown)
		return NULL;
	TRY(str_appendf(line, "%s: ", what));
	for (size_t i = 0; i < shown; i++) {
		const struct random_test *record = &randoms->data[i];
		TRY(str_append(line, i ? ", " : ""));
		TRY(words_append(line, roster_name(roster, record->test)));
		TRY(str_appendf(line,
				" (failed in %zu of %zu identical "
				"runs)",
				record->failures, record->runs));
	}
	return shown < randoms->n
		       ? str_appendf(line, " and %zu more", randoms->n - shown)
		       : NULL;
}

json_t *kind_make_randoms(const struct roster *roster,
			  const struct random_tests *randoms)
{
	json_t *list = json_array();
	for (size_t i = 0; i < randoms->n; i++) {
		const struct random_test *record = &randoms->data[i];
		value_append(&list,
			     json_pack("{s:o, s:I, s:I}", "test",
				       value_test(roster, record->test), "runs",
				       (json_int_t)record->runs, "failures",
				       (json_int_t)record->failures));
	}
	return list;
}

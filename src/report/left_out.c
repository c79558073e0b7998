#include "report/left_out.h"

#include <stdio.h>

#include "base/str.h"
#include "finding/leftover.h"
#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"

static struct err *left_out_append_count(const struct left_out *left_out,
					 bool noun, struct str *line)
{
	size_t n = left_out->names.n;
	TRY(words_append_count(line, n));
	if (noun)
		TRY(str_append(line, n == 1 ? " variable" : " variables"));
	TRY(str_append(line, " "));
	return words_append(line, left_out->why);
}

static struct err *left_out_append_names(const struct left_out *left_out,
					 struct str *line)
{
	const struct strv *names = &left_out->names;
	if (!names->n)
		return NULL;
	TRY(str_append(line, ": "));
	return words_append_texts(line, (const char *const *)names->data,
				  names->n, VERBOSE_MAX);
}

static void left_out_write_line(const struct str *line, const char *end,
				FILE *out)
{
	fprintf(out, "left out: %s%s\n", line->s, end);
}

struct err *left_out_write(const struct report *report,
			   const struct report_style *style, FILE *out)
{
	_cleanup_(str_freep) struct str line = STR_INIT;
	for (size_t i = 0; i < report->n_left_out; i++) {
		const struct left_out *left_out = &report->left_out[i];
		if (!style->verbose) {
			TRY(str_append(&line, i ? ", " : ""));
			TRY(left_out_append_count(left_out, !i, &line));
			continue;
		}
		_cleanup_(str_freep) struct str names = STR_INIT;
		TRY(left_out_append_count(left_out, true, &names));
		TRY(left_out_append_names(left_out, &names));
		left_out_write_line(&names, "", out);
	}
	if (line.n)
		left_out_write_line(&line, " (named with --verbose)", out);
	return NULL;
}

static json_t *left_out_make_names(const struct left_out *left_out)
{
	json_t *list = json_array();
	for (size_t i = 0; i < left_out->names.n; i++)
		value_append(&list, value_text(left_out->names.data[i]));
	return list;
}

json_t *left_out_make(const struct report *report)
{
	json_t *list = json_array();
	for (size_t i = 0; i < report->n_left_out; i++) {
		const struct left_out *left_out = &report->left_out[i];
		value_append(&list,
			     json_pack("{s:o, s:I, s:o}", "why",
				       value_text(left_out->why), "variables",
				       (json_int_t)left_out->names.n, "names",
				       left_out_make_names(left_out)));
	}
	return list;
}

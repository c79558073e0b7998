#include "report/models.h"

#include "finding/words.h"
#include "report/kind.h"
#include "report/value.h"
#include "report/width.h"

struct err *models_write_text(const struct report *report,
			      const struct report_style *style, FILE *out)
{
	size_t columns = 0, optional = 0;
	for (size_t i = 0; i < report->n_models; i++) {
		columns = MAX(columns, width_of(report->models[i].api));
		optional += report->models[i].optional;
	}
	for (size_t i = 0; i < report->n_models; i++) {
		const struct report_model *model = &report->models[i];
		_cleanup_(str_freep) struct str line = STR_INIT;
		TRY(words_append(&line, model->api));
		if (style->quiet) {
			fprintf(out, "%s\n", line.s);
			continue;
		}
		int pad = (int)(columns - MIN(width_of(line.s), columns));
		_cleanup_(str_freep) struct str clause = STR_INIT;
		TRY(words_append(&clause, model->clause));
		fprintf(out, "%s%s%s%*s  %-11s  %-4s  %s%s\n",
			style->color ? BOLD : "", line.s,
			style->color ? RESET : "", pad, "", model->kind,
			model->level, model->optional ? "(optional) " : "",
			clause.s);
		if (style->verbose && *model->never) {
			_cleanup_(str_freep) struct str never = STR_INIT;
			TRY(words_append(&never, model->never));
			fprintf(out, "%*s  never: %s\n", (int)columns, "",
				never.s);
		}
	}
	if (!style->quiet)
		fprintf(out,
			"\n%zu model%s; %zu used only if named with --api, "
			"or with --pedantic\n",
			report->n_models, report->n_models == 1 ? "" : "s",
			optional);
	return NULL;
}

json_t *models_make_one(const struct report_model *model)
{
	return json_pack("{s:o, s:s, s:s, s:b, s:o, s:o}", "api",
			 value_text(model->api), "kind", model->kind, "level",
			 model->level, "optional", (int)model->optional,
			 "clause", value_text(model->clause), "never",
			 value_text(model->never));
}

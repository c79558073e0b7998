/* polygraph report: renders results again in another format. */
#include "cli/command.h"
#include "cli/common.h"
#include "cli/output.h"
#include "report/reread.h"
#include "results/last.h"

static const struct common_options defaults = COMMON_DEFAULTS;

static struct err *report_command(const struct options *options, int argc,
				  char **argv, enum status *ret)
{
	const struct common_options *values = options->values;
	_cleanup_(outputs_freep) struct outputs outputs = {};
	_cleanup_(reread_destroyp) struct reread *reread = NULL;
	json_t *document = NULL;
	if (argc > 1)
		return err_create(ERR_USAGE,
				  "one report at a time, not also '%s'",
				  argv[1]);
	TRY(outputs_choose(values, "report", &outputs));
	TRY(argc ? last_report_read(argv[0], &document)
		 : last_report_get(&document));
	struct err *err = reread_create(document, &reread);
	if (err)
		return argc ? err_prefix(err, "'%s'", argv[0]) : err;
	*ret = STATUS_OK;
	return outputs_write(&outputs, reread_report(reread));
}

const struct command command_report = {
	.name = "report",
	.summary = "renders the results of the last run in another format",
	.synopsis = (const char *const[]){ "[OPTIONS] [FILE]", NULL },
	.description =
		(const char *const[]){
			"Renders the report of the last run in this folder "
			"again, in the formats that --format gives. Nothing "
			"is run. With FILE, a report that --format json "
			"wrote is rendered instead.",
			"Exit status 0: it was rendered, whatever it says.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph report --format html --output report.html",
			  "the last run as a page for the browser" },
			{ "polygraph report --format sarif --output "
			  "result.sarif result.json",
			  "a stored report, for code scanning" },
			{} },
	.groups = (const struct option_group *const[]){ &common_output_group,
							&common_general_group,
							NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.word_first = true,
	.run = report_command,
};

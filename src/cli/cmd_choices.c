/* polygraph choices: tests that assume more than an API promises. */
#include "base/version.h"
#include "cli/detection.h"
#include "cli/sandboxing.h"

static const struct detection_options defaults = DETECTION_DEFAULTS;

static const struct detection_step steps[] = {
	{ .detector = &detector_choices }, {}
};

static struct err *list_models(const struct detection_options *values, int argc,
			       char **argv)
{
	_cleanup_(outputs_freep) struct outputs outputs = {};
	_cleanup_(user_model_texts_freep) struct user_model_texts user = {};
	_cleanup_(freep) struct report_model *models = NULL;
	static const char *const none[] = { NULL };
	struct report report = {
		.kind = "models",
		.version = POLYGRAPH_VERSION,
		.command = none,
	};
	if (argc)
		return err_create(ERR_USAGE,
				  "--list-models runs nothing and takes no "
				  "argument, but '%s' was given",
				  argv[0]);
	TRY(outputs_choose(&values->state.common, "models", &outputs));
	TRY(choices_list_models(&values->settings, &user, &models,
				&report.n_models));
	report.models = models;
	return outputs_write(&outputs, &report);
}

static struct err *choices_run(const struct options *options, int argc,
			       char **argv, enum status *ret)
{
	const struct detection_options *values = options->values;
	*ret = STATUS_OK;
	return values->list_models ? list_models(values, argc, argv)
				   : detection_run(options, argc, argv,
						   "choices", steps, ret);
}

const struct command command_choices = {
	.name = "choices",
	.summary = "finds tests that assume more than an API promises",
	.synopsis =
		(const char *const[]){ "[OPTIONS] [--] TEST-EXECUTABLE [ARGS…]",
				       "[OPTIONS] --ctest BUILD-DIR | --meson "
				       "BUILD-DIR | --commands FILE",
				       "[OPTIONS] --list-models", NULL },
	.description =
		(const char *const[]){
			"Specifications leave much open: where qsort puts "
			"equal elements, in which order readdir returns "
			"entries, how many bytes read returns, everything "
			"but the sign of strcmp, the address and content of "
			"malloc's memory. A test that relies on what "
			"today's library happens to do can fail with "
			"tomorrow's. 'choices' runs the tests while such "
			"calls of the program behave in other ways that the "
			"specification allows. Calls made by the framework "
			"and by system libraries are not varied.",
			"Runs without choices come first, then seeded runs "
			"at four levels. At level one an API has a "
			"different but constant behaviour; at eq equal "
			"inputs behave alike; at id the same unchanged "
			"object behaves alike; at full every call is "
			"independent. A finding is a test that passes "
			"without choices and fails, every time, when only "
			"the decisive calls vary. It shows the smallest set "
			"of calls, the clause that allows the behaviour, "
			"what the calls did and where they were made. Flaky "
			"tests, which fail without any choice, are reported "
			"separately.",
			"With --systematic, every combination of choices in "
			"a test is run, up to --bound. The report then "
			"shows which share of the paths fails and whether "
			"any were left out.",
			"APIs that the tests do not call, and calls that "
			"the compiler inlined, are not covered. Findings "
			"are kept in .polygraph/ for 'polygraph replay'.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph choices ./unit_tests",
			  "which tests assume too much, and which call "
			  "shows it" },
			{ "polygraph choices --level one --runs 1 ./unit_tests",
			  "a single quick run" },
			{ "polygraph choices --api 'readdir*' --api qsort "
			  "--runs 20 ./unit_tests",
			  "only directories and sorting, with more seeds" },
			{ "polygraph choices --systematic --tests "
			  "Listing.PrintsAll ./unit_tests",
			  "every path through one test" },
			{ "polygraph choices --list-models",
			  "what APIs leave open" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&common_suite_group, &choices_group, &state_run_group,
			&sandbox_group, &common_output_group,
			&common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.guarded = true,
	.run = choices_run,
};

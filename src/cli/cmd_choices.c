/* polygraph choices: tests that assume more than an API promises. */
#include "base/version.h"
#include "cli/detection.h"

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
				  "--list-models runs nothing, but '%s' is "
				  "given",
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
			"Specifications leave things open: qsort where equal "
			"elements go, readdir the order of entries, read how "
			"many bytes it returns, strcmp all but a sign, malloc "
			"where memory lies and what is in it. A test that "
			"relies on what today's library happens to do fails "
			"with tomorrow's. The tests are run while such "
			"calls of the program do something else that is "
			"allowed; calls of the framework and of system "
			"libraries are left alone.",
			"Runs without choices come first, then runs with "
			"seeds at four levels. At level one an API has another "
			"behaviour that stays the same, at eq equal inputs "
			"behave alike, at id the same unchanged object does, "
			"at full every call is drawn anew. A finding is a test "
			"that passes without choices and fails with the "
			"decisive calls alone, each time it is repeated: the "
			"smallest set of calls, what leaves them open, what "
			"they did instead, and where they were made. Tests "
			"that fail now and then by themselves are told apart "
			"and are no findings.",
			"With --systematic every combination of choices in a "
			"test is run, up to --bound. The report then has the "
			"part of all ways that fails, and whether there are "
			"more.",
			"Nothing is said of an API that the tests do not "
			"call, or whose calls the compiler has inlined. "
			"Findings are kept in .polygraph/ for 'polygraph "
			"replay'.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph choices ./unit_tests",
			  "which tests assume too much, and by which call" },
			{ "polygraph choices --level one --runs 1 ./unit_tests",
			  "a single quick run" },
			{ "polygraph choices --api 'readdir*' --api qsort "
			  "--runs 20 ./unit_tests",
			  "only directories and sorting, more often" },
			{ "polygraph choices --systematic --tests "
			  "Listing.PrintsAll ./unit_tests",
			  "every way through one test" },
			{ "polygraph choices --list-models",
			  "what APIs leave open" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&common_suite_group, &choices_group, &state_run_group,
			&common_output_group, &common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.guarded = true,
	.run = choices_run,
};

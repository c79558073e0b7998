/* polygraph choices: tests that assume more than an API promises. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/version.h"
#include "cli/baseline.h"
#include "cli/choices_options.h"
#include "cli/choices_run.h"
#include "cli/collect.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/results.h"
#include "cli/select.h"

struct choices_values {
	struct common_options common;
	struct choices_settings settings;
	bool list_models;
	char *order;
	uint64_t budget_ns; /* 0: none */
	char *baseline;
	uint64_t seed;
};

static const struct choices_values defaults = {
	.common = COMMON_DEFAULTS,
	.settings = CHOICES_DEFAULTS,
	.seed = CHOICES_SEED,
};

#define FIELD(member) .offset = offsetof(struct choices_values, member)

/* clang-format off */
static const struct option choice_options[] = {
	{ "level", 0, OPTION_CHOICE, FIELD(settings.level), .value = "LEVEL",
	  .choices = assumption_levels,
	  .help = "how consistent choices stay: one (one other but constant "
		  "behaviour), eq (equal inputs behave alike), id (the same "
		  "unchanged object behaves alike) or full (every call anew) "
		  "(default: all, from one up to full)" },
	{ "runs", 0, OPTION_NUMBER, FIELD(settings.runs), .value = "N",
	  .min = 1, .max = 1000000,
	  .help = "runs of the suite at each level, each with a seed of its "
		  "own (default: 3)" },
	{ "api", 0, OPTION_LIST, FIELD(settings.apis), .value = "GLOB",
	  .help = "only APIs whose name matches, also those that take part "
		  "only where they are named; with '!' in front: not those. "
		  "May be given again" },
	{ "model", 0, OPTION_LIST, FIELD(settings.models), .value = "MODEL",
	  .tables = true,
	  .help = "a function of your own that leaves something open: "
		  "'function=list_names; kind=permute; array=return; "
		  "length=*arg1; element-size=8'. May be given again; in "
		  "polygraph.toml tables [[choices.model]]" },
	{ "systematic", 0, OPTION_FLAG, FIELD(settings.systematic),
	  .help = "every combination of choices in each test instead of "
		  "random ones, up to --bound" },
	{ "bound", 0, OPTION_NUMBER, FIELD(settings.bound), .value = "N",
	  .min = 1, .max = UINT64_C(1) << 40,
	  .help = "with --systematic: so many choices of a test (default: "
		  "10000)" },
	{ "repeat", 0, OPTION_NUMBER, FIELD(settings.repeat), .value = "N",
	  .min = 1, .max = 1000,
	  .help = "so often the test of a finding must fail with the "
		  "decisive choices and pass without (default: 3)" },
	{ "baselines", 0, OPTION_NUMBER, FIELD(settings.baselines),
	  .value = "N", .min = 1, .max = 1000,
	  .help = "runs without choices, which tell tests that fail by "
		  "themselves (default: 2)" },
	{ "seed", 0, OPTION_NUMBER, FIELD(seed), .value = "N",
	  .max = UINT64_C(1) << 53,
	  .help = "the first of the seeds (default: 1)" },
	{ "list-models", 0, OPTION_FLAG, FIELD(list_models),
	  .no_config = true,
	  .help = "what APIs leave open, instead of running anything" },
	{}
};

static const struct option run_options[] = {
	{ "order", 0, OPTION_TEXT, FIELD(order), .value = "FILE",
	  .help = "run in this order: one test name a line" },
	{ "budget", 0, OPTION_DURATION, FIELD(budget_ns), .value = "DURATION",
	  .help = "begin nothing more after it: 30s, 10m" },
	{ "baseline", 0, OPTION_TEXT, FIELD(baseline), .value = "FILE",
	  .help = "findings listed there are known, and do not fail the run" },
	{ "jobs", 'j', OPTION_NUMBER, FIELD(common.jobs), .value = "N",
	  .min = 1, .max = 4096,
	  .help = "processes side by side, for suites of processes" },
	{}
};
/* clang-format on */

static const struct option_group choice_group = { "Choices", choice_options };
static const struct option_group run_group = { "Run", run_options };

static enum status judge(const struct report *report)
{
	if (report_new_findings(report))
		return STATUS_FINDINGS;
	return report_has_failures(report) || report->choices->randoms.n
		       ? STATUS_SUITE
		       : STATUS_OK;
}

static struct err *list_models(const struct choices_values *values, int argc,
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
	TRY(outputs_choose(&values->common, "models", &outputs));
	TRY(choices_list_models(&values->settings, &user, &models,
				&report.n_models));
	report.models = models;
	return outputs_write(&outputs, &report);
}

/* What a run of the command holds. */
struct run {
	const struct choices_values *values;
	struct common_suite choice;
	struct outputs outputs;
	struct suite *suite;
	struct indexes order, disabled;
	struct common_names names;
	struct collect collect;
	struct baseline baseline;
	struct choices_plan plan;
	struct choices_result result;
	uint64_t ns;
};

static void run_freep(struct run *run)
{
	choices_result_free(&run->result);
	choices_plan_free(&run->plan);
	baseline_free(&run->baseline);
	collect_free(&run->collect);
	indexes_freep(&run->order);
	indexes_freep(&run->disabled);
	suite_close(run->suite);
	common_names_free(&run->names);
	outputs_free(&run->outputs);
}

static struct err *prepare(struct run *run, const struct options *options,
			   int argc, char **argv)
{
	const struct choices_values *values = run->values;
	bool given = options_source(options, "level") != OPTION_DEFAULT;
	TRY(choices_plan_make(&values->settings, given, &run->plan));
	run->plan.options.seed = values->seed;
	TRY(common_suite_choose(options, argc, argv, &run->choice));
	TRY(outputs_choose(&values->common, "choices", &run->outputs));
	TRY(baseline_read(&run->baseline, values->baseline));
	choices_plan_open(&run->plan, &run->choice.options);
	TRY(common_suite_open(&run->choice, &run->suite));
	struct selection_options selection = {
		.tests = &values->common.tests,
		.order = values->order,
		.repeat = 1,
	};
	TRY(select_order(run->suite, &selection, &run->order, &run->disabled));
	TRY(common_names_init(&run->names, &run->choice, run->suite));
	run->plan.options.run = &run->names.run;
	return collect_init(&run->collect, run->names.roster, false);
}

static struct err *write_report(struct run *run, const struct options *options,
				enum status *ret)
{
	_cleanup_(results_closep) struct results *results = NULL;
	const struct findings *findings = &run->result.findings;
	baseline_mark(&run->baseline, &run->result.findings);
	struct report report = {
		.kind = "choices",
		.version = POLYGRAPH_VERSION,
		.command = (const char *const *)run->choice.command,
		.framework = suite_framework(run->suite),
		.suite_tests = suite_count(run->suite),
		.tests = run->collect.tests.data,
		.n = run->collect.tests.n,
		.distinct = run->collect.distinct,
		.ns = run->ns,
		.roster = run->names.roster,
		.findings = findings->data,
		.n_findings = findings->n,
		.choices = &run->result.reach,
		.limits = (const char *const *)run->collect.limits.data,
		.n_limits = run->collect.limits.n,
	};
	TRY(results_open(options, &run->choice, run->suite, NULL, &results));
	results_put_choices(results, &run->plan.options, findings->data,
			    findings->n);
	TRY(outputs_write(&run->outputs, &report));
	*ret = judge(&report);
	return NULL;
}

static struct err *choices_run_command(const struct options *options, int argc,
				       char **argv, enum status *ret)
{
	_cleanup_(run_freep) struct run run = { .values = options->values };
	*ret = STATUS_OK;
	if (run.values->list_models)
		return list_models(run.values, argc, argv);
	TRY(prepare(&run, options, argc, argv));
	uint64_t start = clock_now();
	struct choices_run search = {
		.suite = run.suite,
		.tests = run.order.data,
		.n = run.order.n,
		.plan = &run.plan,
		.collect = &run.collect,
		.budget_ns = run.values->budget_ns,
		.deadline = run.values->budget_ns
				    ? start + run.values->budget_ns
				    : 0,
		.progress = !run.values->common.quiet,
	};
	struct err *err = choices_run(&search, &run.result);
	run.ns = clock_now() - start;
	if (err && !run.collect.finished)
		return err;
	_cleanup_(err_destroyp) struct err *run_err = err;
	TRY(choices_run_limits(&search, &run.result));
	for (size_t i = 0; i < run.disabled.n; i++)
		TRY(collect_disabled(&run.collect, run.disabled.data[i]));
	TRY(write_report(&run, options, ret));
	return take_ptr(run_err);
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
			&common_suite_group, &choice_group, &run_group,
			&common_output_group, &common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.guarded = true,
	.run = choices_run_command,
};

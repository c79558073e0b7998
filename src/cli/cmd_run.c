/* polygraph run: the tests of a suite once, in a given order. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/version.h"
#include "cli/collect.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/run_facts.h"
#include "cli/sandboxing.h"
#include "cli/select.h"

struct run_options {
	struct common_options common;
	char *order;
	bool reverse;
	bool shuffle;
	uint64_t seed;
	uint64_t repeat;
	bool alone;
	uint64_t budget_ns; /* 0: none */
	bool pass_through;
};

static const struct run_options defaults = {
	.common = { .sandbox = SANDBOX_NEVER },
	.repeat = 1,
};

#define FIELD(member) .offset = offsetof(struct run_options, member)

/* clang-format off */
static const struct option order_options[] = {
	{ "order", 0, OPTION_TEXT, FIELD(order), .value = "FILE",
	  .often = true,
	  .help = "run the tests in this order: a file with one name per line. "
		  "A test named twice runs twice. In names, \\n, \\t, \\r, "
		  "\\\\ and \\xNN stand for bytes" },
	{ "reverse", 0, OPTION_FLAG, FIELD(reverse),
	  .often = true,
	  .help = "last test first" },
	{ "shuffle", 0, OPTION_FLAG, FIELD(shuffle),
	  .often = true,
	  .help = "random order; prints the seed" },
	{ "seed", 0, OPTION_NUMBER, FIELD(seed), .value = "N", .random = true,
	  .help = "seed for every random choice, for reproducible runs; random: a "
		  "new one each time, daily: each day (it is printed)" },
	{ "repeat", 0, OPTION_NUMBER, FIELD(repeat), .value = "N", .min = 1,
	  .often = true,
	  .help = "run each test N times in a row (default: 1)" },
	{}
};

static const struct option run_options[] = {
	{ "alone", 0, OPTION_FLAG, FIELD(alone),
	  .help = "run each test in its own process" },
	{ "jobs", 'j', OPTION_NUMBER, FIELD(common.jobs), .value = "N",
	  .min = 1, .max = 4096,
	  .help = "number of parallel processes (default: the number of cores)" },
	{ "budget", 0, OPTION_DURATION, FIELD(budget_ns), .value = "DURATION",
	  .help = "start no more tests after this time: 30s, 10m" },
	{ "pass-through", 0, OPTION_FLAG, FIELD(pass_through),
	  .help = "print the output of the tests as it arrives" },
	{}
};
/* clang-format on */

static const struct option_group order_group = { "Order", order_options };
static const struct option_group run_group = { "Run", run_options };

static struct err *check_options(const struct run_options *values,
				 const struct outputs *outputs)
{
	if (values->reverse && values->shuffle)
		return err_create(ERR_USAGE,
				  "--reverse and --shuffle cannot be combined");
	for (size_t i = 0; values->pass_through && i < outputs->n; i++) {
		if (!outputs->data[i].path &&
		    outputs->data[i].format != &report_text)
			return err_hint(
				err_create(ERR_USAGE,
					   "--pass-through would mix the "
					   "tests' output into the %s on "
					   "standard output",
					   outputs->data[i].format->name),
				"give that format an --output PATH");
	}
	return NULL;
}

/* What of the order has no result, and why. */
static struct err *say_unfinished(const struct run_options *values,
				  struct collect *collect, size_t entries)
{
	size_t left = entries - MIN(collect->finished, entries);
	if (!left)
		return NULL;
	char text[128];
	if (interrupt_happened()) {
		snprintf(text, sizeof(text),
			 "run: interrupted, %zu of %zu tests without a result",
			 left, entries);
	} else if (collect->budget_spent) {
		char budget[32];
		common_budget_format(values->budget_ns, budget);
		snprintf(text, sizeof(text),
			 "run: %zu of %zu tests not run (budget %s)", left,
			 entries, budget);
	} else {
		snprintf(text, sizeof(text),
			 "run: ended early, %zu of %zu tests without a result",
			 left, entries);
	}
	return collect_limit(collect, text);
}

static enum status run_judge_report(const struct report *report)
{
	return report_has_failures(report) ? STATUS_SUITE : STATUS_OK;
}

/* Runs @order; what is known so far is in @collect also on failure. */
static struct err *run_given_order(const struct run_options *values,
				   struct suite *suite,
				   const struct indexes *order,
				   struct collect *collect)
{
	_cleanup_(progress_destroyp) struct progress *progress = NULL;
	if (!order->n)
		return NULL; /* all of them are disabled */
	if (!values->common.quiet && !values->pass_through &&
	    output_is_terminal(STDERR_FILENO))
		TRY(progress_create(STDERR_FILENO, order->n, &progress));
	collect->progress = progress;
	if (values->budget_ns)
		collect->deadline = clock_now() + values->budget_ns;

	struct suite_observer observer = collect_observer(collect);
	struct err *err = suite_run(suite, order->data, order->n,
				    values->alone ? SUITE_ALONE : 0, &observer);
	return collect_end(collect, err);
}

static struct err *run_run(const struct options *options, int argc, char **argv,
			   enum status *ret)
{
	const struct run_options *values = options->values;
	_cleanup_(outputs_freep) struct outputs outputs = {};
	_cleanup_(suite_closep) struct suite *suite = NULL;
	_cleanup_(indexes_freep) struct indexes order = {};
	_cleanup_(indexes_freep) struct indexes disabled = {};
	_cleanup_(roster_destroyp) struct roster *roster = NULL;
	_cleanup_(collect_freep) struct collect collect = {};
	_cleanup_(run_facts_freep) struct run_facts facts = {};
	struct common_suite choice;
	uint64_t seed;

	run_facts_begin(&facts);
	TRY(common_suite_choose(options, argc, argv, &choice));
	TRY(outputs_choose(&values->common, "run", &outputs));
	TRY(check_options(values, &outputs));
	TRY(common_seed_choose(options, values->seed, &seed));
	choice.options.pass_through = values->pass_through;
	const struct sandboxing sandboxing = { .suite = &choice };
	TRY(sandboxing_begin(&values->common, &sandboxing));
	TRY(common_suite_open(&choice, &suite));

	struct selection_options selection = {
		.tests = &values->common.tests,
		.order = values->order,
		.reverse = values->reverse,
		.shuffle = values->shuffle,
		.seed = seed,
		.repeat = values->repeat,
	};
	TRY(select_order(suite, &selection, &order, &disabled));
	TRY(roster_create(suite, &roster));
	TRY(collect_init(&collect, roster, values->common.verbose));

	uint64_t start = clock_now();
	run_facts_phase(&facts, "run", 0);
	struct err *err = run_given_order(values, suite, &order, &collect);
	run_facts_phase_end(&facts, suite_executions(suite));
	uint64_t ns = clock_now() - start;
	if (err && !collect.finished)
		return err;

	_cleanup_(err_destroyp) struct err *run_err = err;
	TRY(say_unfinished(values, &collect, order.n));
	for (size_t i = 0; i < disabled.n; i++)
		TRY(collect_disabled(&collect, disabled.data[i]));
	struct report report = {
		.kind = "run",
		.version = POLYGRAPH_VERSION,
		.command = (const char *const *)choice.command,
		.framework = suite_framework(suite),
		.suite_tests = suite_count(suite),
		.tests = collect.tests.data,
		.n = collect.tests.n,
		.distinct = collect.distinct,
		.ns = ns,
		.seed = values->shuffle ? &seed : NULL,
		.limits = (const char *const *)collect.limits.data,
		.n_limits = collect.limits.n,
	};
	char *const *words = choice.options.argv;
	TRY(run_facts_fill(&facts, options, words ? words[0] : NULL, roster));
	report.run = &facts.run;
	report.roster = roster;
	*ret = run_judge_report(&report);
	facts.run.status = run_err ? STATUS_INTERRUPTED : (int)*ret;
	TRY(outputs_write(&outputs, &report));
	return take_ptr(run_err);
}

const struct command command_run = {
	.name = "run",
	.summary = "runs the tests of a suite once, in a given order",
	.synopsis =
		(const char *const[]){
			"[OPTIONS] [--] TEST-EXECUTABLE [ARGS…]",
			"[OPTIONS] --ctest BUILD-DIR | --meson BUILD-DIR | "
			"--commands FILE",
			NULL },
	.description =
		(const char *const[]){
			"Runs the tests of a suite, in its own order or in "
			"another, and reports the outcome of each: pass, fail, "
			"skip, crash or timeout. Options come before the test "
			"executable; everything after it is passed to it.",
			"Tests that the suite disables are reported as "
			"skipped, "
			"unless a --tests PATTERN gives their exact name.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph run ./unit_tests",
			  "all tests; failures are shown in detail" },
			{ "polygraph run --shuffle ./unit_tests",
			  "in a random order; --seed repeats it" },
			{ "polygraph run --tests 'Registry.*' --repeat 10 "
			  "./unit_tests",
			  "some tests, ten times each" },
			{ "polygraph run --format text --format junit --output "
			  "result.xml --ctest build",
			  "the tests of a CMake build, also as JUnit XML" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&common_suite_group, &order_group, &run_group,
			&sandbox_group, &common_output_group,
			&common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.guarded = true,
	.run = run_run,
};

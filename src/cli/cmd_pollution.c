/* polygraph pollution: tests that leave shared state changed. */
#include <stdio.h>

#include "base/clock.h"
#include "base/version.h"
#include "cli/baseline.h"
#include "cli/collect.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/results.h"
#include "cli/select.h"
#include "cli/state_options.h"
#include "pollution/pollution.h"

static const struct state_options defaults = STATE_DEFAULTS;

static enum status judge(const struct report *report)
{
	if (report_new_findings(report))
		return STATUS_FINDINGS;
	return report_has_failures(report) ? STATUS_SUITE : STATUS_OK;
}

static struct err *find(const struct state_options *values, struct suite *suite,
			const struct indexes *order,
			struct pollution_options *options,
			struct collect *collect, struct pollution *ret)
{
	_cleanup_(progress_destroyp) struct progress *progress = NULL;
	if (!order->n)
		return NULL; /* all of them are disabled */
	if (!values->common.quiet && output_is_terminal(STDERR_FILENO))
		TRY(progress_create(STDERR_FILENO, order->n, &progress));
	collect->progress = progress;
	if (values->budget_ns) {
		collect->deadline = clock_now() + values->budget_ns;
		options->deadline = collect->deadline;
	}
	struct suite_observer observer = collect_observer(collect);
	struct err *err = pollution_find(suite, order->data, order->n, options,
					 &observer, ret);
	return collect_end(collect, err);
}

static struct err *say_unfinished(struct collect *collect, size_t entries)
{
	size_t left = entries - MIN(collect->finished, entries);
	if (!left)
		return NULL;
	char text[128];
	snprintf(text, sizeof(text),
		 "pollution: %zu of %zu tests not looked at (%s)", left,
		 entries,
		 interrupt_happened()	 ? "interrupted"
		 : collect->budget_spent ? "budget"
					 : "ended early");
	return collect_limit(collect, text);
}

static struct err *
write_report(const struct options *options, const struct baseline *baseline,
	     const struct common_suite *choice, const struct suite *suite,
	     const struct outputs *outputs, struct collect *collect,
	     struct pollution *pollution, uint64_t ns, enum status *ret)
{
	_cleanup_(results_closep) struct results *results = NULL;
	baseline_mark(baseline, &pollution->findings);
	struct report report = {
		.kind = "pollution",
		.version = POLYGRAPH_VERSION,
		.command = (const char *const *)choice->command,
		.framework = suite_framework(suite),
		.suite_tests = suite_count(suite),
		.tests = collect->tests.data,
		.n = collect->tests.n,
		.distinct = collect->distinct,
		.ns = ns,
		.roster = collect->roster,
		.watched = true,
		.findings = pollution->findings.data,
		.n_findings = pollution->findings.n,
		.firsts = pollution->firsts.data,
		.n_firsts = pollution->firsts.n,
		.limits = (const char *const *)collect->limits.data,
		.n_limits = collect->limits.n,
	};
	TRY(results_open(options, choice, suite, NULL, &results));
	results_put(results, "pollution", pollution->findings.data,
		    pollution->findings.n);
	TRY(outputs_write(outputs, &report));
	*ret = judge(&report);
	return NULL;
}

static struct err *pollution_run(const struct options *options, int argc,
				 char **argv, enum status *ret)
{
	const struct state_options *values = options->values;
	_cleanup_(outputs_freep) struct outputs outputs = {};
	_cleanup_(suite_closep) struct suite *suite = NULL;
	_cleanup_(indexes_freep) struct indexes order = {};
	_cleanup_(indexes_freep) struct indexes disabled = {};
	_cleanup_(common_names_freep) struct common_names names = {};
	_cleanup_(collect_freep) struct collect collect = {};
	_cleanup_(pollution_freep) struct pollution pollution = {};
	_cleanup_(state_watch_freep) struct state_watch watch = {};
	_cleanup_(baseline_freep) struct baseline baseline = {};
	struct common_suite choice;
	struct pollution_options search = {
		.eager = values->eager,
		.effect = values->effect,
		.readers = values->readers,
	};

	TRY(common_suite_choose(options, argc, argv, &choice));
	TRY(outputs_choose(&values->common, "pollution", &outputs));
	TRY(state_watch_choose(values, &outputs, &watch));
	TRY(baseline_read(&baseline, values->baseline));
	search.watch = watch.watch;
	choice.options.agent = SUITE_AGENT_STATE;
	TRY(common_suite_open(&choice, &suite));

	struct selection_options selection = {
		.tests = &values->common.tests,
		.order = values->order,
		.repeat = 1,
	};
	TRY(select_order(suite, &selection, &order, &disabled));
	TRY(common_names_init(&names, &choice, suite));
	search.run = &names.run;
	TRY(collect_init(&collect, names.roster, false));

	uint64_t start = clock_now();
	struct err *err =
		find(values, suite, &order, &search, &collect, &pollution);
	uint64_t ns = clock_now() - start;
	if (err && !collect.finished)
		return err;
	_cleanup_(err_destroyp) struct err *run_err = err;
	TRY(say_unfinished(&collect, order.n));
	for (size_t i = 0; i < disabled.n; i++)
		TRY(collect_disabled(&collect, disabled.data[i]));
	TRY(write_report(options, &baseline, &choice, suite, &outputs, &collect,
			 &pollution, ns, ret));
	return take_ptr(run_err);
}

const struct command command_pollution = {
	.name = "pollution",
	.summary = "finds tests that leave shared state changed",
	.synopsis =
		(const char *const[]){ "[OPTIONS] [--] TEST-EXECUTABLE [ARGS…]",
				       "[OPTIONS] --ctest BUILD-DIR | --meson "
				       "BUILD-DIR | --commands FILE",
				       NULL },
	.description =
		(const char *const[]){
			"Runs the tests in one process and compares what "
			"they share before and after each of them. Memory: "
			"the global and static variables of the project's own "
			"code, and all that can be reached from them. "
			"Addresses do not count, nor do capacities, padding "
			"and freed memory; values, shapes and sharing do. "
			"Files: what the test or a process it started "
			"created, removed, renamed or changed; a rewrite with "
			"the same content does not count. Process state: "
			"working directory, environment, signal handlers, "
			"open descriptors, locale and so on. For suites of "
			"processes (--ctest, --meson, --commands): files, and "
			"what is left in the system.",
			"A finding is a test and a variable, file or "
			"attribute: the access path "
			"that differs, the values before and after, whether a "
			"second run changes it again (accumulates) or not "
			"(settles), and which other tests read it. What other "
			"tests read is of high severity, and so are a "
			"variable that accumulates within two pointers and "
			"what all tests depend on (working directory, umask, "
			"locale and the like). Files are of medium otherwise. "
			"What settles and nobody reads is of low, and so are "
			"a cache that its readers would have filled alike "
			"and a file whose name is made anew each time.",
			"Tests are run several times, and files are not put "
			"back: begin in a clean folder.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph pollution ./unit_tests",
			  "what each test leaves behind" },
			{ "polygraph pollution --exclude-roots '^stats_' "
			  "--verbose ./unit_tests",
			  "without some variables, with both states in full" },
			{ "polygraph pollution --only files --ctest build",
			  "which files the tests of a build leave for one "
			  "another" },
			{ "polygraph pollution --eager ./unit_tests",
			  "also statics that are set up by their first user" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&common_suite_group, &state_compared_group,
			&state_meaning_group, &state_run_group,
			&common_output_group, &common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.guarded = true,
	.run = pollution_run,
};

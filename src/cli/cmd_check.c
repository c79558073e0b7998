/* polygraph check: all detectors, cheapest first, within a budget. */
#include "cli/detection.h"
#include "cli/sandboxing.h"
#include "cli/storing.h"

static const struct detection_options defaults = DETECTION_DEFAULTS;

static const struct detection_step steps[] = {
	{ .detector = &detector_pollution },
	{ .detector = &detector_order },
	{ .detector = &detector_schedules },
	{ .detector = &detector_choices },
	{},
};

static struct err *check_run(const struct options *options, int argc,
			     char **argv, enum status *ret)
{
	const struct detection_options *values = options->values;
	bool whole = whole_is_wanted(options, &values->whole, argc);
	const char *wanted = values->whole.since     ? "since"
			     : values->whole.shard   ? "shard"
			     : values->whole.dry_run ? "dry-run"
						     : NULL;
	if (!whole && wanted)
		return err_hint(err_create(ERR_USAGE,
					   "--%s is for whole builds", wanted),
				"give --ctest, --meson or --program");
	TRY(storing_begin(values->whole.dry_run ? NULL : values->whole.store));
	bool plain = !whole;
	struct err *err = NULL;
	if (whole)
		err = whole_run(options, &values->whole,
				values->state.budget_ns, &plain, ret);
	if (plain && !err)
		err = detection_run(options, argc, argv, "check", steps, ret);
	storing_end();
	return err;
}

const struct command command_check = {
	.name = "check",
	.summary = "runs all detectors, cheapest first; the default command",
	.synopsis =
		(const char *const[]){ "[OPTIONS] [--] TEST-EXECUTABLE [ARGS…]",
				       "[OPTIONS] --ctest BUILD-DIR | --meson "
				       "BUILD-DIR | --commands FILE",
				       "[OPTIONS] --program GLOB…", NULL },
	.description =
		(const char *const[]){
			"Runs all detectors: first 'pollution' (tests that "
			"leave shared state changed), then 'order' (tests "
			"whose outcome depends on which tests ran before), "
			"then 'schedules' (tests whose outcome depends on "
			"when the work of other threads arrives), and "
			"then 'choices' (tests that assume more than an API "
			"promises). A --budget covers all of them together. "
			"'check' is the default command and can be omitted.",
			"One report shows all findings: order-dependent "
			"tests first, then API assumptions, then the "
			"remaining pollution.",
			"With --ctest, --meson or --program a whole build is "
			"checked: every executable that contains several tests "
			"is opened, and its tests are "
			"checked one by one; all others are checked as "
			"processes. There is one report and one exit status.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph ./unit_tests", "run all detectors" },
			{ "polygraph check --budget 5m --baseline known.txt "
			  "--format text --format junit --output result.xml "
			  "./unit_tests",
			  "in continuous integration: five minutes, known "
			  "findings ignored, also as JUnit XML" },
			{ "polygraph --ctest build", "a whole CMake build" },
			{ "polygraph --ctest build --shard 2/5 --format json "
			  "--output 2.json",
			  "the second of five shares, for one of five "
			  "machines; "
			  "'polygraph merge' joins the results" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&common_suite_group, &whole_group,
			&state_compared_group, &state_meaning_group,
			&detection_order_group, &schedules_check_group,
			&choices_check_group, &state_run_group, &sandbox_group,
			&common_output_group, &common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.guarded = true,
	.run = check_run,
};

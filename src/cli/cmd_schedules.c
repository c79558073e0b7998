/* polygraph schedules: tests that depend on when asynchronous work arrives. */
#include "cli/detection.h"
#include "cli/sandboxing.h"

static const struct detection_options defaults = DETECTION_DEFAULTS;

static const struct detection_step steps[] = {
	{ .detector = &detector_schedules }, {}
};

static struct err *schedules_run(const struct options *options, int argc,
				 char **argv, enum status *ret)
{
	return detection_run(options, argc, argv, "schedules", steps, ret);
}

const struct command command_schedules = {
	.name = "schedules",
	.summary = "finds tests that depend on when asynchronous work arrives",
	.synopsis =
		(const char *const[]){ "[OPTIONS] [--] TEST-EXECUTABLE [ARGS…]",
				       NULL },
	.description =
		(const char *const[]){
			"A test starts work on another thread and checks the "
			"result before the work is certain to be done. On a "
			"developer's machine it always is; on a busy one the "
			"test fails. 'schedules' finds such tests in a few "
			"runs: it holds the work of other threads where it "
			"begins, as long as the test can do without it. If the "
			"test waits for the work, the work goes on, and the "
			"test passes. If the test only sleeps, or does not "
			"wait at all, it fails. Work that comes too early is "
			"found the same way: the test's own thread waits for "
			"the others before each of its statements.",
			"Sleeps and waits with a time limit cost no time: "
			"while "
			"all threads wait, the clocks of the tested program "
			"run ahead. A test that waits at least as long as "
			"--patience is not reported.",
			"A finding shows which work it is, between which "
			"statements it makes the test fail, what happened in "
			"the failing run, and by how much time the work was "
			"late. Each is confirmed by failing runs with the "
			"schedule and passing runs without it. Findings are "
			"kept in .polygraph/ for 'polygraph replay'.",
			"Only threads of the tested process are scheduled, not "
			"its child processes.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph schedules ./unit_tests",
			  "which tests depend on timing" },
			{ "polygraph schedules --patience 200ms --tests "
			  "'Queue.*' ./unit_tests",
			  "only what fails when work is at most 200 ms late" },
			{ "polygraph schedules --strategy random --runs 100 "
			  "./unit_tests",
			  "random delays instead, for comparison" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&common_suite_group, &schedules_group, &state_run_group,
			&sandbox_group, &common_output_group,
			&common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.guarded = true,
	.run = schedules_run,
};

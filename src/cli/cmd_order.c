/* polygraph order: tests whose outcome depends on which tests ran before. */
#include "cli/detection.h"
#include "cli/sandboxing.h"

static const struct detection_options defaults = DETECTION_DEFAULTS;

static const struct detection_step steps[] = {
	{ .detector = &detector_pollution, .hidden = true },
	{ .detector = &detector_order },
	{},
};

static struct err *order_run(const struct options *options, int argc,
			     char **argv, enum status *ret)
{
	return detection_run(options, argc, argv, "order", steps, ret);
}

const struct command command_order = {
	.name = "order",
	.summary = "finds tests whose outcome depends on which tests ran "
		   "before",
	.synopsis =
		(const char *const[]){ "[OPTIONS] [--] TEST-EXECUTABLE [ARGS…]",
				       "[OPTIONS] --ctest BUILD-DIR | --meson "
				       "BUILD-DIR | --commands FILE",
				       NULL },
	.description =
		(const char *const[]){
			"Runs the tests in other orders, each from the "
			"state before the first test: every test alone, "
			"every test twice, and pairs of tests that may "
			"affect each other. A test that leaves nothing "
			"changed cannot affect others, so one run first "
			"records what each test leaves changed and which "
			"tests read it. The reversed order and a few random "
			"ones come first, then each test alone, polluters "
			"followed by their readers, polluters followed by "
			"any test, and orders in which every pair of tests "
			"is adjacent.",
			"A finding is a test with the shortest orders in "
			"which it passes and fails, each confirmed by "
			"repetition. A victim passes alone and fails after "
			"its polluters; a cleaner run in between lets it "
			"pass. A brittle test fails alone and passes after "
			"its setters. A non-idempotent test fails when it "
			"runs a second time in one process. Where possible, "
			"the report names the variables, files and "
			"attributes that cause the failure, found by "
			"restoring them. What was seen and could not be "
			"explained in time is listed as unexplained. Flaky "
			"tests are reported separately.",
			"The report says what was tried and what was not. "
			"Orders that the suite does not allow (fixtures, "
			"dependencies, priorities, groups) are tried only "
			"with --any-order. Results are kept in .polygraph/, "
			"for later runs and for 'polygraph replay'.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph order ./unit_tests",
			  "which tests depend on the order, and why" },
			{ "polygraph order --budget 10m --all-pairs "
			  "./unit_tests",
			  "every pair of tests, for at most ten minutes" },
			{ "polygraph order --strategy random --runs 20 --seed "
			  "1 ./unit_tests",
			  "twenty random orders of the whole suite" },
			{ "polygraph order --format text --format json "
			  "--output order.json --ctest build",
			  "the tests of a CMake build, also as JSON" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&common_suite_group, &detection_order_group,
			&state_compared_group, &state_run_group, &sandbox_group,
			&common_output_group, &common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.guarded = true,
	.run = order_run,
};

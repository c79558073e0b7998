/* polygraph pollution: tests that leave shared state changed. */
#include "cli/detection.h"
#include "cli/sandboxing.h"

static const struct detection_options defaults = DETECTION_DEFAULTS;

static const struct detection_step steps[] = {
	{ .detector = &detector_pollution },
	{ .detector = &detector_readers },
	{},
};

static struct err *pollution_run(const struct options *options, int argc,
				 char **argv, enum status *ret)
{
	return detection_run(options, argc, argv, "pollution", steps, ret);
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
			"Runs the tests in one process and compares the "
			"state that they share before and after each test. "
			"Memory: the global and static variables of the "
			"project's own code, and everything reachable from "
			"them. Values, shapes and sharing are compared; "
			"addresses, capacities, padding and freed memory "
			"are ignored. Files: everything that the test or a "
			"process it started created, removed, renamed or "
			"changed; rewriting the same content does not count "
			"as a change. Process state: working directory, "
			"environment, signal handlers, open descriptors, "
			"locale and so on. For suites of processes "
			"(--ctest, --meson, --commands): files, and objects "
			"left in the system.",
			"A finding is a test and a variable, file or "
			"attribute. It shows the access path that differs, "
			"the values before and after, whether a second run "
			"changes it again (accumulates) or not (settles), "
			"and which other tests read it. Severity is high "
			"for state that other tests read, for a variable at "
			"most two pointers from its root that accumulates, "
			"and for state that every test depends on (working "
			"directory, umask, locale and so on). Other files "
			"are medium. State that settles and no test reads "
			"is low, as are caches that their readers would "
			"have filled in the same way, files with a new "
			"name in each run, and what all its readers were run "
			"right after, and passed.",
			"Tests run several times and files are not "
			"restored: start in a clean folder.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph pollution ./unit_tests",
			  "what each test leaves changed" },
			{ "polygraph pollution --exclude-roots '^stats_' "
			  "--verbose ./unit_tests",
			  "ignore some variables; show both states in full" },
			{ "polygraph pollution --only files --ctest build",
			  "which files the tests of a build leave behind "
			  "for each other" },
			{ "polygraph pollution --eager ./unit_tests",
			  "initialise statics before the first test, not on "
			  "first use" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&common_suite_group, &state_compared_group,
			&state_meaning_group, &state_run_group, &sandbox_group,
			&common_output_group, &common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.guarded = true,
	.run = pollution_run,
};

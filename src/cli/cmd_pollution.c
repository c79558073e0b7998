/* polygraph pollution: tests that leave shared state changed. */
#include "cli/detection.h"

static const struct detection_options defaults = DETECTION_DEFAULTS;

static const struct detection_step steps[] = {
	{ .detector = &detector_pollution },
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

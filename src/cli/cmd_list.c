/* polygraph list: the tests of a suite. */
#include <string.h>

#include "base/version.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/select.h"
#include "cli/test_digests.h"

struct list_options {
	struct common_options common;
	bool digests;
};

/* clang-format off */
static const struct option list_own_options[] = {
	{ "digests", 0, OPTION_FLAG, .offset = offsetof(struct list_options, digests),
	  .no_config = true,
	  .help = "in JSON, also a digest of the code and data that each test "
		  "is made of, the same as long as none of it changes" },
	{}
};
/* clang-format on */

static const struct option_group list_group = { "List", list_own_options };

static const struct list_options defaults = { .common = COMMON_DEFAULTS };

DEFINE_VEC(list_tests, struct report_test)

static struct err *list_run(const struct options *options, int argc,
			    char **argv, enum status *ret)
{
	const struct list_options *values = options->values;
	_cleanup_(outputs_freep) struct outputs outputs = {};
	_cleanup_(suite_closep) struct suite *suite = NULL;
	_cleanup_(indexes_freep) struct indexes chosen = {};
	_cleanup_(list_tests_freep) struct list_tests tests = {};
	_cleanup_(test_digests_free) struct test_digests digests = {};
	struct common_suite choice;

	TRY(common_suite_choose(options, argc, argv, &choice));
	TRY(outputs_choose(&values->common, "list", &outputs));
	TRY(common_suite_open(&choice, &suite));
	TRY(select_tests(suite, &values->common.tests, &chosen));
	if (values->digests)
		TRY(test_digests_read(suite, &choice.options, &digests));
	for (size_t i = 0; i < chosen.n; i++) {
		const struct suite_test *test =
			suite_test(suite, chosen.data[i]);
		TRY(vec_push(
			&tests,
			(struct report_test){
				.name = test->name,
				.file = test->file,
				.line = test->line,
				.disabled = test->disabled,
				.digest = digests.n ? digests.digests
							      [chosen.data[i]]
						    : 0,
			}));
	}
	struct report report = {
		.kind = "list",
		.version = POLYGRAPH_VERSION,
		.command = (const char *const *)choice.command,
		.framework = suite_framework(suite),
		.suite_tests = suite_count(suite),
		.tests = tests.data,
		.n = tests.n,
		.distinct = tests.n,
	};
	*ret = STATUS_OK;
	return outputs_write(&outputs, &report);
}

const struct command command_list = {
	.name = "list",
	.summary = "lists the tests of a suite: name, file, line",
	.synopsis =
		(const char *const[]){
			"[OPTIONS] [--] TEST-EXECUTABLE [ARGS…]",
			"[OPTIONS] --ctest BUILD-DIR | --meson BUILD-DIR | "
			"--commands FILE",
			NULL },
	.description =
		(const char *const[]){
			"Lists the tests of a suite and where each is defined. "
			"Options come before the test executable; everything "
			"after it is passed to it.",
			"With --quiet, prints only the names, one per line, in "
			"the format that 'polygraph run --order' reads.",
			NULL },
	.examples =
		(const struct command_example[]){
			{ "polygraph list ./unit_tests",
			  "all tests, with file and line" },
			{ "polygraph list --tests 'Registry.*' --format json "
			  "./unit_tests",
			  "some of them, as JSON" },
			{ "polygraph list --quiet ./unit_tests >order.txt",
			  "an order file to start from" },
			{} },
	.groups =
		(const struct option_group *const[]){
			&common_suite_group, &list_group, &common_output_group,
			&common_general_group, NULL },
	.defaults = &defaults,
	.values_size = sizeof(defaults),
	.guarded = true,
	.run = list_run,
};

/* polygraph.toml: what it sets, what wins, and where it is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/common.h"
#include "cli/config.h"

static struct options *make(const struct command *command)
{
	struct options *options = NULL;
	assert_null(options_create(command->groups, command->defaults,
				   command->values_size, &options));
	return options;
}

static char *parse(const char *text, const struct command *command,
		   struct options *options)
{
	struct err *err =
		config_parse(text, strlen(text), "p.toml", command, options);
	if (!err)
		return NULL;
	assert_int_equal(err_kind(err), ERR_USAGE);
	char *message = strdup(err_message(err));
	err_destroy(err);
	return message;
}

static void test_values(void **state _unused_)
{
	_cleanup_(options_destroyp) struct options *options =
		make(&command_run);
	const struct common_options *common = options->values;
	assert_null(parse("# comment\n"
			  "timeout = \"5s\"\n"
			  "tests = [\"a*\", '!b\\d']\n"
			  "verbose = true\n"
			  "color = \"never\"\n"
			  "jobs = 3\n",
			  &command_run, options));
	assert_int_equal(common->timeout_ns, 5 * UINT64_C(1000000000));
	assert_int_equal(common->tests.n, 2);
	assert_string_equal(common->tests.data[1].text, "!b\\d");
	assert_true(common->verbose);
	assert_int_equal(common->color, COLOR_NEVER);
	assert_int_equal(common->jobs, 3);
}

static void test_who_wins(void **state _unused_)
{
	_cleanup_(options_destroyp) struct options *options =
		make(&command_run);
	const struct common_options *common = options->values;
	int used;
	assert_null(options_parse(
		options, 2,
		(char **)(const char *[]){ "--jobs=7", "--tests=line", NULL },
		&used));
	/* The table wins wherever it stands; the command line over both. */
	assert_null(parse("[run]\n"
			  "timeout = \"1s\"\n"
			  "jobs = 5\n"
			  "tests = [\"table\"]\n",
			  &command_run, options));
	assert_null(
		parse("timeout = \"2s\"\njobs = 4\n", &command_run, options));
	assert_int_equal(common->jobs, 7);
	assert_int_equal(common->timeout_ns, UINT64_C(1000000000));
	assert_int_equal(common->tests.n, 1);
	assert_string_equal(common->tests.data[0].text, "line");
}

static void test_other_commands(void **state _unused_)
{
	_cleanup_(options_destroyp) struct options *options =
		make(&command_list);
	const struct common_options *common = options->values;
	/* Options of run, at the top or in its table, do not disturb list. */
	assert_null(parse("jobs = 2\nshuffle = true\n"
			  "[run]\nquiet = true\nalone = true\n"
			  "[pollution]\ninclude-roots = [\"^x\"]\n",
			  &command_list, options));
	assert_false(common->quiet);
	assert_int_equal(common->jobs, 0);
}

/* `order` is an option of run and will be a command: its type tells. */
static void test_order_is_both(void **state _unused_)
{
	_cleanup_(options_destroyp) struct options *options =
		make(&command_run);
	assert_null(parse("order = \"order.txt\"\n", &command_run, options));
	assert_int_equal(options_source(options, "order"), OPTION_CONFIG);
	_cleanup_(options_destroyp) struct options *other = make(&command_run);
	assert_null(parse("[order]\nruns = 3\n", &command_run, other));
	assert_int_equal(options_source(other, "order"), OPTION_DEFAULT);
}

static void test_slips(void **state _unused_)
{
	static const struct {
		const char *text;
		const char *message;
	} slips[] = {
		{ "\n\ntimeuot = 3\n",
		  "p.toml:3: there is no option 'timeuot'" },
		{ "[run]\n# x\nshuffel = true",
		  "p.toml:3: there is no option 'shuffel'" },
		{ "[list]\nshuffle = true",
		  "p.toml:2: there is no option 'shuffle'" },
		{ "[nope]\nx = 1", "p.toml:1: there is no command 'nope'" },
		{ "config = 'x'", "p.toml:1: there is no option 'config'" },
		{ "quiet = 1", "p.toml:1: quiet: must be true or false" },
		{ "jobs = '3'", "p.toml:1: jobs: must be a number" },
		{ "jobs = 0", "p.toml:1: jobs: 0 is out of range (1 to 4096)" },
		{ "jobs = -1", "p.toml:1: jobs: '-1' is not a number" },
		{ "tests = [1]", "p.toml:1: tests: must be text in quotes" },
		{ "tests = [['a']]",
		  "p.toml:1: tests: must be text in quotes" },
		{ "tests = \"a\\u0000b\"",
		  "p.toml:1: tests: must be text in quotes" },
		{ "ctest = ['a']",
		  "p.toml:1: ctest: takes one value, not a list" },
		{ "timeout = \"x\"",
		  "p.toml:1: timeout: 'x' is not a duration" },
		{ "color = 'pink'", "p.toml:1: color: there is no 'pink'" },
		{ "timeout = nan", "p.toml:1: not a number" },
		{ "tests = ['a',\n'b']\ntimeout = 1979-05-27T00:32:00.5-07:00",
		  "p.toml:3: timeout: '1979-05-27T00:32:00.5-07:00' is not a "
		  "duration" },
		{ "run.jobs = 3\nrun.jbs = 4",
		  "p.toml:2: there is no option 'jbs'" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(slips); i++) {
		_cleanup_(options_destroyp) struct options *options =
			make(&command_run);
		_cleanup_(freep) char *message =
			parse(slips[i].text, &command_run, options);
		assert_non_null(message);
		assert_string_equal(message, slips[i].message);
	}
}

/* What is not TOML is an error with a line, whatever its words. */
static void test_not_toml(void **state _unused_)
{
	static const struct {
		const char *text;
		const char *place;
	} texts[] = {
		{ "x = [", "p.toml:1: " },
		{ "x", "p.toml:1: " },
		{ "\n= 1", "p.toml:2: " },
		{ "x = \"a\ny\"", "p.toml:1: " },
		{ "x = [1,\n2\n,,3]", "p.toml:3: " },
		{ "[run\n", "p.toml:1: " },
		{ "\n[.x]\n", "p.toml:2: " },
		{ "\nx = 1979-05-27Tx\n", "p.toml:2: " },
		{ "\n\xc3\xa4 = 1\n", "p.toml:2: " },
		{ "a = 1\na = 2\n", "p.toml:2: " },
		{ "[run]\n[list]\n[run.x]\n[run]\n", "p.toml:4: " },
		{ "a.b = 1\na.b = 2\n", "p.toml:2: " },
		{ "a = 1\na.b = 2\n", "p.toml:2: " },
		{ "a = {b = 1}\na.c = 2\n", "p.toml:2: " },
		{ "jobs = 99999999999999999999", "p.toml:1: " },
		{ "tests = \"\\ud800\"", "p.toml:1: " },
		{ "tests = \"\xff\"", "p.toml:1: " },
		{ "\n\xff = 1", "p.toml:2: " },
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_(options_destroyp) struct options *options =
			make(&command_run);
		_cleanup_(freep) char *message =
			parse(texts[i].text, &command_run, options);
		assert_non_null(message);
		assert_memory_equal(message, texts[i].place,
				    strlen(texts[i].place));
		assert_null(strchr(message, '\n'));
	}
}

static void test_deep_nesting(void **state _unused_)
{
	size_t n = 200000;
	_cleanup_(freep) char *text = malloc(n + 1);
	static const char *const fills[] = { "[", "a.", "{a=", "\"a\"." };
	for (size_t i = 0; i < ARRAY_SIZE(fills); i++) {
		for (size_t j = 0; j < n; j++)
			text[j] = fills[i][j % strlen(fills[i])];
		memcpy(text, "a = ", i == 0 || i == 2 ? 4 : 0);
		text[n] = '\0';
		_cleanup_(options_destroyp) struct options *options =
			make(&command_run);
		_cleanup_(freep) char *message =
			parse(text, &command_run, options);
		assert_string_equal(message, "p.toml:1: nested too deeply");
	}
	/* Brackets inside of strings are none. */
	for (size_t j = 0; j < n; j++)
		text[j] = '[';
	memcpy(text, "tests = '", 9);
	memcpy(text + n - 2, "'\n", 2);
	_cleanup_(options_destroyp) struct options *options =
		make(&command_run);
	assert_null(parse(text, &command_run, options));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_who_wins),
		cmocka_unit_test(test_other_commands),
		cmocka_unit_test(test_order_is_both),
		cmocka_unit_test(test_slips),
		cmocka_unit_test(test_not_toml),
		cmocka_unit_test(test_deep_nesting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Option tables: the parser, suggestions, order files, selection, help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/option.h"
#include "cli/order_file.h"
#include "cli/output.h"
#include "report/name.h"

struct values {
	bool flag;
	char *text;
	struct option_list list;
	uint64_t number;
	uint64_t ns;
	unsigned choice;
};

static const char *const choices[] = { "red", "green", NULL };
#define FIELD(member) .offset = offsetof(struct values, member)

/* clang-format off */
static const struct option first_options[] = {
	{ "flag", 'f', OPTION_FLAG, FIELD(flag), .help = "a flag" },
	{ "text", 't', OPTION_TEXT, FIELD(text), .value = "X", .help = "text" },
	{}
};
static const struct option second_options[] = {
	{ "list", 0, OPTION_LIST, FIELD(list), .value = "X", .help = "list" },
	{ "number", 'n', OPTION_NUMBER, FIELD(number), .value = "N", .min = 2,
	  .max = 9, .help = "a number" },
	{ "time", 0, OPTION_DURATION, FIELD(ns), .value = "D", .help = "time" },
	{ "choice", 0, OPTION_CHOICE, FIELD(choice), .value = "C",
	  .choices = choices, .help = "a choice" },
	{}
};
/* clang-format on */

static const struct option_group first = { "First", first_options };
static const struct option_group second = { "Second", second_options };
static const struct option_group *const groups[] = { &first, &second, NULL };
static const struct values defaults = { .number = 5 };

static struct options *make(void)
{
	struct options *options = NULL;
	assert_null(
		options_create(groups, &defaults, sizeof(defaults), &options));
	return options;
}

/* Parses words; the error's message and hint, or NULL. */
static char *parse(struct options *options, char **words, int *used)
{
	int n = 0;
	while (words[n])
		n++;
	struct err *err = options_parse(options, n, words, used);
	if (!err)
		return NULL;
	assert_int_equal(err_kind(err), ERR_USAGE);
	char *text;
	const char *hint = err_hint_text(err);
	assert_true(asprintf(&text, "%s%s%s", err_message(err),
			     hint ? "; " : "", hint ? hint : "") > 0);
	err_destroy(err);
	return text;
}

#define WORDS(...) ((char **)(const char *[]){ __VA_ARGS__, NULL })

static void test_values(void **state _unused_)
{
	_cleanup_(options_destroyp) struct options *options = make();
	const struct values *values = options->values;
	int used;
	assert_null(parse(options,
			  WORDS("--flag", "--text=a=b", "--list", "x",
				"--list=-y", "-n", "7", "--time", "2m",
				"--choice=green", "prog", "--flag"),
			  &used));
	assert_int_equal(used, 10);
	assert_true(values->flag);
	assert_string_equal(values->text, "a=b");
	assert_int_equal(values->list.n, 2);
	assert_string_equal(values->list.data[0].text, "x");
	assert_string_equal(values->list.data[1].text, "-y");
	assert_true(values->list.data[0].rank < values->list.data[1].rank);
	assert_int_equal(values->number, 7);
	assert_int_equal(values->ns, 120 * UINT64_C(1000000000));
	assert_int_equal(values->choice, 1);
	assert_false(options->ended);
	assert_int_equal(options_source(options, "text"), OPTION_COMMAND_LINE);
	assert_int_equal(options_source(options, "nope"), OPTION_DEFAULT);
}

static void test_forms(void **state _unused_)
{
	_cleanup_(options_destroyp) struct options *options = make();
	const struct values *values = options->values;
	int used;
	assert_null(
		parse(options, WORDS("-fn3", "-tx", "--", "--flag"), &used));
	assert_int_equal(used, 3);
	assert_true(options->ended);
	assert_true(values->flag);
	assert_int_equal(values->number, 3);
	assert_string_equal(values->text, "x");
	/* A lone dash is a word, the last text counts, flags are taken back. */
	options->ended = false;
	assert_null(parse(options, WORDS("--no-flag", "-t", "--", "-"), &used));
	assert_int_equal(used, 3);
	assert_false(values->flag);
	assert_string_equal(values->text, "--");
	assert_null(parse(options, WORDS("--text", ""), &used));
	assert_string_equal(values->text, "");
}

static void test_slips(void **state _unused_)
{
	static const struct {
		const char *words[3];
		const char *message;
	} slips[] = {
		{ { "--flg" },
		  "unknown option '--flg'; did you mean '--flag'?" },
		{ { "--nubmer=3" },
		  "unknown option '--nubmer'; did you mean '--number'?" },
		{ { "--zzzzzz" }, "unknown option '--zzzzzz'" },
		{ { "--no-text" }, "unknown option '--no-text'" },
		{ { "--=x" }, "unknown option '--'" },
		{ { "-x" }, "unknown option '-x'" },
		{ { "-list=3" },
		  "unknown option '-l'; did you mean '--list'?" },
		{ { "--flag=1" }, "option '--flag' takes no value" },
		{ { "--text" }, "option '--text' needs a value (X)" },
		{ { "-n" }, "option '-n' needs a value (N)" },
		{ { "--number", "x" }, "--number: 'x' is not a number" },
		{ { "--number", "-3" }, "--number: '-3' is not a number" },
		{ { "--number", "" }, "--number: '' is not a number" },
		{ { "-n", "1" }, "-n: 1 is out of range (2 to 9)" },
		{ { "-n99999999999999999999" },
		  "-n: '99999999999999999999' is not a number" },
		{ { "--choice=gren" },
		  "--choice: there is no 'gren'; did you mean 'green'? "
		  "possible "
		  "values: red, green" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(slips); i++) {
		_cleanup_(options_destroyp) struct options *options = make();
		int used = -1;
		_cleanup_(freep) char *message =
			parse(options, (char **)slips[i].words, &used);
		assert_non_null(message);
		assert_string_equal(message, slips[i].message);
		assert_int_equal(used, -1);
	}
}

static void test_sources(void **state _unused_)
{
	_cleanup_(options_destroyp) struct options *options = make();
	const struct values *values = options->values;
	const struct option *list = option_find(groups, "list");
	const struct option *number = option_find(groups, "number");
	int used;
	/* Invariant 1: whichever is read first. */
	assert_null(options_set(options, list, "top", OPTION_CONFIG));
	assert_null(options_set(options, list, "top 2", OPTION_CONFIG));
	assert_int_equal(values->list.n, 2);
	assert_null(options_set(options, list, "table", OPTION_CONFIG_TABLE));
	assert_int_equal(values->list.n, 1);
	assert_null(options_set(options, list, "late top", OPTION_CONFIG));
	assert_string_equal(values->list.data[0].text, "table");
	assert_null(parse(options, WORDS("--list=line", "--number=4"), &used));
	assert_int_equal(values->list.n, 1);
	assert_string_equal(values->list.data[0].text, "line");
	assert_null(options_set(options, number, "8", OPTION_CONFIG_TABLE));
	assert_int_equal(values->number, 4);
	assert_int_equal(options_source(options, "flag"), OPTION_DEFAULT);
}

static const char *nearest(const char *word, const char *const *candidates)
{
	struct suggestion suggestion;
	suggestion_init(&suggestion, word);
	for (; *candidates; candidates++)
		suggestion_offer(&suggestion, *candidates);
	return suggestion.best;
}

static void test_suggestions(void **state _unused_)
{
	static const char *const names[] = { "Registry.Adds",
					     "Registry.Removes", "list", "run",
					     NULL };
	assert_string_equal(nearest("lsit", names), "list");
	assert_string_equal(nearest("LIST", names), "list");
	assert_string_equal(nearest("registry.adds", names), "Registry.Adds");
	assert_string_equal(nearest("Removes", names), "Registry.Removes");
	assert_null(nearest("frobnicate", names));
	assert_null(nearest("x", names));
	assert_null(nearest("", names));
	char big[1000];
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	assert_null(nearest(big, names));
}

static void test_order_file(void **state _unused_)
{
	static const char text[] = "plain\n\n  \t\nwin\r\n"
				   "a\\nb\\\\c\\x41\\t\\r\n"
				   "odd\\q\nnul\\x00\n # no comment";
	_cleanup_(order_file_freep) struct order_file order = {};
	assert_null(order_file_parse(text, strlen(text), &order));
	assert_int_equal(order.n, 6);
	assert_string_equal(order.data[0].name, "plain");
	assert_string_equal(order.data[1].name, "win");
	assert_int_equal(order.data[1].line, 4);
	assert_string_equal(order.data[2].name, "a\nb\\cA\t\r");
	assert_null(order.data[3].name);
	assert_string_equal(order.data[3].raw, "odd\\q");
	assert_null(order.data[4].name);
	assert_string_equal(order.data[5].name, " # no comment");

	struct order_file untouched = {};
	struct err *err = order_file_parse("a\0b", 3, &untouched);
	assert_non_null(err);
	assert_string_equal(err_message(err), "line 1 has a NUL byte in it");
	err_destroy(err);
	assert_null(order_file_parse("", 0, &untouched));
	assert_int_equal(untouched.n, 0);
}

/* What is written is read back, whatever the name. */
static void test_order_names(void **state _unused_)
{
	static const char *const names[] = {
		"a",
		" ",
		"\t ",
		"a\nb",
		"\r",
		"back\\slash",
		"\\n",
		"\\",
		"bad\xff\xfe byte",
		"\x01\x1b[31m",
		"中文",
		"\xc2\x85",
		"a\r",
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(str_freep) struct str line = STR_INIT;
		_cleanup_(order_file_freep) struct order_file order = {};
		assert_null(name_append(&line, names[i]));
		assert_null(strchr(line.s, '\n'));
		assert_null(order_file_parse(line.s, line.n, &order));
		assert_int_equal(order.n, 1);
		assert_string_equal(order.data[0].name, names[i]);
	}
}

static struct option_item item(const char *text, unsigned rank)
{
	return (struct option_item){ (char *)text, rank };
}

static void test_output_pairs(void **state _unused_)
{
	struct option_item formats[] = { item("text", 0), item("json", 1),
					 item("junit", 3) };
	struct option_item paths[] = { item("/dev/null", 2), item("-", 4) };
	struct common_options common = {
		.formats = { formats, 3, 3 },
		.outputs = { paths, 2, 2 },
	};
	_cleanup_(outputs_freep) struct outputs outputs = {};
	/* text and junit would both go to standard output. */
	struct err *err = outputs_choose(&common, "run", &outputs);
	assert_non_null(err);
	assert_int_equal(err_kind(err), ERR_USAGE);
	err_destroy(err);

	paths[1].text = (char *)"/dev/zero";
	assert_null(outputs_choose(&common, "run", &outputs));
	assert_int_equal(outputs.n, 3);
	assert_null(outputs.data[0].path);
	assert_ptr_equal(outputs.data[1].format, &report_json);
	assert_string_equal(outputs.data[1].path, "/dev/null");
	assert_string_equal(outputs.data[2].path, "/dev/zero");
}

static void test_output_before_format(void **state _unused_)
{
	struct option_item formats[] = { item("json", 5), item("text", 6) };
	struct option_item paths[] = { item("/dev/null", 1) };
	struct common_options common = {
		.formats = { formats, 2, 2 },
		.outputs = { paths, 1, 1 },
	};
	_cleanup_(outputs_freep) struct outputs outputs = {};
	assert_null(outputs_choose(&common, "list", &outputs));
	assert_int_equal(outputs.n, 2);
	assert_string_equal(outputs.data[0].path, "/dev/null");
	assert_ptr_equal(outputs.data[0].format, &report_json);
	assert_null(outputs.data[1].path);
}

static void test_output_alone(void **state _unused_)
{
	struct option_item paths[] = { item("/dev/null", 1) };
	struct common_options common = { .outputs = { paths, 1, 1 } };
	_cleanup_(outputs_freep) struct outputs outputs = {};
	assert_null(outputs_choose(&common, "list", &outputs));
	assert_int_equal(outputs.n, 1);
	assert_ptr_equal(outputs.data[0].format, &report_text);
	assert_string_equal(outputs.data[0].path, "/dev/null");
}

/* Every option of every command is in its help and in its manual page. */
static void test_help_is_complete(void **state _unused_)
{
	for (size_t c = 0; commands[c]; c++) {
		_cleanup_(freep) char *help = NULL;
		_cleanup_(freep) char *page = NULL;
		size_t n;
		FILE *out = open_memstream(&help, &n);
		assert_null(help_write(commands[c], false, 50, out));
		fclose(out);
		out = open_memstream(&page, &n);
		assert_null(manual_write(commands[c], out));
		fclose(out);
		assert_true(str_starts(page, ".TH POLYGRAPH-"));
		for (size_t g = 0; commands[c]->groups[g]; g++) {
			const struct option *o =
				commands[c]->groups[g]->options;
			for (; o->name; o++) {
				char name[64];
				snprintf(name, sizeof(name), "--%s", o->name);
				assert_non_null(strstr(help, name));
				assert_non_null(o->help);
				assert_true((o->type == OPTION_FLAG) ==
					    !o->value);
			}
		}
		char *save = NULL;
		for (char *line = strtok_r(help, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			/* Commands to type are not broken. */
			if (!str_starts(line, "  polygraph "))
				assert_true(strlen(line) <= 52);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_slips),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_suggestions),
		cmocka_unit_test(test_order_file),
		cmocka_unit_test(test_order_names),
		cmocka_unit_test(test_output_pairs),
		cmocka_unit_test(test_output_before_format),
		cmocka_unit_test(test_output_alone),
		cmocka_unit_test(test_help_is_complete),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Reports: the same run in each format, hostile texts, the progress line. */
#include <fcntl.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/log.h"
#include "base/str.h"
#include "finding/dependence.h"
#include "report/progress.h"
#include "report/report.h"
#include "report/width.h"

#define MS UINT64_C(1000000)

static const char *const command[] = { "./unit_tests", "--x", NULL };
static const char output[] = "one\n\ttwo\033[31m\r\nnul\0end\n";

static const struct report_test tests[] = {
	{ .name = "A.Passes",
	  .file = "a.cc",
	  .line = 3,
	  .outcome = OUTCOME_PASS,
	  .ns = 400000,
	  .output = "chatter\n",
	  .output_n = 8 },
	{ .name = "A \"<&>'\n\xff\x01",
	  .file = "b.cc",
	  .line = 5,
	  .outcome = OUTCOME_FAIL,
	  .ns = 12 * MS,
	  .message = "expected 1\ngot 2]]>",
	  .failure_file = "./sub/../b.cc",
	  .failure_line = 7,
	  .output = output,
	  .output_n = sizeof(output) - 1,
	  .output_dropped = 99 },
	{ .name = "A.Crashes", .outcome = OUTCOME_CRASH, .ns = 1 },
	{ .name = "A.Hangs",
	  .outcome = OUTCOME_TIMEOUT,
	  .ns = 30000 * MS,
	  .message = "no end after 30 s" },
	{ .name = "A.Skips", .outcome = OUTCOME_SKIP, .message = "no network" },
	{ .name = "A.DISABLED", .outcome = OUTCOME_SKIP, .disabled = true },
};

static const char *const limits[] = { "run: 3 of 9 tests not run <&" };
static const uint64_t seed = 42;

static const struct report run = {
	.kind = "run",
	.version = "0.1.0",
	.command = command,
	.framework = "gtest",
	.suite_tests = 9,
	.tests = tests,
	.n = ARRAY_SIZE(tests),
	.distinct = ARRAY_SIZE(tests),
	.ns = 1240 * MS,
	.seed = &seed,
	.limits = limits,
	.n_limits = 1,
};

static char *render(const struct report *report, const char *format,
		    struct report_style style)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	assert_null(report_format_find(format)->write(report, &style, out));
	fclose(out);
	assert_int_equal(strlen(text), n);
	return text;
}

static void test_text(void **state _unused_)
{
	_cleanup_(freep) char *text =
		render(&run, "text", (struct report_style){});
	assert_string_equal(text,
			    "FAIL      12.0 ms  A \"<&>'\\n\\xff\\x01\n"
			    "        b.cc:7\n"
			    "        expected 1\n"
			    "        got 2]]>\n"
			    "        | one\n"
			    "        | \ttwo\\x1b[31m\n"
			    "        | nul\\x00end\n"
			    "        | (99 bytes omitted in the middle)\n"
			    "\n"
			    "CRASH        0 µs  A.Crashes\n"
			    "\n"
			    "TIMEOUT   30.00 s  A.Hangs\n"
			    "        no end after 30 s\n"
			    "\n"
			    "SKIP         0 µs  A.Skips\n"
			    "        no network\n"
			    "6 tests: 1 passed, 1 failed, 1 crashed, 1 timed "
			    "out, 2 skipped "
			    "(1 disabled) in 1.24 s\n"
			    "shuffled; --seed 42 repeats this order\n"
			    "limit: run: 3 of 9 tests not run <&\n");
}

static void test_text_styles(void **state _unused_)
{
	_cleanup_(freep) char *quiet =
		render(&run, "text", (struct report_style){ .quiet = true });
	assert_string_equal(quiet, "FAIL      12.0 ms  A \"<&>'\\n\\xff\\x01\n"
				   "CRASH        0 µs  A.Crashes\n"
				   "TIMEOUT   30.00 s  A.Hangs\n"
				   "shuffled; --seed 42 repeats this order\n");
	_cleanup_(freep) char *verbose =
		render(&run, "text", (struct report_style){ .verbose = true });
	assert_non_null(strstr(verbose, "PASS       400 µs  A.Passes\n"
					"        | chatter\n"));
	assert_non_null(strstr(verbose, "A.DISABLED  (disabled)\n"));
	_cleanup_(freep) char *color =
		render(&run, "text", (struct report_style){ .color = true });
	assert_non_null(strstr(color, "\033[1;31mFAIL"));
	assert_null(strstr(color, "two\033"));
}

static void test_text_tail(void **state _unused_)
{
	_cleanup_(str_freep) struct str many = STR_INIT;
	for (int i = 0; i < 100; i++)
		assert_null(str_appendf(&many, "line %d\n", i));
	struct report_test test = { .name = "t",
				    .outcome = OUTCOME_FAIL,
				    .output = many.s,
				    .output_n = many.n };
	struct report report = run;
	report.tests = &test;
	report.n = report.distinct = 1;
	_cleanup_(freep) char *text =
		render(&report, "text", (struct report_style){});
	assert_null(strstr(text, "| line 79\n"));
	assert_non_null(strstr(text, "shown with --verbose\n"
				     "        | line 80\n"));
	assert_non_null(strstr(text, "| line 99\n"));
	/* One endless line is cut, too. */
	_cleanup_(freep) char *endless = malloc(100000);
	memset(endless, 'x', 100000);
	test.output = endless;
	test.output_n = 100000;
	_cleanup_(freep) char *cut =
		render(&report, "text", (struct report_style){});
	assert_true(strlen(cut) < 6000);
	_cleanup_(freep) char *whole = render(
		&report, "text", (struct report_style){ .verbose = true });
	assert_true(strlen(whole) > 100000);
}

static void test_text_repeated(void **state _unused_)
{
	struct report report = run;
	report.n = 1;
	report.distinct = 1;
	report.seed = NULL;
	report.n_limits = 0;
	_cleanup_(freep) char *one =
		render(&report, "text", (struct report_style){});
	assert_string_equal(one, "1 test: 1 passed in 1.24 s\n");
	struct report_test twice[] = { tests[0], tests[0] };
	report.tests = twice;
	report.n = 2;
	_cleanup_(freep) char *two =
		render(&report, "text", (struct report_style){});
	assert_string_equal(two, "2 runs of 1 test: 2 passed in 1.24 s\n");
}

static const struct report_test listed[] = {
	{ .name = "short", .file = "a.c", .line = 1 },
	{ .name = "中文 wide", .file = "/x/b.c", .line = 22 },
	{ .name = "a\nb\\c", .disabled = true },
};

static const struct report list = {
	.kind = "list",
	.version = "0.1.0",
	.command = command,
	.framework = "check",
	.suite_tests = 4,
	.tests = listed,
	.n = 3,
	.distinct = 3,
};

static void test_list(void **state _unused_)
{
	_cleanup_(freep) char *text =
		render(&list, "text", (struct report_style){});
	assert_string_equal(text, "short      a.c:1\n"
				  "中文 wide  /x/b.c:22\n"
				  "a\\nb\\c     (disabled)\n"
				  "\n"
				  "3 tests of 4, 1 disabled (check)\n");
	_cleanup_(freep) char *quiet =
		render(&list, "text", (struct report_style){ .quiet = true });
	assert_string_equal(quiet, "short\n中文 wide\na\\nb\\\\c\n");
}

static void json_freep(json_t **json)
{
	json_decref(*json);
}

static json_t *render_json(const struct report *report,
			   struct report_style style)
{
	_cleanup_(freep) char *text = render(report, "json", style);
	json_error_t error;
	json_t *json = json_loads(text, JSON_ALLOW_NUL, &error);
	assert_non_null(json);
	return json;
}

static void test_json(void **state _unused_)
{
	_cleanup_(json_freep) json_t *json =
		render_json(&run, (struct report_style){});
	int schema, total, line;
	const char *version, *framework, *name, *outcome, *file, *message;
	json_t *all, *words;
	double seconds;
	assert_int_equal(
		json_unpack(json, "{s:i, s:s, s:{s:o, s:s, s:i}, s:o, s:[]}",
			    "schema", &schema, "polygraph", &version, "suite",
			    "command", &words, "framework", &framework, "tests",
			    &total, "tests", &all, "findings"),
		0);
	assert_int_equal(schema, 1);
	assert_string_equal(version, "0.1.0");
	assert_int_equal(json_array_size(words), 2);
	assert_int_equal(total, 9);
	assert_int_equal(json_array_size(all), 6);
	assert_int_equal(json_integer_value(json_object_get(json, "seed")), 42);
	assert_int_equal(json_array_size(json_object_get(json, "limits")), 1);

	json_t *pass = json_array_get(all, 0);
	assert_int_equal(json_unpack(pass, "{s:s, s:s, s:i, s:s, s:F}", "name",
				     &name, "file", &file, "line", &line,
				     "outcome", &outcome, "seconds", &seconds),
			 0);
	assert_string_equal(name, "A.Passes");
	assert_string_equal(outcome, "pass");
	assert_true(seconds == 0.0004);
	assert_null(json_object_get(pass, "failure"));
	assert_null(json_object_get(pass, "output"));

	json_t *fail = json_array_get(all, 1);
	assert_int_equal(json_unpack(fail, "{s:s, s:{s:s, s:i, s:s}}", "name",
				     &name, "failure", "file", &file, "line",
				     &line, "message", &message),
			 0);
	assert_string_equal(name, "A \"<&>'\n\\xff\x01");
	assert_string_equal(file, "b.cc");
	assert_int_equal(line, 7);
	assert_string_equal(message, "expected 1\ngot 2]]>");
	json_t *crash = json_array_get(all, 2);
	assert_true(json_is_null(json_object_get(crash, "file")));
	assert_true(json_is_object(json_object_get(crash, "failure")));
	assert_true(json_is_true(
		json_object_get(json_array_get(all, 5), "disabled")));
}

static void test_json_verbose(void **state _unused_)
{
	_cleanup_(json_freep) json_t *json =
		render_json(&run, (struct report_style){ .verbose = true });
	json_t *fail = json_array_get(json_object_get(json, "tests"), 1);
	json_t *text = json_object_get(fail, "output");
	assert_int_equal(json_string_length(text), sizeof(output) - 1);
	assert_memory_equal(json_string_value(text), output,
			    sizeof(output) - 1);
	assert_int_equal(
		json_integer_value(json_object_get(fail, "output_dropped")),
		99);
	_cleanup_(json_freep) json_t *names =
		render_json(&list, (struct report_style){});
	json_t *first = json_array_get(json_object_get(names, "tests"), 0);
	assert_null(json_object_get(first, "outcome"));
}

static void test_junit(void **state _unused_)
{
	_cleanup_(freep) char *xml =
		render(&run, "junit", (struct report_style){});
	assert_non_null(strstr(xml, "<testsuites tests=\"6\" failures=\"1\" "
				    "errors=\"2\" time=\"1.240000\">"));
	assert_non_null(strstr(xml, "tests=\"6\" failures=\"1\" errors=\"2\" "
				    "skipped=\"2\" time=\"1.240000\""));
	assert_non_null(
		strstr(xml, "name=\"A &quot;&lt;&amp;&gt;'&#10;\\xff\\x01\""));
	assert_non_null(strstr(xml, "classname=\"unit_tests\""));
	assert_non_null(strstr(xml, "b.cc:7\nexpected 1\ngot 2]]&gt;"));
	assert_non_null(
		strstr(xml, "<error message=\"crash\" type=\"crash\">"));
	assert_non_null(strstr(xml, "<skipped>no network</skipped>"));
	assert_non_null(strstr(xml, "two\\x1b[31m\\x0d\nnul\\x00end"));
	assert_non_null(strstr(xml, "name=\"seed\" value=\"42\""));
	assert_null(strstr(xml, "chatter"));
	for (const char *p = xml; *p; p++)
		assert_true((unsigned char)*p >= 0x20 || *p == '\n' ||
			    *p == '\t');
}

/* ---- order-dependent tests ---- */

static const char hostile[] = "A \"<&>'\n\xff\x1b[31m";

static struct roster_test roster_tests[] = {
	{ .name = hostile },
	{ .name = "B.One" },
	{ .name = "B.Two" },
	{ .name = "C.Victim" },
};
static const struct roster roster = { roster_tests, ARRAY_SIZE(roster_tests) };
enum { HOSTILE, ONE, TWO, VICTIM };

#define LIST(type, ...)                                                        \
	{                                                                      \
		(type[]){ __VA_ARGS__ },                                       \
			ARRAY_SIZE(((type[]){ __VA_ARGS__ })), 0               \
	}

static struct dependence victim = {
	.test = VICTIM,
	.polluters = LIST(struct order_tests, LIST(size_t, HOSTILE),
			  LIST(size_t, ONE, TWO)),
	.cleaners = LIST(struct order_tests, LIST(size_t, HOSTILE)),
	.cleaners_complete = true,
	.passing = LIST(size_t, VICTIM),
	.failing = LIST(size_t, HOSTILE, VICTIM),
	.failure = { OUTCOME_FAIL, "\n  expected\t0\r\n got \x1b[31m1\n\n",
		     "./c\n.cc", 7 },
	.polluted = LIST(char *, "root\x07", "other"),
	.polluted_together = true,
	.roots_known = true,
	.repeats = 1,
	.because = LIST(char *, "pollution-1", "pollution-2"),
	.left = { .test = HOSTILE,
		  .path = "root\x07.x",
		  .before = "0",
		  .after = "\"\n\"" },
};

static const struct finding order_findings[] = {
	{ .id = "order-1",
	  .kind = &dependence_kind,
	  .tests = &roster,
	  .test = VICTIM,
	  .severity = FINDING_HIGH,
	  .file = "./c\n.cc",
	  .line = 7,
	  .message = "C.Victim fails",
	  .replay = "polygraph replay order-1",
	  .evidence = &victim },
};

static const struct order_reach reach = {
	.systematic = true,
	.executions = 1000,
	.pairs = 1234567,
	.pairs_tried = 999,
	.pairs_by_state = 1233567,
	.orders = 12,
	.rows = 3,
	.rows_all = 4,
	.alone = true,
};

static const struct report order = {
	.kind = "order",
	.version = "0.1.0",
	.command = command,
	.framework = "gtest",
	.suite_tests = 9,
	.tests = tests,
	.n = 1,
	.distinct = 1,
	.ns = 1240 * MS,
	.roster = &roster,
	.findings = order_findings,
	.n_findings = 1,
	.order = &reach,
};

static void test_order_text(void **state _unused_)
{
	_cleanup_(freep) char *text =
		render(&order, "text", (struct report_style){});
	assert_string_equal(
		text,
		"high    C.Victim fails after A \"<&>'\\n\\xff\\x1b[31m, "
		"passes alone  [order-1]\n"
		"        c\\n.cc:7: expected\\t0\n"
		"         got \\x1b[31m1\n"
		"        A \"<&>'\\n\\xff\\x1b[31m leaves root\\x07.x: 0 → "
		"\"\\n\"\n"
		"        root\\x07 is also changed by: B.One, B.Two\n"
		"1 problem in 1 test; start with: polygraph replay order-1\n");
	_cleanup_(freep) char *verbose = render(
		&order, "text", (struct report_style){ .verbose = true });
	const char *found = strstr(verbose, "high    ");
	assert_non_null(found);
	assert_string_equal(
		found,
		"high    C.Victim: victim: fails after A "
		"\"<&>'\\n\\xff\\x1b[31m (passes alone)\n"
		"        fails at c\\n.cc:7: expected 0 got \\x1b[31m1\n"
		"        polluters: A \"<&>'\\n\\xff\\x1b[31m; [B.One, B.Two] "
		"together (not all were tried) · cleaners: A "
		"\"<&>'\\n\\xff\\x1b[31m\n"
		"        polluted: [root\\x07, other] together (A "
		"\"<&>'\\n\\xff\\x1b[31m leaves root\\x07.x: 0 → "
		"\"\\n\")\n"
		"        failing order: A \"<&>'\\n\\xff\\x1b[31m, C.Victim (1 "
		"time)\n"
		"        passing order: C.Victim (1 time)\n"
		"        because of: pollution-1, pollution-2\n"
		"        reproduce: polygraph replay order-1\n"
		"1 test: 1 passed in 1.24 s\n"
		"1 test depends on the order: 1 victim\n"
		"tried: every test alone; the whole suite in 12 orders; 1,000 "
		"test executions\n"
		"pairs: 999 of 1,234,567 tried, one test right after the "
		"other; in 1,233,567 more, the first test leaves no compared "
		"state changed; 1 not tried; covering orders: 3 of 4\n"
		"1 problem in 1 test; start with: polygraph replay order-1\n");
	_cleanup_(freep) char *color =
		render(&order, "text", (struct report_style){ .color = true });
	assert_non_null(strstr(color, "\033[1;31mhigh   \033[0m C.Victim"));
	/* Nothing of the tested program's, only the verdict's. */
	const char *red = strstr(color, "\033[31m");
	assert_non_null(red);
	assert_true(str_starts(red, "\033[31m1 problem in 1 test"));
}

static void test_order_json(void **state _unused_)
{
	_cleanup_(json_freep) json_t *json =
		render_json(&order, (struct report_style){});
	json_t *finding = json_array_get(json_object_get(json, "findings"), 0);
	const char *class, *polluter, *root, *left, *test;
	int line, by_state, runs;
	assert_int_equal(
		json_unpack(finding,
			    "{s:s, s:[[s], [s, s]], s:[], s:[s, s], s:{s:i}, "
			    "s:{s:s}, s:b}",
			    "class", &class, "polluters", &polluter, &test,
			    &test, "setters", "polluted", &root, &test,
			    "failure", "line", &line, "left", "after", &left,
			    "polluters_complete", &runs),
		0);
	assert_string_equal(class, "victim");
	assert_string_equal(polluter, "A \"<&>'\n\\xff\x1b[31m");
	assert_string_equal(root, "root\x07");
	assert_string_equal(left, "\"\n\"");
	assert_int_equal(line, 7);
	assert_false(runs);
	assert_int_equal(json_unpack(json_object_get(json, "order"),
				     "{s:{s:i}, s:n}", "pairs", "by_state",
				     &by_state, "ended_by"),
			 0);
	assert_int_equal(by_state, 1233567);
}

static void test_order_junit(void **state _unused_)
{
	_cleanup_(freep) char *xml =
		render(&order, "junit", (struct report_style){});
	assert_non_null(strstr(xml, "<testcase name=\"root\\x07\" "
				    "classname=\"polygraph.memory\" "
				    "time=\"0\">"));
	assert_non_null(strstr(xml, "\nat c\n.cc:7\n"));
	assert_non_null(strstr(xml, "got \\x1b[31m1"));
	assert_non_null(strstr(xml, "polygraph replay order-1\n</failure>"));
	for (const char *p = xml; *p; p++)
		assert_true((unsigned char)*p >= 0x20 || *p == '\n' ||
			    *p == '\t');
}

/* 20,000 polluters, and a list of as many tests: short as text, whole as JSON. */
static void test_order_many(void **state _unused_)
{
	enum { MANY = 20000 };
	size_t *numbers = calloc(MANY, sizeof(*numbers));
	char **names = calloc(MANY, sizeof(*names));
	struct order_tests *lists = calloc(MANY, sizeof(*lists));
	for (size_t i = 0; i < MANY; i++) {
		names[i] = (char *)hostile;
		lists[i] = (struct order_tests){ &numbers[i], 1, 1 };
	}
	lists[1] = (struct order_tests){ numbers, MANY, MANY };
	struct dependence many = victim;
	many.polluters = (struct order_lists){ .data = lists, .n = MANY };
	many.cleaners = many.polluters;
	many.cleaned.data = &many.polluters;
	many.cleaned.n = 1;
	many.failing = (struct order_tests){ numbers, MANY, MANY };
	many.polluted = (struct strv){ names, MANY, MANY };
	char *long_message = calloc(1, 1 << 20);
	memset(long_message, 'x', (1 << 20) - 1);
	many.failure.message = long_message;
	struct finding finding = order_findings[0];
	finding.evidence = &many;
	struct report report = order;
	report.findings = &finding;
	_cleanup_(freep) char *text =
		render(&report, "text", (struct report_style){});
	assert_true(strlen(text) < 4000);
	assert_non_null(strstr(text, "[order-1]\n"));
	assert_non_null(strstr(text, "xxx…\n"));
	_cleanup_(freep) char *verbose = render(
		&report, "text", (struct report_style){ .verbose = true });
	assert_true(strlen(verbose) < 100000);
	_cleanup_(json_freep) json_t *json =
		render_json(&report, (struct report_style){});
	json_t *first = json_array_get(json_object_get(json, "findings"), 0);
	json_t *polluters = json_object_get(first, "polluters");
	assert_int_equal(json_array_size(polluters), MANY);
	assert_int_equal(json_array_size(json_array_get(polluters, 1)), MANY);
	assert_int_equal(
		json_array_size(json_object_get(first, "failing_order")), MANY);
	free(long_message);
	free(lists);
	free(names);
	free(numbers);
}

/* ---- pollution ---- */

static struct change_path paths[] = {
	{ .path = "root\x07.x", .before = "0", .after = "\"\n\xff\"" },
	{ .path = "root\x07.y",
	  .before = "NULL",
	  .after = "{…}",
	  .stack = (struct call_frame[]){ { "make", "./m.c", 3 }, {} },
	  .n_stack = 2 },
};
static struct leftover left[] = {
	{ .change = { .root = "root\x07", .paths = paths, .n = 2, .more = 4 },
	  .effect = EFFECT_SETTLES,
	  .readers = LIST(size_t, ONE, TWO, VICTIM) },
	{ .test = ONE,
	  .change = { .where = CHANGE_FILE,
		      .root = "/tmp/a/b",
		      .paths = paths,
		      .n = 1 } },
};
static const struct finding pollution_findings[] = {
	{ .id = "pollution-1",
	  .kind = &leftover_kind,
	  .tests = &roster,
	  .test = HOSTILE,
	  .severity = FINDING_LOW,
	  .file = "./c\n.cc",
	  .line = 7,
	  .message = "it leaves x",
	  .replay = "polygraph pollution --tests x",
	  .evidence = &left[0] },
	{ .id = "pollution-3",
	  .kind = &leftover_kind,
	  .tests = &roster,
	  .test = ONE,
	  .severity = FINDING_MEDIUM,
	  .known = true,
	  .message = "it leaves b",
	  .replay = "polygraph pollution --tests B",
	  .evidence = &left[1] },
};
static const struct report pollution = {
	.kind = "pollution",
	.version = "0.1.0",
	.command = command,
	.framework = "gtest",
	.roster = &roster,
	.findings = pollution_findings,
	.n_findings = 2,
	.watched = true,
	.firsts = (struct first_use[]){ { TWO, "lazy" } },
	.n_firsts = 1,
};

static void test_pollution_text(void **state _unused_)
{
	static const char summary[] =
		"2 tests leave shared state changed: 2 findings, 0 high; 1 "
		"static initialised for the first time\n";
	_cleanup_(freep) char *text =
		render(&pollution, "text", (struct report_style){});
	_cleanup_(freep) char *quiet = render(
		&pollution, "text", (struct report_style){ .quiet = true });
	_cleanup_(freep) char *verbose = render(
		&pollution, "text", (struct report_style){ .verbose = true });
	static const char first[] =
		"low     A \"<&>'\\n\\xff\\x1b[31m: root\\x07.x: 0 → "
		"\"\\n\\xff\" and 5 more places (settles; read by B.One, "
		"B.Two and 1 more)\n";
	static const char second[] =
		"medium  B.One: root\\x07.x: 0 → \"\\n\\xff\" (effect "
		"unknown; known)\n";
	/* What nobody is misled by is a line; what is known is counted. */
	assert_string_equal(
		text,
		"low     A \"<&>'\\n\\xff\\x1b[31m leaves root\\x07.x: 0 → "
		"\"\\n\\xff\" and 5 more places  [pollution-1]\n"
		"2 problems (1 new) in 0 tests; start with: polygraph replay "
		"pollution-1\n");
	assert_string_equal(quiet, text);
	const char *of_second = strstr(verbose, second);
	assert_non_null(of_second);
	assert_non_null(strstr(of_second, first));
	assert_non_null(strstr(verbose, summary));
	assert_non_null(strstr(
		verbose, "        declared at c\\n.cc:7\n"
			 "        also root\\x07.y: NULL → {…}\n"
			 "        and 4 more\n"
			 "        allocated in make at m.c:3\n"
			 "                     ?\n"
			 "        reproduce: polygraph pollution --tests x\n"));
	assert_non_null(strstr(
		verbose,
		"first   B.Two: lazy was initialised for the first time\n"));
}

/* What does not fit is cut with a mark, not between two parts of a value. */
/* Whole where there is no terminal; wrapped, and not cut either, where there is. */
static void test_pollution_wide(void **state _unused_)
{
	struct change_path path = {
		.path = "settings",
		.before = "NULL",
		.after = "&{next = NULL, count = 3, name = \"a, b\""
			 ", owner = NULL, size = 80}",
	};
	struct leftover one = {
		.test = ONE,
		.change = { .root = "settings", .paths = &path, .n = 1 },
	};
	struct finding finding = pollution_findings[0];
	finding.test = ONE;
	finding.evidence = &one;
	struct report report = pollution;
	report.findings = &finding;
	report.n_findings = 1;
	_cleanup_(freep) char *text =
		render(&report, "text", (struct report_style){});
	assert_non_null(strstr(text,
			       "settings: NULL → &{next = NULL, count = 3, "
			       "name = \"a, b\", owner = NULL, size = "
			       "80}  [pollution-1]\n"));
	/* A name is never divided. */
	path.path = "descriptor[/usr/share/fonts/truetype/dejavu/"
		    "DejaVuSansMono-BoldOblique.ttf].offset.of.the.file";
	_cleanup_(freep) char *named =
		render(&report, "text", (struct report_style){ .columns = 60 });
	assert_non_null(strstr(named,
			       " leaves\n        descriptor[/usr/share/"
			       "fonts/truetype/dejavu/DejaVuSansMono-"
			       "BoldOblique.ttf].offset.of.the.file:\n"
			       "        NULL → &{next = NULL, count = "));
	assert_non_null(strstr(named, "  [pollution-1]\n"));
}

/* What explains another is in its block. */
static void test_pollution_told(void **state _unused_)
{
	const struct finding all[] = { pollution_findings[0],
				       pollution_findings[1],
				       order_findings[0] };
	struct report check = pollution;
	check.kind = "check";
	check.findings = all;
	check.n_findings = 3;
	_cleanup_(freep) char *text =
		render(&check, "text", (struct report_style){});
	assert_true(str_starts(text, "high    C.Victim fails after"));
	assert_null(strstr(text, "low     "));
	assert_null(strstr(text, "medium  "));
	assert_non_null(strstr(text, " · could mislead: B.One, B.Two\n"));
	assert_true(str_ends(text, "\n2 problems (1 new) in 0 tests; start "
				   "with: polygraph replay order-1\n"));
	_cleanup_(freep) char *verbose = render(
		&check, "text", (struct report_style){ .verbose = true });
	assert_non_null(strstr(
		verbose, "        because of: pollution-1, pollution-2\n"));
	assert_non_null(strstr(verbose, "low     "));
}

static void test_pollution_json(void **state _unused_)
{
	_cleanup_(json_freep) json_t *json =
		render_json(&pollution, (struct report_style){});
	const char *where, *root, *after, *effect, *reader, *function, *first;
	const char *kind, *severity;
	int line, more, known;
	json_t *found = json_object_get(json, "findings");
	assert_int_equal(
		json_unpack(json_array_get(found, 0),
			    "{s:s, s:s, s:b, s:s, s:s, s:s, s:s, s:{s:i}, "
			    "s:[s, s, s], s:i, s:[{s:s, s:i}, {s:n, s:n}]}",
			    "kind", &kind, "severity", &severity, "known",
			    &known, "where", &where, "root", &root, "after",
			    &after, "effect", &effect, "declared", "line",
			    &line, "readers", &reader, &first, &first,
			    "more_paths", &more, "allocated", "function",
			    &function, "line", &line, "function", "file"),
		0);
	assert_string_equal(kind, "pollution");
	assert_string_equal(severity, "low");
	assert_false(known);
	assert_string_equal(where, "memory");
	assert_string_equal(root, "root\x07");
	assert_string_equal(after, "\"\n\\xff\"");
	assert_string_equal(effect, "settles");
	assert_string_equal(reader, "B.One");
	assert_string_equal(function, "make");
	assert_int_equal(line, 3);
	assert_int_equal(more, 4);
	assert_int_equal(json_unpack(json, "{s:[{s:s, s:s}]}",
				     "first_initialised", "test", &reader,
				     "root", &first),
			 0);
	assert_string_equal(reader, "B.Two");
	/* What is kept of a finding is the same. */
	_cleanup_(freep) char *text = NULL;
	assert_null(report_finding_text(&pollution_findings[0], &text));
	_cleanup_(json_freep) json_t *kept = json_loads(text, 0, NULL);
	assert_true(json_equal(kept, json_array_get(found, 0)));
}

static void test_pollution_junit(void **state _unused_)
{
	_cleanup_(freep) char *xml =
		render(&pollution, "junit", (struct report_style){});
	assert_non_null(strstr(
		xml, "name=\"root\\x07\" classname=\"polygraph.memory\" "
		     "time=\"0\">\n      <failure message=\"it leaves x\" "
		     "type=\"low\">low: it leaves x\nat c\n.cc:7\n"
		     "reproduce: polygraph pollution --tests x\n"
		     "</failure>"));
	assert_non_null(strstr(xml, "name=\"/tmp/a/b\" "
				    "classname=\"polygraph.file\" time=\"0\">\n"
				    "      <skipped>known: "));
}

static void test_left_out(void **state _unused_)
{
	char *some[] = { "a::b", "c\x1b", NULL }, *one[] = { "d", NULL };
	const struct left_out left_out[] = {
		{ "of GoogleTest", { some, 2, 2 } },
		{ "of system headers", { one, 1, 1 } },
	};
	struct report report = pollution;
	report.left_out = left_out;
	report.n_left_out = 2;
	_cleanup_(freep) char *text =
		render(&report, "text", (struct report_style){});
	_cleanup_(freep) char *quiet =
		render(&report, "text", (struct report_style){ .quiet = true });
	_cleanup_(freep) char *verbose = render(
		&report, "text", (struct report_style){ .verbose = true });
	_cleanup_(freep) char *data =
		render(&report, "json", (struct report_style){});
	assert_null(strstr(text, "left out"));
	assert_null(strstr(quiet, "left out"));
	assert_non_null(strstr(
		verbose, "\nleft out: 2 variables of GoogleTest: a::b, "
			 "c\\x1b\nleft out: 1 variable of system headers: "
			 "d\n"));
	_cleanup_(json_freep) json_t *json = json_loads(data, 0, NULL);
	const char *why, *name;
	int n;
	assert_int_equal(json_unpack(json, "{s:[{s:s, s:i, s:[s, s!]}, {s:s}]}",
				     "left_out", "why", &why, "variables", &n,
				     "names", &name, &name, "why", &why),
			 0);
	assert_string_equal(why, "of system headers");
	assert_int_equal(n, 2);
}

static void test_formats(void **state _unused_)
{
	assert_null(report_format_find("pdf"));
	assert_false(report_format_find("junit")->lists);
}

static void test_width(void **state _unused_)
{
	assert_int_equal(width_of(""), 0);
	assert_int_equal(width_of("abc"), 3);
	assert_int_equal(width_of("ü中"), 3);
	assert_int_equal(width_of("e\xcc\x81"), 1);
	assert_int_equal(width_fit("a中b", 2), 1);
	assert_int_equal(width_fit("a中b", 3), 4);
	assert_int_equal(width_fit("a中b", 9), 5);
	int fd = open("/dev/null", O_RDWR);
	assert_int_equal(width_terminal(fd), 0);
	close(fd);
}

/* Reads until the text is there: the line is drawn by a thread, now and then. */
static void assert_drawn(int fd, const char *wanted)
{
	char text[65536] = "";
	size_t have = 0;
	for (unsigned i = 0; i < 6000 && !strstr(text, wanted); i++) {
		ssize_t n = read(fd, text + have, sizeof(text) - 1 - have);
		if (n > 0)
			text[have += (size_t)n] = '\0';
		else
			usleep(10000);
	}
	assert_non_null(strstr(text, wanted));
}

static uint64_t count_of(const void *data)
{
	return *(const uint64_t *)data;
}

/* Steps aside for log lines, counts, and leaves an empty line behind. */
static void test_progress(void **state _unused_)
{
	int fds[2];
	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	struct progress *progress = NULL;
	assert_null(progress_create(fds[1], 20000, &progress));
	static const char *const names[] = { "first", "second\n", "third" };
	progress_started(progress, names[0]);
	progress_finished(progress, names[0], OUTCOME_FAIL);
	progress_started(progress, names[1]);
	progress_started(progress, names[2]);
	assert_drawn(fds[0], "\r\033[K    1/20000  1 failed  second\\n  +1");
	for (int i = 0; i < 10000; i++) {
		progress_started(progress, names[0]);
		progress_finished(progress, names[0], OUTCOME_PASS);
	}
	uint64_t count = 12;
	progress_count(progress, "orders", count_of, &count);
	assert_drawn(fds[0], "\r\033[Korders: 12 tests run  ");
	progress_destroy(progress);
	char text[4096];
	ssize_t n = read(fds[0], text, sizeof(text) - 1);
	assert_true(n >= 4);
	text[n] = '\0';
	assert_true(str_ends(text, "\r\033[K"));
	progress_started(NULL, "x");
	progress_finished(NULL, "x", OUTCOME_PASS);
	progress_count(NULL, "x", count_of, NULL);
	progress_destroy(NULL);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_styles),
		cmocka_unit_test(test_text_tail),
		cmocka_unit_test(test_text_repeated),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_verbose),
		cmocka_unit_test(test_junit),
		cmocka_unit_test(test_order_text),
		cmocka_unit_test(test_order_json),
		cmocka_unit_test(test_order_junit),
		cmocka_unit_test(test_order_many),
		cmocka_unit_test(test_pollution_text),
		cmocka_unit_test(test_pollution_wide),
		cmocka_unit_test(test_pollution_told),
		cmocka_unit_test(test_pollution_json),
		cmocka_unit_test(test_pollution_junit),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_progress),
	};
	return cmocka_run_group_tests(all, NULL, NULL);
}

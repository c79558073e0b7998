/* Reports of assumptions: many calls, hostile texts, every way through a test. */
#include "unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "finding/assumption.h"
#include "report/report.h"

static struct roster_test roster_tests[] = { { .name = "T\033" } };
static const struct roster roster = { roster_tests, 1 };

static struct call_frame frames[] = {
	{ "list_files", "./src/list.c", 42 },
	{ NULL, NULL, 0 },
	{ "main\033[2J", NULL, 0 },
	{ "main", "m.c", 1 },
	{ "_start", NULL, 0 },
};
static struct assumption_call calls[] = {
	{ .api = "readdir",
	  .clause = "POSIX: any order",
	  .n = 2,
	  .thread = WIRE_MAIN,
	  .phase = 1,
	  .pick = 4,
	  .alternatives = 6,
	  .argument = "3 entries of \"d\xff\"",
	  .did = "another\norder",
	  .stack = { frames, ARRAY_SIZE(frames), 0 } },
	{ .api = "read",
	  .clause = "POSIX: fewer",
	  .thread = 0xfedcba9876543210,
	  .pick = 1,
	  .alternatives = 6,
	  .argument = "",
	  .did = "" },
};
static struct assumption choice = {
	.level = WIRE_ID,
	.runs = 3,
	.failures = 2,
	.failing_seed = 7,
	.calls = { calls, 2, 0 },
	.minimal = true,
	.failure = { OUTCOME_TIMEOUT, "no end\nafter 30 s", NULL, 0 },
	.repeats = 3,
	.systematic = true,
	.probability = 0.25,
	.critical = { calls, 1, 0 },
};
static const struct finding finding = {
	.id = "choice-0123456789ab",
	.kind = &assumption_kind,
	.tests = &roster,
	.severity = FINDING_MEDIUM,
	.message = "m",
	.replay = "polygraph replay choice-0123456789ab",
	.evidence = &choice,
};
static char *met[] = { "read", "readdir" };
static struct choices_space space = {
	.nodes = 9,
	.leaves = 1234,
	.failing = 308,
	.merged = 5,
	.edges = 27,
	.merge_nodes = 1,
	.critical = 2,
	.probability = 0.25,
};
static const struct choices_reach reach = {
	.first_level = WIRE_ID,
	.n_levels = 1,
	.seeds = 3,
	.seed = 5,
	.executions = 12345,
	.runs = 3,
	.baselines = 2,
	.made = 1000,
	.acted = 10,
	.met = { met, 2, 0 },
	.models = 80,
	.spaces = { &space, 1, 0 },
};
static const char *const command[] = { "./unit_tests", NULL };
static const struct report run = {
	.kind = "choices",
	.version = "0.1.0",
	.command = command,
	.framework = "gtest",
	.roster = &roster,
	.findings = &finding,
	.n_findings = 1,
	.choices = &reach,
};

static char *render(const struct report *report, const char *format,
		    struct report_style style)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	assert_ok(report_format_find(format)->write(report, &style, out));
	fclose(out);
	return text;
}

static void test_text(void **state _unused_)
{
	_cleanup_(freep) char *brief =
		render(&run, "text", (struct report_style){});
	assert_string_equal(
		brief,
		"medium  T\\x1b assumes more than readdir and read promise  "
		"[choice-0123456789ab]\n"
		"        no end\n"
		"        after 30 s\n"
		"        the call at src/list.c:42 may do this, too: "
		"another\\norder\n"
		"1 problem in 0 tests; start with: polygraph replay "
		"choice-0123456789ab\n");
	_cleanup_(freep) char *text =
		render(&run, "text", (struct report_style){ .verbose = true });
	assert_string_equal(
		text,
		"medium  T\\x1b assumes more than readdir and read promise\n"
		"        readdir: POSIX: any order\n"
		"        read: POSIX: fewer\n"
		"        2 calls together, none of them can be left out:\n"
		"        call 3 of the test: readdir (3 entries of "
		"\"d\\xff\"): another\\norder\n"
		"          list_files (src/list.c:42)\n"
		"          ?\n"
		"          main\\x1b[2J\n"
		"          main (m.c:1)\n"
		"          _start\n"
		"        call 1 of another thread before the first test: "
		"read: chose alternative 2 of 6\n"
		"        then it hangs: no end after 30 s\n"
		"        2 of 3 paths through it fail, 25 % if all choices are "
		"equally likely; 1 choice decides by itself\n"
		"        decides: call 3 of the test: readdir\n"
		"        reproduce: polygraph replay choice-0123456789ab\n"
		"0 tests: 0 passed in 0 µs\n"
		"1 test assumes more than an API promises: 1 finding\n"
		"choices: 3 runs at level id with seeds 5 to 7, and 2 "
		"without; 12,345 test executions\n"
		"models: 2 of 80 exercised: read, readdir; the rest were not "
		"exercised; 10 of 1,000 calls varied\n"
		"all paths: T\\x1b: 1,234 paths over 9 choices, 308 fail (25 "
		"%); 27 edges, 1 merge node, 2 critical states; more paths "
		"exist (--bound)\n"
		"1 problem in 0 tests; start with: polygraph replay "
		"choice-0123456789ab\n");
}

static void test_verbose(void **state _unused_)
{
	_cleanup_(freep) char *text =
		render(&run, "text", (struct report_style){ .verbose = true });
	assert_non_null(strstr(text, "          _start\n"));
	assert_non_null(strstr(text, "        decides: call 3 of the test: "
				     "readdir\n"));
	assert_null(strchr(text, '\033'));
}

/* However much there is, a finding is read by a person. */
static void test_many(void **state _unused_)
{
	struct assumption_call many[105] = {};
	struct call_frame deep[110];
	for (size_t i = 0; i < ARRAY_SIZE(deep); i++)
		deep[i] = (struct call_frame){ "recurse", "r.c", 1 };
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		many[i] = calls[0];
		many[i].stack.data = deep;
		many[i].stack.n = ARRAY_SIZE(deep);
	}
	struct assumption large = choice;
	large.calls.data = many;
	large.calls.n = ARRAY_SIZE(many);
	large.minimal = false;
	struct finding one = finding;
	one.evidence = &large;
	struct report report = run;
	report.findings = &one;
	_cleanup_(freep) char *text =
		render(&report, "text", (struct report_style){});
	assert_in_range(strlen(text), 1, 4000);
	assert_non_null(strstr(text, "assumes more than readdir promises  ["));
	_cleanup_(freep) char *verbose = render(
		&report, "text", (struct report_style){ .verbose = true });
	assert_non_null(strstr(verbose, "          … 10 more callers\n"));
	assert_non_null(strstr(verbose, "        … and 5 more calls\n"));
	assert_non_null(strstr(verbose,
			       "the search ended early: fewer calls may "
			       "suffice\n"));
	_cleanup_(freep) char *json =
		render(&report, "json", (struct report_style){});
	json_t *object = json_loads(json, 0, NULL);
	const json_t *first =
		json_array_get(json_object_get(object, "findings"), 0);
	assert_int_equal(json_array_size(json_object_get(first, "calls")), 105);
	json_decref(object);
}

static void test_json(void **state _unused_)
{
	_cleanup_(freep) char *text =
		render(&run, "json", (struct report_style){});
	json_t *object = json_loads(text, 0, NULL);
	assert_non_null(object);
	const json_t *first =
		json_array_get(json_object_get(object, "findings"), 0);
	const json_t *other =
		json_array_get(json_object_get(first, "calls"), 1);
	assert_string_equal(json_string_value(json_object_get(other, "thread")),
			    "fedcba9876543210");
	assert_true(json_is_true(json_object_get(other, "before_first_test")));
	assert_false(json_is_true(json_object_get(first, "alone")));
	assert_true(json_real_value(json_object_get(first, "probability")) ==
		    0.25);
	assert_int_equal(json_array_size(json_object_get(first, "critical")),
			 1);
	const json_t *ways = json_array_get(
		json_object_get(json_object_get(object, "choices"), "spaces"),
		0);
	assert_int_equal(json_integer_value(json_object_get(ways, "failing")),
			 308);
	assert_int_equal(json_integer_value(json_object_get(ways, "edges")),
			 27);
	assert_int_equal(
		json_integer_value(json_object_get(ways, "merge_nodes")), 1);
	assert_int_equal(json_integer_value(json_object_get(ways, "critical")),
			 2);
	assert_true(json_is_false(json_object_get(ways, "exhausted")));
	json_decref(object);
}

static void test_junit(void **state _unused_)
{
	_cleanup_(freep) char *text =
		render(&run, "junit", (struct report_style){});
	assert_non_null(strstr(text, "name=\"readdir at src/list.c:42\""));
	assert_non_null(strstr(text, "no end\nafter 30 s\n2 calls together"));
	assert_null(strchr(text, '\033'));
}

static void test_models(void **state _unused_)
{
	static const struct report_model models[] = {
		{ "qsort", "permute", "one", false, "C17: ties", "others" },
		{ "malloc(0)", "random", "full", true, "C17: either", "" },
	};
	const struct report report = {
		.kind = "models",
		.version = "0.1.0",
		.models = models,
		.n_models = 2,
	};
	_cleanup_(freep) char *text =
		render(&report, "text", (struct report_style){});
	assert_string_equal(
		text, "qsort      permute      one   C17: ties\n"
		      "malloc(0)  random       full  (optional) C17: either\n"
		      "\n2 models; 1 used only if named with --api, or with "
		      "--pedantic\n");
	_cleanup_(freep) char *verbose = render(
		&report, "text", (struct report_style){ .verbose = true });
	assert_non_null(strstr(verbose, "           never: others\n"));
	_cleanup_(freep) char *json =
		render(&report, "json", (struct report_style){});
	json_t *object = json_loads(json, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(object, "models")), 2);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),  cmocka_unit_test(test_verbose),
		cmocka_unit_test(test_many),  cmocka_unit_test(test_json),
		cmocka_unit_test(test_junit), cmocka_unit_test(test_models),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

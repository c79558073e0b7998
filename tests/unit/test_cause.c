/* Findings by cause: what belongs together, who has to do with it, the order. */
#include "unit.h"

#include <string.h>

#include "base/macro.h"
#include "finding/assumption.h"
#include "finding/dependence.h"
#include "finding/flaky.h"
#include "report/cause.h"

static struct roster_test roster_tests[] = {
	{ .name = "A" }, { .name = "B" },      { .name = "C" },
	{ .name = "D" }, { .name = "E\xff<" },
};
static const struct roster roster = { roster_tests, 5 };

static struct change_path path = { .path = "x.n", .before = "0", .after = "1" };
static size_t readers[] = { 3, 2, 4 };
static struct leftover left_by_b = {
	.test = 1,
	.change = { .root = "x", .paths = &path, .n = 1 },
	.readers = { readers, 3, 0 },
};
static struct leftover left_by_a = {
	.change = { .root = "x", .paths = &path, .n = 1 },
};
static struct leftover file = {
	.change = { .where = CHANGE_FILE, .root = "x", .paths = &path, .n = 1 },
};
static size_t one[] = { 1 }, self[] = { 2 }, cleaner[] = { 3 };
static struct order_tests b[] = { { one, 1, 0 } };
static struct order_tests d[] = { { cleaner, 1, 0 } };
static char *because[] = { "p-b" }, *roots[] = { "x" };
static struct dependence victim = {
	.test = 2,
	.polluters = { b, 1, 0 },
	.cleaners = { d, 1, 0 },
	.passing = { self, 1, 0 },
	.failing = { self, 1, 0 },
	.because = { because, 1, 0 },
	.polluted = { roots, 1, 0 },
};
static struct dependence unknown = {
	.test = 2,
	.polluters = { b, 1, 0 },
	.passing = { self, 1, 0 },
	.failing = { self, 1, 0 },
};
static struct flaky flaky = { .test = 4, .runs = 3, .failures = 1 };

#define FINDING(name, of, number, how, what)                                   \
	{                                                                      \
		.id = (name), .kind = (of), .tests = &roster,                  \
		.test = (number), .severity = (how), .message = "m",           \
		.replay = "r", .evidence = (what)                              \
	}

static struct finding findings[] = {
	FINDING("p-a", &leftover_kind, 0, FINDING_LOW, &left_by_a),
	FINDING("p-b", &leftover_kind, 1, FINDING_HIGH, &left_by_b),
	FINDING("p-f", &leftover_kind, 0, FINDING_MEDIUM, &file),
	FINDING("o-c", &dependence_kind, 2, FINDING_HIGH, &victim),
	FINDING("o-d", &dependence_kind, 2, FINDING_HIGH, &unknown),
	FINDING("f-e", &flaky_kind, 4, FINDING_HIGH, &flaky),
	{ .id = "p-e",
	  .kind = &leftover_kind,
	  .tests = &roster,
	  .test = 4,
	  .severity = FINDING_LOW,
	  .message = "m",
	  .replay = "r",
	  .earlier = "{\"kind\": \"pollution\", \"where\": \"memory\", "
		     "\"test\": \"E\\\\xff<\", \"root\": \"x\", "
		     "\"readers\": [\"A\", \"gone\", 3]}" },
};

static const struct report report = {
	.roster = &roster,
	.findings = findings,
	.n_findings = ARRAY_SIZE(findings),
};

static void check_tests(const struct cause_tests *tests, size_t n,
			const size_t *expected)
{
	assert_int_equal(tests->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(tests->data[i], expected[i]);
}

static void test_groups(void **state)
{
	(void)state;
	_cleanup_(causes_free) struct causes causes = {};
	assert_ok(causes_group(&report, &causes));
	assert_int_equal(causes.n, 4);

	const struct cause *x = &causes.data[0];
	assert_string_equal(x->name, "x");
	assert_int_equal(x->type, CAUSE_MEMORY);
	assert_int_equal(x->severity, FINDING_HIGH);
	assert_int_equal(x->findings.n, 4);
	assert_string_equal(x->findings.data[0]->id, "o-c");
	assert_string_equal(x->findings.data[1]->id, "p-b");
	assert_string_equal(x->findings.data[2]->id, "p-a");
	assert_string_equal(x->findings.data[3]->id, "p-e");
	check_tests(&x->leave, 3, (const size_t[]){ 0, 1, 4 });
	check_tests(&x->misled, 1, (const size_t[]){ 2 });
	check_tests(&x->could, 3, (const size_t[]){ 0, 3, 4 });
	check_tests(&x->cleaners, 1, (const size_t[]){ 3 });

	assert_string_equal(causes.data[1].name, "B");
	assert_int_equal(causes.data[1].type, CAUSE_LEFT);
	check_tests(&causes.data[1].leave, 1, (const size_t[]){ 1 });
	assert_string_equal(causes.data[2].name, "E\\xff<");
	assert_int_equal(causes.data[2].type, CAUSE_TEST);
	check_tests(&causes.data[2].misled, 1, (const size_t[]){ 4 });
	assert_string_equal(causes.data[3].name, "x");
	assert_int_equal(causes.data[3].type, CAUSE_FILE);
	assert_string_equal(cause_type_name(causes.data[3].type), "file");
}

/* What is known comes after what is new, and before what is less severe. */
static void test_known_last(void **state)
{
	(void)state;
	_cleanup_(causes_free) struct causes causes = {};
	struct finding known[ARRAY_SIZE(findings)];
	struct report marked = report;
	memcpy(known, findings, sizeof(known));
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		known[i].known = i != 5;
	marked.findings = known;
	assert_ok(causes_group(&marked, &causes));
	assert_string_equal(causes.data[0].name, "E\\xff<");
	assert_int_equal(causes.data[0].fresh, 1);
	assert_string_equal(causes.data[1].name, "x");
	assert_int_equal(causes.data[1].fresh, 0);
	assert_int_equal(causes.data[3].type, CAUSE_FILE);
}

/* What only the misled test reads is mended with what misleads it. */
static void test_beside(void **state)
{
	(void)state;
	static struct change_path size = { .path = "y",
					   .before = "0",
					   .after = "3" };
	static size_t reads[] = { 2 }, others[] = { 2, 3 };
	char file_x[] = "x.c", file_y[] = "y.c";
	struct leftover first = left_by_b;
	struct leftover beside = {
		.test = 1,
		.change = { .root = "y", .paths = &size, .n = 1 },
		.readers = { reads, 1, 0 },
	};
	struct finding three[] = { findings[1], findings[1], findings[3] };
	three[0].id = "p-y";
	three[0].evidence = &beside;
	three[1].evidence = &first;
	three[0].file = three[1].file = file_x;
	const struct report of = {
		.roster = &roster,
		.findings = three,
		.n_findings = ARRAY_SIZE(three),
	};
	for (int apart = 0; apart < 3; apart++) {
		_cleanup_(causes_free) struct causes causes = {};
		if (apart == 1)
			beside.readers.data = others, beside.readers.n = 2;
		if (apart == 2) {
			beside.readers.data = reads, beside.readers.n = 1;
			three[0].file = file_y;
		}
		assert_ok(causes_group(&of, &causes));
		assert_int_equal(causes.n, apart ? 2 : 1);
		assert_string_equal(causes.data[0].name, "x");
	}
}

static void test_none(void **state)
{
	(void)state;
	_cleanup_(causes_free) struct causes causes = {};
	assert_ok(causes_group(&(struct report){}, &causes));
	assert_int_equal(causes.n, 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_known_last),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_none),
	};
	return cmocka_run_group_tests(all, NULL, NULL);
}

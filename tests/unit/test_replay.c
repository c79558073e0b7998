/* Records of findings: what is kept so that `replay` can reproduce them. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "choices/choices.h"
#include "cli/records.h"
#include "finding/assumption.h"
#include "finding/dependence.h"
#include "finding/flaky.h"
#include "finding/leftover.h"
#include "replay/replay_internal.h"

static struct options *options;
static struct common_suite choice;
static struct records records;
static char *command[] = { "./program", "--level", "3", NULL };

static struct roster_test roster_tests[] = {
	{ .name = "A" },
	{ .name = "B" },
	{ .name = "C\xff" },
	{ .name = "A[*]" },
};
static const struct roster roster = { roster_tests, ARRAY_SIZE(roster_tests) };

static int set_up(void **state _unused_)
{
	static const struct option_group *const groups[] = {
		&common_suite_group, NULL
	};
	static const struct common_options none = COMMON_DEFAULTS;
	static char *given[] = { "--timeout=1.5s", "--framework=gtest",
				 "--tests=A*" };
	int used = 0;
	assert_ok(options_create(groups, &none, sizeof(none), &options));
	assert_ok(options_parse(options, 3, given, &used));
	assert_int_equal(used, 3);
	choice = (struct common_suite){
		.options = { .argv = command, .timeout_ns = 1, .jobs = 1 },
		.command = command,
	};
	assert_ok(records_open(&records, options, &choice, NULL, NULL));
	records.source.files_digest = "0123";
	return 0;
}

static int tear_down(void **state _unused_)
{
	records_close(&records);
	options_destroy(options);
	return 0;
}

/* Through its text. */
static void describe(const struct finding *finding, struct record *ret)
{
	_cleanup_(freep) char *text = NULL;
	assert_ok(replay_describe(finding, &records.source, &text));
	assert_ok(record_read(text, ret));
	char id[64];
	snprintf(id, sizeof(id), "%s-1", finding->kind->prefix);
	assert_ok(replay_check_trials(replay_kind_of(id), ret));
	assert_string_equal(ret->files_digest, "0123");
}

#define assert_texts(strv, ...)                                                \
	do {                                                                   \
		static const char *const texts_[] = { __VA_ARGS__ };           \
		assert_int_equal((strv)->n, ARRAY_SIZE(texts_));               \
		for (size_t i_ = 0; i_ < ARRAY_SIZE(texts_); i_++)             \
			assert_string_equal((strv)->data[i_], texts_[i_]);     \
		assert_null((strv)->data[(strv)->n]);                          \
	} while (0)

static void test_order(void **state _unused_)
{
	size_t failing[] = { 2, 1, 0 }, passing[] = { 0 };
	struct dependence victim = {
		.failing = { failing, 3, 3 },
		.passing = { passing, 1, 1 },
	};
	const struct finding finding = { .id = "order-0123",
					 .kind = &dependence_kind,
					 .tests = &roster,
					 .evidence = &victim };
	static const char *const files[] = { "a.txt", "/tmp/b" };
	_cleanup_(record_freep) struct record record = {};
	records.source.files = files;
	records.source.n_files = 2;
	describe(&finding, &record);
	/* What opens the suite again, and not what chose tests of it. */
	assert_texts(&record.suite, "--framework=gtest", "--timeout=1500000us",
		     "--", "./program", "--level", "3");
	assert_string_equal(record.test, "A");
	assert_texts(&record.files, "a.txt", "/tmp/b");
	assert_null(record.details);
	assert_int_equal(record.trials.n, 2);
	const struct trial *trial = record.trials.data;
	assert_string_equal(trial[0].name, "failing");
	assert_int_equal(trial[0].expect, TRIAL_FAIL);
	assert_texts(&trial[0].order, "C\\xff", "B", "A");
	assert_string_equal(trial[1].name, "passing");
	assert_int_equal(trial[1].expect, TRIAL_PASS);
	assert_texts(&trial[1].order, "A");
	assert_true(replay_is_expected(&trial[0], OUTCOME_CRASH));
	assert_false(replay_is_expected(&trial[0], OUTCOME_SKIP));
	assert_true(replay_is_expected(&trial[1], OUTCOME_SKIP));
	assert_false(replay_is_expected(&trial[0], OUTCOME_NONE));
	assert_false(replay_is_expected(&trial[1], OUTCOME_NONE));
}

static void test_flaky(void **state _unused_)
{
	size_t order[] = { 1, 0 };
	struct flaky flaky = { .order = { order, 2, 2 } };
	const struct finding finding = { .id = "flaky-0123",
					 .kind = &flaky_kind,
					 .tests = &roster,
					 .evidence = &flaky };
	_cleanup_(record_freep) struct record record = {};
	describe(&finding, &record);
	assert_int_equal(record.trials.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct trial *trial = &record.trials.data[i];
		assert_int_equal(trial->expect, i ? TRIAL_PASS : TRIAL_FAIL);
		assert_texts(&trial->order, "B", "A");
	}
	assert_true(replay_kind_of("flaky-0123")->until);
	assert_false(replay_kind_of("order-0123")->until);
}

static void test_pollution(void **state _unused_)
{
	struct leftover leftover = {};
	struct finding finding = { .kind = &leftover_kind,
				   .tests = &roster,
				   .test = 3,
				   .evidence = &leftover };
	_cleanup_(record_freep) struct record record = {};
	describe(&finding, &record);
	assert_int_equal(record.trials.n, 2);
	assert_int_equal(record.trials.data[0].expect, TRIAL_FINDING);
	assert_texts(&record.trials.data[0].command, "pollution",
		     "--framework=gtest", "--timeout=1500000us",
		     "--tests=A\\[\\*\\]", "--", "./program", "--level", "3");
	assert_int_equal(record.trials.data[1].expect, TRIAL_FINDING);
	assert_texts(&record.trials.data[1].command, "pollution",
		     "--framework=gtest", "--timeout=1500000us", "--tests=A*",
		     "--", "./program", "--level", "3");
	/* A name that cannot be given on a command line that is kept. */
	char *text = NULL;
	finding.test = 2;
	assert_err(replay_describe(&finding, &records.source, &text),
		   ERR_INTERNAL, "not UTF-8");
	assert_null(text);
}

static void test_choices(void **state _unused_)
{
	static const struct choices_options options_of_search = {};
	struct wire_choice_range ranges[] = {
		{ .thread = UINT64_MAX, .from = 3, .to = 4, .phase = 1 }
	};
	uint64_t forced[] = { 0, 7 };
	size_t prefix[] = { 2 };
	struct assumption assumption = {
		.level = WIRE_ID,
		.failing_seed = UINT64_MAX - 1,
		.numbered = { 3 },
		.on = { 2 },
		.startup = true,
		.ranges = { ranges, 1, 1 },
		.forced = { forced, 2, 2 },
		.prefix = { prefix, 1, 1 },
	};
	const struct finding finding = { .kind = &assumption_kind,
					 .tests = &roster,
					 .test = 1,
					 .evidence = &assumption };
	const struct replay_kind *kind = replay_kind_of("choice-1");
	_cleanup_(record_freep) struct record record = {};
	void *details = NULL;
	records.source.choices = &options_of_search;
	describe(&finding, &record);
	assert_int_equal(record.trials.n, 2);
	const struct trial *trial = record.trials.data;
	assert_true(trial[0].forced);
	assert_int_equal(trial[0].expect, TRIAL_FAIL);
	assert_texts(&trial[0].order, "C\\xff", "B");
	assert_false(trial[1].forced);
	assert_int_equal(trial[1].expect, TRIAL_PASS);
	assert_texts(&trial[1].order, "C\\xff", "B");
	/* Numbers of models are found again by their names. */
	const char *seed = NULL, *thread = NULL, *pick = NULL;
	assert_int_equal(json_unpack(record.details, "{s:s, s:[{s:s}], s:[s]}",
				     "seed", &seed, "ranges", "thread", &thread,
				     "forced", &pick),
			 0);
	assert_string_equal(seed, "fffffffffffffffe");
	assert_string_equal(thread, "ffffffffffffffff");
	assert_string_equal(pick, "0");
	assert_ok(kind->read_details(&record, &details));
	assert_non_null(details);
	kind->free_details(details);
	/* What only one version knows of is not read. */
	json_object_set_new(record.details, "level", json_string("most"));
	assert_err(kind->read_details(&record, &details), ERR_INTERNAL,
		   "cannot be read");
	json_object_del(record.details, "level");
	assert_err(kind->read_details(&record, &details), ERR_INTERNAL,
		   "cannot be read");
}

#define TRIAL(more)                                                            \
	"{\"name\": \"x\", \"expect\": \"fail\", \"forced\": false,"           \
	" \"order\": [\"A\"], \"command\": []" more "}"
#define RECORD(more)                                                           \
	"{\"version\": 2, \"files_digest\": \"\", \"test\": \"A\","            \
	" \"suite\": [\"x\"], \"files\": [], \"trials\": [" TRIAL("") "]" more \
								      "}"

static void test_foreign(void **state _unused_)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{",
		"3",
		"null",
		"{\"version\": \"2\"}",
		"{\"version\": 2}",
		RECORD(", \"files_digest\": \"012345678901234567890123456789"
		       "0123456789\""),
		RECORD(", \"test\": \"B\""),
		RECORD(", \"test\": null"),
		RECORD(", \"suite\": []"),
		RECORD(", \"suite\": [\"x\\u0000\"]"),
		RECORD(", \"suite\": [3]"),
		RECORD(", \"files\": [[]]"),
		RECORD(", \"trials\": []"),
		RECORD(", \"trials\": [3]"),
		RECORD(", \"trials\": [" TRIAL(", \"order\": []") "]"),
		RECORD(", \"trials\": [" TRIAL(", \"expect\": \"luck\"") "]"),
		RECORD(", \"trials\": [" TRIAL(
			", \"expect\": \"finding\"") "]"),
	};
	struct record record = {};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_err(record_read(texts[i], &record), ERR_INTERNAL,
			   "cannot be read");
		assert_null(record.suite.data);
	}
	assert_err(record_read(RECORD(", \"version\": 1"), &record),
		   ERR_INTERNAL, "stored by another version");
	assert_ok(record_read(RECORD(""), &record));
	assert_int_equal(record.trials.n, 1);
	void *details = NULL;
	assert_err(replay_kind_of("choice-1")->read_details(&record, &details),
		   ERR_INTERNAL, "cannot be read");
	record_free(&record);
	/* Trials that would do for another kind, or are too few. */
	static const char *const ids[] = { "pollution-1", "order-1", "flaky-1",
					   "choice-1" };
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const struct replay_kind *kind = replay_kind_of(ids[i]);
		assert_ok(record_read(RECORD(""), &record));
		assert_err(replay_check_trials(kind, &record), ERR_INTERNAL,
			   "cannot be read");
		record_free(&record);
		assert_ok(record_read(
			RECORD(", \"trials\": [" TRIAL("") "," TRIAL("") "]"),
			&record));
		assert_err(replay_check_trials(kind, &record), ERR_INTERNAL,
			   "cannot be read");
		record_free(&record);
	}
	assert_null(replay_kind_of("orderly-1"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_order),   TEST(test_flaky),	TEST(test_pollution),
		TEST(test_choices), TEST(test_foreign),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

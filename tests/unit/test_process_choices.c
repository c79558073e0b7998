/* Choices in suites of processes: who is reached, and what is told of it. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/path.h"
#include "process/kinds.h"
#include "process/process_suite.h"
#include "wire/choices.h"

static char folder[] = "/tmp/polygraph-choices-XXXXXX";

#define TESTS 32

struct seen {
	size_t n;
	struct told {
		bool told; /* chosen() came, and before finished() */
		bool finished;
		uint64_t attached, made, acted, threads_n;
		struct wire_choice_thread threads[16];
		struct wire_choice record;
		enum outcome outcome;
		char output[512];
	} tests[TESTS];
};

static void on_chosen(void *data, size_t entry, size_t test,
		      const struct wire_choices *block)
{
	struct seen *seen = data;
	assert_true(entry < TESTS);
	assert_true(test < TESTS);
	struct told *told = &seen->tests[entry];
	assert_false(told->finished);
	told->told = true;
	told->attached = block->attached;
	told->made = block->made[WIRE_MODEL_qsort];
	told->acted = block->acted[WIRE_MODEL_qsort];
	told->threads_n = block->threads_n;
	memcpy(told->threads, block->threads, sizeof(told->threads));
	if (block->records_n)
		told->record = block->records[0];
}

static void on_finished(void *data, const struct suite_result *result)
{
	struct seen *seen = data;
	struct told *told = &seen->tests[result->entry];
	told->finished = true;
	told->outcome = result->outcome;
	snprintf(told->output, sizeof(told->output), "%s",
		 result->output ? result->output : "");
	seen->n++;
}

static struct suite *open_suite(const char *const *lines, unsigned jobs)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/commands", folder);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	for (size_t i = 0; lines[i]; i++)
		fprintf(file, "%s\n", lines[i]);
	fclose(file);
	struct suite_options options = {
		.kind = &commands_suite_kind,
		.source = path,
		.jobs = jobs,
		.timeout_ns = 20000000000,
		.keep_output = true,
		.agent = SUITE_AGENT_CHOICES,
	};
	struct suite *suite = NULL;
	assert_ok(suite_open(&options, &suite));
	/* It lies beside the program, not beside this one. */
	struct process_suite *self = (struct process_suite *)suite;
	self->library = strdup(getenv("POLYGRAPH_CHOICES_AGENT"));
	return suite;
}

static struct seen run(struct suite *suite)
{
	static struct seen seen;
	size_t order[TESTS];
	size_t n = suite_count(suite);
	memset(&seen, 0, sizeof(seen));
	assert_true(n <= TESTS);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	struct suite_observer observer = {
		.finished = on_finished,
		.chosen = on_chosen,
		.data = &seen,
	};
	assert_ok(suite_run(suite, order, n, 0, &observer));
	assert_int_equal(seen.n, n);
	return seen;
}

static const uint64_t all[WIRE_MODEL_WORDS] = {
	[WIRE_MODEL_qsort / 64] = 1ULL << WIRE_MODEL_qsort % 64,
};

static struct suite_choices choices(enum wire_level level, uint64_t seed)
{
	return (struct suite_choices){
		.level = level,
		.seed = seed,
		.models = all,
		.on = all,
	};
}

/* Reached: a program, what a shell starts, what becomes another, what forks. */
static const char *const reached[] = {
	"$POLYGRAPH_SUBJECT_CHOICES once",
	"sh -c \"$POLYGRAPH_SUBJECT_CHOICES once || exit 3\"",
	"$POLYGRAPH_SUBJECT_CHOICES self",
	"exec $POLYGRAPH_SUBJECT_CHOICES fork",
	"sh -c \"true | $POLYGRAPH_SUBJECT_CHOICES once | cat; "
	"$POLYGRAPH_SUBJECT_CHOICES once\"",
	NULL,
};

static void test_reached(void **state _unused_)
{
	_cleanup_(suite_closep) struct suite *suite = open_suite(reached, 1);
	struct suite_choices what = choices(WIRE_ONE, 1);
	struct seen seen = run(suite);
	for (size_t i = 0; i < seen.n; i++) {
		assert_int_equal(seen.tests[i].outcome, OUTCOME_PASS);
		assert_false(seen.tests[i].told);
	}
	assert_ok(suite_choose(suite, &what));
	seen = run(suite);
	for (size_t i = 0; i < seen.n; i++) {
		if (seen.tests[i].outcome != OUTCOME_FAIL)
			fail_msg("%s held: %s", reached[i],
				 seen.tests[i].output);
		assert_true(seen.tests[i].told);
		assert_int_equal(seen.tests[i].made, i < 3 ? 1 : 2);
		assert_int_equal(seen.tests[i].acted, seen.tests[i].made);
		assert_true(seen.tests[i].attached >= 2 - (i == 3));
	}
	/* And no more. */
	assert_ok(suite_choose(suite, NULL));
	seen = run(suite);
	for (size_t i = 0; i < seen.n; i++) {
		assert_int_equal(seen.tests[i].outcome, OUTCOME_PASS);
		assert_false(seen.tests[i].told);
	}
}

static const char *const unreached[] = {
	"$POLYGRAPH_SUBJECT_CHOICES never",
	"env -i $POLYGRAPH_SUBJECT_CHOICES once",
	"LD_PRELOAD= $POLYGRAPH_SUBJECT_CHOICES once",
	"false",
	"kill -9 $$",
	"/nowhere/to/be/found",
	NULL,
};

/* Tests that make no choices, and those that end otherwise, are told of. */
static void test_unreached(void **state _unused_)
{
	static const enum outcome outcomes[] = {
		OUTCOME_PASS, OUTCOME_PASS,  OUTCOME_PASS,
		OUTCOME_FAIL, OUTCOME_CRASH, OUTCOME_FAIL,
	};
	_cleanup_(suite_closep) struct suite *suite = open_suite(unreached, 1);
	struct suite_choices what = choices(WIRE_FULL, 1);
	assert_ok(suite_choose(suite, &what));
	struct seen seen = run(suite);
	for (size_t i = 0; i < seen.n; i++) {
		assert_int_equal(seen.tests[i].outcome, outcomes[i]);
		assert_true(seen.tests[i].told);
		assert_int_equal(seen.tests[i].made, 0);
	}
}

static bool same_threads(const struct told *a, const struct told *b)
{
	if (a->threads_n != b->threads_n)
		return false;
	for (size_t i = 0; i < a->threads_n && i < 16; i++) {
		size_t found = 0;
		for (size_t k = 0; k < b->threads_n && k < 16; k++)
			found += a->threads[i].key == b->threads[k].key &&
				 a->threads[i].n == b->threads[k].n;
		if (found != 1)
			return false;
	}
	return true;
}

static const char *const many[] = {
	/* The same command lines, one after the other and side by side. */
	"for i in 1 2 3 4; do $POLYGRAPH_SUBJECT_CHOICES once; done",
	"for i in 1 2 3 4; do $POLYGRAPH_SUBJECT_CHOICES once & done; wait",
	"$POLYGRAPH_SUBJECT_CHOICES fork; $POLYGRAPH_SUBJECT_CHOICES fork",
	"$POLYGRAPH_SUBJECT_CHOICES once /tmp/tmp.$$; :",
	NULL,
};

/* The same again and again, the keys different from one another. */
static void test_same(void **state _unused_)
{
	_cleanup_(suite_closep) struct suite *suite = open_suite(many, 2);
	struct suite_choices what = choices(WIRE_FULL, 7);
	assert_ok(suite_choose(suite, &what));
	struct seen first = run(suite);
	for (int round = 0; round < 3; round++) {
		struct seen again = run(suite);
		for (size_t i = 0; i < first.n; i++) {
			const struct told *told = &first.tests[i];
			if (!same_threads(told, &again.tests[i]))
				fail_msg("%s: other threads", many[i]);
			/* Side by side they print in any order. */
			if (i != 1)
				assert_string_equal(told->output,
						    again.tests[i].output);
			assert_int_equal(told->made, i < 3 ? 4 : 1);
			/* Who only starts others chooses nothing. */
			size_t choosing = 0;
			for (size_t k = 0; k < told->threads_n; k++)
				choosing += told->threads[k].n != 0;
			assert_int_equal(choosing, told->made);
			for (size_t k = 1; k < told->threads_n; k++)
				assert_true(told->threads[k].key !=
					    told->threads[k - 1].key);
		}
	}
}

/* Only the choices of one process act. */
static void test_ranges(void **state _unused_)
{
	_cleanup_(suite_closep) struct suite *suite = open_suite(many, 1);
	struct suite_choices what = choices(WIRE_FULL, 3);
	assert_ok(suite_choose(suite, &what));
	struct seen all_act = run(suite);
	struct wire_choice_range range = {
		.thread = all_act.tests[0].threads[2].key,
		.from = 0,
		.to = 1,
		.phase = 1,
	};
	what.only_ranges = true;
	what.ranges = &range;
	what.n_ranges = 1;
	what.detail = true;
	assert_ok(suite_choose(suite, &what));
	struct seen one = run(suite);
	assert_int_equal(one.tests[0].made, 4);
	assert_int_equal(one.tests[0].acted, 1);
	assert_int_equal(one.tests[0].record.thread, range.thread);
	assert_int_equal(one.tests[0].record.model, WIRE_MODEL_qsort);
	assert_string_equal(one.tests[0].record.argument,
			    "6 elements of 8 bytes");
	assert_int_equal(one.tests[2].acted, 0);
	assert_int_equal(one.tests[2].outcome, OUTCOME_PASS);
}

static const char *const surroundings[] = {
	"$POLYGRAPH_SUBJECT_CHOICES never",
	"LD_PRELOAD=/lib/x86_64-linux-gnu/libm.so.6:$LD_PRELOAD "
	"$POLYGRAPH_SUBJECT_CHOICES once",
	"env | grep -c -e POLYGRAPH_CHOICES= -e ^LD_PRELOAD=",
	NULL,
};

/* Without choices it is the same but for them: environment, addresses. */
static void test_surroundings(void **state _unused_)
{
	_cleanup_(suite_closep) struct suite *suite =
		open_suite(surroundings, 1);
	struct suite_choices what = choices(WIRE_ONE, 1);
	struct seen before = run(suite);
	struct seen again = run(suite);
	assert_string_equal(before.tests[0].output, again.tests[0].output);
	assert_string_equal(before.tests[2].output, "2\n");
	assert_ok(suite_choose(suite, &what));
	again = run(suite);
	assert_string_equal(before.tests[0].output, again.tests[0].output);
	assert_string_equal(again.tests[2].output, "2\n");
	assert_int_equal(again.tests[1].outcome, OUTCOME_FAIL);
}

static void test_too_many(void **state _unused_)
{
	_cleanup_(suite_closep) struct suite *suite = open_suite(reached, 1);
	struct suite_choices what = choices(WIRE_ONE, 1);
	what.n_ranges = WIRE_CHOICE_RANGES + 1;
	assert_err(suite_choose(suite, &what), ERR_INTERNAL, "too many");
	what.n_ranges = 0;
	what.n_forced = WIRE_CHOICE_TRACE + 1;
	assert_err(suite_choose(suite, &what), ERR_INTERNAL, "too many");
}

static int set_up(void **state _unused_)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state _unused_)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/commands", folder);
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reached),
		cmocka_unit_test(test_unreached),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_surroundings),
		cmocka_unit_test(test_too_many),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

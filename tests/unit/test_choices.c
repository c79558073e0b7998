/*
 * The search for tests that assume too much, on suites that exist only here: each
 * test makes some numbered choices, and fails where certain ones of them act.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/shuffle.h"
#include "choices/choices.h"
#include "finding/flaky.h"
#include "suite/kind.h"
#include "wire/models.h"

#define ALTERNATIVES 3
#define OTHER_THREAD 77
#define SEEDS 200

enum where { MAIN, OTHER, START, WHERES };

struct place {
	enum where where;
	size_t n; /* from 0 */
};

struct model_test {
	size_t calls[WHERES]; /* that it makes, of qsort and strcmp in turn */
	struct place decisive[3];
	size_t n_decisive;
	bool any;	 /* one of them is enough */
	bool leaves;	 /* it does not fail, but leaves a trace */
	bool minds;	 /* it fails where there is one */
	bool prepares;	 /* for those that need it */
	bool needs;	 /* fails unless another has prepared */
	unsigned random; /* fails once in so many runs; 0: not */
	bool ends_start; /* the program does not start instead */
};

struct model {
	struct suite suite;
	struct roster *roster;
	const struct model_test *tests;
	size_t n;
	struct suite_choices choices;
	bool chooses;
	uint64_t chance;
	struct wire_choices *block;
};

/* Of the process that tests run in. */
struct process {
	bool trace, prepared;
};

static const uint64_t apis[] = { WIRE_MODEL_qsort, WIRE_MODEL_strcmp };

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t state = a * UINT64_C(0x9e3779b97f4a7c15) + b;
	return shuffle_next(&state);
}

static bool bit(const uint64_t *words, uint64_t model)
{
	return words[model / 64] >> model % 64 & 1;
}

static uint64_t key_of(enum where where)
{
	return where == OTHER ? OTHER_THREAD : WIRE_MAIN;
}

static bool is_on(const struct suite_choices *choices, size_t test,
		  uint64_t model, struct place place)
{
	const uint64_t *off = choices->off_by_test;
	if (!bit(choices->on, model) ||
	    (off && bit(off + test * WIRE_MODEL_WORDS, model)) ||
	    (place.where == START && !choices->startup))
		return false;
	if (!choices->only_ranges)
		return true;
	for (size_t i = 0; i < choices->n_ranges; i++) {
		const struct wire_choice_range *range = &choices->ranges[i];
		if (range->thread == key_of(place.where) &&
		    range->phase == (place.where != START) &&
		    place.n >= range->from && place.n < range->to)
			return true;
	}
	return false;
}

static uint64_t draw(const struct suite_choices *choices, uint64_t model,
		     struct place place)
{
	uint64_t hash = mix(choices->seed, model);
	if (choices->level == WIRE_ONE)
		return 1 + hash % (ALTERNATIVES - 1);
	if (choices->level == WIRE_FULL)
		hash = mix(mix(hash, place.where), place.n);
	return hash % ALTERNATIVES;
}

static void note(struct wire_choices *block, uint64_t model, struct place place,
		 uint64_t pick)
{
	struct wire_choice *record = &block->records[block->records_n++];
	*record = (struct wire_choice){
		.thread = key_of(place.where),
		.n = place.n,
		.phase = place.where != START,
		.model = model,
		.pick = pick,
		.alternatives = ALTERNATIVES,
	};
	snprintf(record->did, sizeof(record->did), "otherwise");
}

/* What comes of one call. */
static uint64_t call(struct model *model, size_t test, struct place place)
{
	const struct suite_choices *choices = &model->choices;
	struct wire_choices *block = model->block;
	uint64_t api = apis[place.n % ARRAY_SIZE(apis)], pick = 0;
	if (!model->chooses || !bit(choices->models, api))
		return 0;
	block->made[api]++;
	if (choices->trace && place.where != START) {
		uint64_t at = block->trace_n++;
		pick = at < choices->n_forced ? choices->forced[at] : 0;
		block->trace[at] = (struct wire_choice_step){
			.model = api,
			.alternatives = ALTERNATIVES,
			.pick = pick,
		};
	} else if (is_on(choices, test, api, place)) {
		pick = draw(choices, api, place);
	}
	block->acted[api] += pick != 0;
	if (pick && choices->detail && block->records_n < WIRE_CHOICE_RECORDS)
		note(block, api, place, pick);
	return pick;
}

/* Did what it takes act? */
static bool make_calls(struct model *model, size_t number)
{
	const struct model_test *test = &model->tests[number];
	struct wire_choices *block = model->block;
	bool any = false, all = test->n_decisive != 0;
	bool acted[3] = {};
	memset(block, 0, sizeof(*block));
	block->detail = model->choices.detail;
	for (enum where where = MAIN; where < WHERES; where++) {
		for (size_t n = 0; n < test->calls[where]; n++) {
			uint64_t pick =
				call(model, number, (struct place){ where, n });
			for (size_t i = 0; i < test->n_decisive; i++) {
				if (test->decisive[i].where == where &&
				    test->decisive[i].n == n)
					acted[i] = pick != 0;
			}
		}
		if (test->calls[where])
			block->threads[block->threads_n++] =
				(struct wire_choice_thread){
					.key = key_of(where),
					.phase = where != START,
					.n = test->calls[where],
				};
	}
	for (size_t i = 0; i < test->n_decisive; i++) {
		any |= acted[i];
		all &= acted[i];
	}
	return test->any ? any : all;
}

static bool play(struct model *model, struct process *process, size_t number)
{
	const struct model_test *test = &model->tests[number];
	bool does = make_calls(model, number);
	bool bad = does && !test->leaves;
	process->trace |= does && test->leaves;
	process->prepared |= test->prepares;
	bad |= test->minds && process->trace;
	bad |= test->needs && !process->prepared;
	bad |= test->random && shuffle_next(&model->chance) % test->random == 0;
	return bad;
}

static struct err *run_model(struct suite *suite, const size_t *order, size_t n,
			     unsigned flags,
			     const struct suite_observer *observer)
{
	struct model *model = (struct model *)suite;
	struct process process = {};
	for (size_t i = 0; i < n; i++) {
		if (flags & SUITE_ALONE)
			process = (struct process){};
		suite->executions++;
		bool bad = play(model, &process, order[i]);
		if (bad && model->tests[order[i]].ends_start)
			return err_create(ERR_SUITE, "it does not start");
		struct suite_result result = {
			.test = order[i],
			.entry = i,
			.outcome = bad ? OUTCOME_FAIL : OUTCOME_PASS,
			.message = bad ? "made up" : NULL,
		};
		if (model->chooses && observer->chosen)
			observer->chosen(observer->data, i, order[i],
					 model->block);
		if (observer->finished)
			observer->finished(observer->data, &result);
	}
	return NULL;
}

static struct err *choose_model(struct suite *suite,
				const struct suite_choices *choices)
{
	struct model *model = (struct model *)suite;
	model->chooses = choices;
	model->choices = choices ? *choices : (struct suite_choices){};
	return NULL;
}

static const struct suite_ops model_ops = {
	.run = run_model,
	.choose = choose_model,
	.watched = SUITE_ALL,
};

static void open_model(struct model *model, const struct model_test *tests,
		       size_t n)
{
	*model = (struct model){ .tests = tests, .n = n, .chance = 42 };
	model->block = calloc(1, sizeof(*model->block));
	assert_non_null(model->block);
	model->suite.ops = &model_ops;
	model->suite.framework = "model";
	model->suite.options.agent = SUITE_AGENT_CHOICES;
	for (size_t i = 0; i < n; i++) {
		char name[32];
		snprintf(name, sizeof(name), "t%zu", i);
		assert_ok(suite_add_test(&model->suite, name, NULL, 0, false));
	}
	assert_ok(roster_create(&model->suite, &model->roster));
}

static void close_model(struct model *model)
{
	suite_free_tests(&model->suite);
	roster_destroy(model->roster);
	free(model->block);
}

static struct choices_options usual(void)
{
	struct choices_options options = {
		.runs = 3,
		.seed = 1,
		.baselines = 2,
		.repeats = 3,
		.bound = 10000,
	};
	for (size_t i = 0; i < ARRAY_SIZE(apis); i++)
		options.models[apis[i] / 64] |= 1ULL << apis[i] % 64;
	return options;
}

static size_t count_flaky(const struct choices_result *result)
{
	size_t n = 0;
	for (size_t i = 0; i < result->findings.n; i++)
		n += flaky_of(&result->findings.data[i]) != NULL;
	return n;
}

static void search(struct model *model, const struct choices_options *options,
		   struct choices_result *ret)
{
	const struct suite_observer nobody = {};
	_cleanup_(freep) size_t *tests = calloc(model->n, sizeof(*tests));
	assert_non_null(tests);
	for (size_t i = 0; i < model->n; i++)
		tests[i] = i;
	const struct finding_run run = { model->roster, " -- ./model" };
	struct choices_options here = *options;
	here.run = &run;
	assert_ok(choices_find(&model->suite, tests, model->n, &here, &nobody,
			       ret));
	assert_int_equal(ret->reach.executions, model->suite.executions);
	assert_false(model->chooses);
}

/* The finding's calls are the test's decisive ones, and nothing else. */
static void expect_calls(const struct assumption *finding,
			 const struct model_test *test)
{
	assert_int_equal(finding->calls.n, test->n_decisive);
	for (size_t i = 0; i < test->n_decisive; i++) {
		const struct place *place = &test->decisive[i];
		bool found = false;
		for (size_t k = 0; k < finding->calls.n; k++) {
			const struct assumption_call *one =
				&finding->calls.data[k];
			found |=
				one->n == place->n &&
				one->thread == key_of(place->where) &&
				one->phase == (place->where != START) &&
				one->model == apis[place->n % ARRAY_SIZE(apis)];
		}
		assert_true(found);
	}
	assert_true(finding->minimal);
	assert_int_equal(finding->repeats, 3);
	assert_string_equal(finding->failure.message, "made up");
}

/* `replay` has all that it needs. */
static void expect_again(struct model *model, const struct assumption *finding)
{
	const struct choices_again again = {
		.level = finding->level,
		.seed = finding->failing_seed,
		.ranges = finding->ranges.data,
		.n_ranges = finding->ranges.n,
		.models = finding->numbered,
		.on = finding->on,
		.startup = finding->startup,
		.forced = finding->forced.data,
		.n_forced = finding->forced.n,
	};
	for (int without = 0; without < 2; without++) {
		struct suite_result result = {};
		assert_ok(choices_run_again(&model->suite, &finding->test, 1,
					    without ? NULL : &again, &result));
		assert_int_equal(result.outcome,
				 without ? OUTCOME_PASS : OUTCOME_FAIL);
		suite_result_free(&result);
	}
}

static void check_planted(const struct model_test *test, uint64_t executions)
{
	const struct model_test tests[] = {
		{ .calls = { 10, 5, 3 } },
		*test,
		{ .calls = { 100 } },
	};
	struct model model;
	_cleanup_(choices_result_freep) struct choices_result result = {};
	struct choices_options options = usual();
	open_model(&model, tests, ARRAY_SIZE(tests));
	search(&model, &options, &result);
	assert_int_equal(result.findings.n, 1);
	assert_int_equal(count_flaky(&result), 0);
	const struct assumption *finding =
		assumption_of(&result.findings.data[0]);
	assert_int_equal(finding->test, 1);
	assert_int_equal(finding->level, WIRE_ONE);
	assert_int_equal(finding->failures, finding->runs);
	assert_true(finding->alone);
	expect_calls(finding, test);
	expect_again(&model, finding);
	assert_in_range(result.reach.executions, 1, executions);
	close_model(&model);
}

/* One, two or three decisive choices among up to ten thousand, anywhere. */
static void test_planted(void **state _unused_)
{
	static const size_t sizes[] = { 3, 10, 129, 1000, 10000 };
	uint64_t random = 7;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t n = 1; n <= 3; n++) {
			struct model_test test = {
				.calls = { sizes[i] },
				.n_decisive = n,
			};
			/* Different thirds: all of them are different. */
			for (size_t k = 0; k < n; k++)
				test.decisive[k].n =
					k * (sizes[i] / 3) +
					shuffle_next(&random) % (sizes[i] / 3);
			check_planted(&test, 400);
		}
	}
}

static void test_planted_elsewhere(void **state _unused_)
{
	check_planted(
		&(struct model_test){
			.calls = { 50, 200, 9 },
			.decisive = { { OTHER, 123 } },
			.n_decisive = 1,
		},
		400);
	check_planted(
		&(struct model_test){
			.calls = { 50, 200, 9 },
			.decisive = { { MAIN, 41 }, { OTHER, 3 } },
			.n_decisive = 2,
		},
		400);
}

/* Before the first test, alone or together with one of the test. */
static void test_start(void **state _unused_)
{
	check_planted(
		&(struct model_test){
			.calls = { 50, 0, 20 },
			.decisive = { { START, 11 } },
			.n_decisive = 1,
		},
		400);
	check_planted(
		&(struct model_test){
			.calls = { 50, 0, 20 },
			.decisive = { { START, 4 }, { MAIN, 37 } },
			.n_decisive = 2,
		},
		400);
}

/* The program does not come to its first test: that is told of the first one. */
static void test_no_start(void **state _unused_)
{
	const struct model_test tests[] = {
		{ .calls = { 5, 0, 20 },
		  .decisive = { { START, 6 } },
		  .n_decisive = 1,
		  .ends_start = true },
		{ .calls = { 5 } },
	};
	struct model model;
	_cleanup_(choices_result_freep) struct choices_result result = {};
	struct choices_options options = usual();
	open_model(&model, tests, ARRAY_SIZE(tests));
	search(&model, &options, &result);
	assert_int_equal(result.findings.n, 1);
	assert_int_equal(assumption_of(&result.findings.data[0])->test, 0);
	assert_int_equal(
		assumption_of(&result.findings.data[0])->failure.outcome,
		OUTCOME_CRASH);
	assert_true(assumption_of(&result.findings.data[0])->startup);
	close_model(&model);
}

/* Each of two APIs makes it fail: both are found, and told apart. */
static void test_two_apis(void **state _unused_)
{
	const struct model_test tests[] = {
		{ .calls = { 40 },
		  .decisive = { { MAIN, 12 }, { MAIN, 31 } },
		  .n_decisive = 2,
		  .any = true },
	};
	struct model model;
	_cleanup_(choices_result_freep) struct choices_result result = {};
	struct choices_options options = usual();
	open_model(&model, tests, 1);
	search(&model, &options, &result);
	assert_int_equal(result.findings.n, 2);
	assert_int_equal(count_flaky(&result), 0);
	uint64_t seen = 0;
	for (size_t i = 0; i < 2; i++) {
		const struct assumption *finding =
			assumption_of(&result.findings.data[i]);
		assert_int_equal(finding->calls.n, 1);
		assert_true(finding->calls.data[0].n == 12 ||
			    finding->calls.data[0].n == 31);
		assert_int_equal(finding->model, finding->calls.data[0].model);
		seen |= 1ULL << finding->calls.data[0].n;
		expect_again(&model, finding);
	}
	assert_int_equal(seen, 1ULL << 12 | 1ULL << 31);
	close_model(&model);
}

/* Fails only where a choice in a test before it left something. */
static void test_after_others(void **state _unused_)
{
	const struct model_test tests[] = {
		{ .calls = { 3 } },
		{ .calls = { 300 },
		  .decisive = { { MAIN, 200 } },
		  .n_decisive = 1,
		  .leaves = true },
		{ .calls = { 7 } },
		{ .calls = { 2 }, .minds = true },
	};
	struct model model;
	_cleanup_(choices_result_freep) struct choices_result result = {};
	struct choices_options options = usual();
	open_model(&model, tests, ARRAY_SIZE(tests));
	search(&model, &options, &result);
	assert_int_equal(result.findings.n, 1);
	assert_int_equal(count_flaky(&result), 0);
	const struct assumption *finding =
		assumption_of(&result.findings.data[0]);
	assert_int_equal(finding->test, 3);
	assert_false(finding->alone);
	assert_int_equal(finding->calls.n, 1);
	assert_int_equal(finding->calls.data[0].n, 200);
	assert_true(finding->minimal);
	close_model(&model);
}

/* Needs one before it: alone it fails, choices or not. */
static void test_needs_another(void **state _unused_)
{
	const struct model_test tests[] = {
		{ .calls = { 20 }, .prepares = true },
		{ .calls = { 20 }, .needs = true },
		{ .calls = { 20 },
		  .needs = true,
		  .decisive = { { MAIN, 13 } },
		  .n_decisive = 1 },
	};
	struct model model;
	_cleanup_(choices_result_freep) struct choices_result result = {};
	struct choices_options options = usual();
	open_model(&model, tests, ARRAY_SIZE(tests));
	search(&model, &options, &result);
	assert_int_equal(result.findings.n, 1);
	assert_int_equal(assumption_of(&result.findings.data[0])->test, 2);
	assert_false(assumption_of(&result.findings.data[0])->alone);
	expect_calls(assumption_of(&result.findings.data[0]), &tests[2]);
	assert_int_equal(count_flaky(&result), 0);
	close_model(&model);
}

/* Whatever the seed, and however seldom it fails. */
static void test_random(void **state _unused_)
{
	const struct model_test tests[] = {
		{ .calls = { 20, 5, 5 }, .random = 2 },
		{ .calls = { 20, 5, 5 }, .random = 5 },
		{ .calls = { 20, 5, 5 }, .random = 30 },
		{ .calls = { 20, 5, 5 }, .random = 200 },
		{ .calls = { 20, 5, 5 } },
		{ .calls = { 20 },
		  .decisive = { { MAIN, 9 } },
		  .n_decisive = 1 },
	};
	struct model model;
	size_t apart = 0;
	open_model(&model, tests, ARRAY_SIZE(tests));
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		_cleanup_(
			choices_result_freep) struct choices_result result = {};
		struct choices_options options = usual();
		options.seed = seed * 1000 + 1;
		model.chance = seed;
		model.suite.executions = 0;
		search(&model, &options, &result);
		size_t flaky = count_flaky(&result);
		assert_int_equal(result.findings.n, flaky + 1);
		for (size_t i = 0; i < result.findings.n; i++) {
			const struct finding *finding =
				&result.findings.data[i];
			if (flaky_of(finding)) {
				assert_in_range(finding->test, 0, 3);
				continue;
			}
			assert_int_equal(assumption_of(finding)->test, 5);
			expect_calls(assumption_of(finding), &tests[5]);
		}
		apart += flaky;
	}
	/* Most of them are seen to: the first two nearly always. */
	assert_in_range(apart, SEEDS * 2, SEEDS * 4);
	close_model(&model);
}

/* A test that fails without choices is left alone. */
static void test_fails_anyhow(void **state _unused_)
{
	const struct model_test tests[] = {
		{ .calls = { 20 }, .random = 1 },
		{ .calls = { 20 }, .needs = true },
		{},
	};
	struct model model;
	_cleanup_(choices_result_freep) struct choices_result result = {};
	struct choices_options options = usual();
	open_model(&model, tests, ARRAY_SIZE(tests));
	search(&model, &options, &result);
	assert_int_equal(result.findings.n, 0);
	assert_int_equal(count_flaky(&result), 0);
	/*
	 * Nothing but runs of the whole suite: four levels, three seeds. And
	 * the two that fail: are they flaky?
	 */
	assert_int_equal(result.reach.executions,
			 (2 + 12) * ARRAY_SIZE(tests) + 2 * flaky_runs(0));
	assert_int_equal(result.reach.runs, 12);
	assert_int_equal(result.reach.baselines, 2);
	close_model(&model);
}

static void test_level_and_models(void **state _unused_)
{
	const struct model_test tests[] = {
		{ .calls = { 30 },
		  .decisive = { { MAIN, 9 } },
		  .n_decisive = 1 },
	};
	for (unsigned level = 0; level < WIRE_LEVELS; level++) {
		for (size_t api = 0; api < ARRAY_SIZE(apis); api++) {
			struct model model;
			_cleanup_(choices_result_freep) struct choices_result
				result = {};
			struct choices_options options = usual();
			options.level_given = true;
			options.level = (enum wire_level)level;
			options.runs = 20;
			memset(options.models, 0, sizeof(options.models));
			options.models[apis[api] / 64] = 1ULL << apis[api] % 64;
			open_model(&model, tests, 1);
			search(&model, &options, &result);
			/* The tenth call is strcmp's, whatever is numbered. */
			assert_int_equal(result.findings.n, api == 1);
			assert_int_equal(result.reach.runs, 20);
			if (api == 1)
				assert_int_equal(
					assumption_of(&result.findings.data[0])
						->level,
					level);
			close_model(&model);
		}
	}
}

static void test_budget(void **state _unused_)
{
	const struct model_test tests[] = {
		{ .calls = { 30 },
		  .decisive = { { MAIN, 9 } },
		  .n_decisive = 1 },
	};
	struct model model;
	_cleanup_(choices_result_freep) struct choices_result result = {};
	struct choices_options options = usual();
	options.deadline = 1;
	open_model(&model, tests, 1);
	search(&model, &options, &result);
	assert_int_equal(result.findings.n, 0);
	assert_string_equal(result.reach.why, "budget");
	assert_int_equal(result.reach.baselines, 1);
	assert_int_equal(result.reach.runs, 0);
	close_model(&model);
}

/* ---- every combination ---- */

static void explore(const struct model_test *test, uint64_t bound,
		    struct choices_result *ret)
{
	struct model model;
	struct choices_options options = usual();
	options.systematic = true;
	options.bound = bound;
	open_model(&model, test, 1);
	search(&model, &options, ret);
	assert_int_equal(ret->reach.spaces.n, 1);
	if (ret->findings.n)
		expect_again(&model, assumption_of(&ret->findings.data[0]));
	close_model(&model);
}

static void expect_space(const struct model_test *test, uint64_t nodes,
			 uint64_t leaves, uint64_t failing)
{
	_cleanup_(choices_result_freep) struct choices_result result = {};
	explore(test, 10000, &result);
	const struct choices_space *space = &result.reach.spaces.data[0];
	assert_int_equal(space->nodes, nodes);
	assert_int_equal(space->leaves, leaves);
	assert_int_equal(space->failing, failing);
	assert_true(space->exhausted);
	/* A tree of choices of three: all that leads to a node is one edge. */
	assert_int_equal(space->edges, nodes * 3);
	assert_int_equal(space->merge_nodes, 0);
	double wanted = (double)failing / (double)leaves;
	assert_true(space->probability > wanted - 1e-9 &&
		    space->probability < wanted + 1e-9);
	assert_int_equal(result.findings.n, failing != 0);
	if (!failing)
		return;
	assert_int_equal(assumption_of(&result.findings.data[0])->critical.n,
			 space->critical);
	assert_true(assumption_of(&result.findings.data[0])->systematic);
	assert_true(assumption_of(&result.findings.data[0])->probability ==
		    space->probability);
}

static void test_every_way(void **state _unused_)
{
	expect_space(&(struct model_test){ .calls = { 0 } }, 0, 1, 0);
	expect_space(&(struct model_test){ .calls = { 3 } }, 13, 27, 0);
	expect_space(
		&(struct model_test){
			.calls = { 1 },
			.decisive = { { MAIN, 0 } },
			.n_decisive = 1,
		},
		1, 3, 2);
	expect_space(
		&(struct model_test){
			.calls = { 3 },
			.decisive = { { MAIN, 0 }, { MAIN, 2 } },
			.n_decisive = 2,
		},
		13, 27, 12);
	expect_space(
		&(struct model_test){
			.calls = { 2 },
			.decisive = { { MAIN, 0 }, { MAIN, 1 } },
			.n_decisive = 2,
			.any = true,
		},
		4, 9, 8);
}

static void test_every_way_bounded(void **state _unused_)
{
	_cleanup_(choices_result_freep) struct choices_result result = {};
	explore(&(struct model_test){ .calls = { 20 } }, 100, &result);
	assert_false(result.reach.spaces.data[0].exhausted);
	assert_in_range(result.reach.spaces.data[0].nodes, 20, 100);
	assert_int_equal(result.findings.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_planted_elsewhere),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_no_start),
		cmocka_unit_test(test_two_apis),
		cmocka_unit_test(test_after_others),
		cmocka_unit_test(test_needs_another),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_fails_anyhow),
		cmocka_unit_test(test_level_and_models),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_every_way),
		cmocka_unit_test(test_every_way_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

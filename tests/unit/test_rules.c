/*
 * The rules of orders, against a model that takes their definition literally:
 * on small random suites every answer is compared.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "order/rules.h"
#include "suite/declare.h"

static void suite_freep(struct suite *suite)
{
	suite_free_tests(suite);
}

static void add_tests(struct suite *suite, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char name[32];
		snprintf(name, sizeof(name), "test %zu", i);
		assert_ok(suite_add_test(suite, name, NULL, 0, false));
	}
}

/* A group with these tests in it. */
static size_t add_group(struct suite *suite, size_t parent, size_t from,
			size_t to)
{
	size_t group;
	assert_ok(declare_group(suite, parent, &group));
	for (size_t i = from; i < to; i++)
		suite->tests.data[i].group = group;
	return group;
}

static struct rules *rules_of(const struct suite *suite)
{
	struct rules *rules = NULL;
	assert_ok(rules_create(suite, false, &rules));
	return rules;
}

static void check_arranged(const struct rules *rules, const size_t *order,
			   size_t n, const size_t *expected, size_t n_expected)
{
	_cleanup_(freep) size_t *arranged = NULL;
	size_t n_arranged;
	assert_ok(rules_arrange(rules, order, n, &arranged, &n_arranged));
	for (size_t i = 0; i < MAX(n_arranged, n_expected); i++) {
		if (i < MIN(n_arranged, n_expected) &&
		    arranged[i] == expected[i])
			continue;
		print_error("place %zu: %zd, expected %zd\n", i,
			    i < n_arranged ? (ssize_t)arranged[i] : -1,
			    i < n_expected ? (ssize_t)expected[i] : -1);
		fail();
	}
	assert_true(rules_allow(rules, arranged, n_arranged));
}

#define LIST(...)                                                              \
	((const size_t[]){ __VA_ARGS__ }),                                     \
		(sizeof((size_t[]){ __VA_ARGS__ }) / sizeof(size_t))

/* ---- by example ---- */

static void test_nothing_declared(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {};
	add_tests(&suite, 3);
	_cleanup_(rules_destroyp) struct rules *rules = rules_of(&suite);
	assert_true(rules_free(rules));
	assert_true(rules_allow(rules, LIST(2, 0, 2, 1)));
	assert_true(rules_allow(rules, NULL, 0));
	assert_false(rules_allow(rules, LIST(0, 3)));
	assert_true(rules_allow_pair(rules, 2, 2));
	assert_false(rules_allow_pair(rules, 0, 3));
	check_arranged(rules, LIST(2, 0, 2), LIST(2, 0, 2));
	check_arranged(rules, NULL, 0, NULL, 0);
}

static void test_groups_stand_together(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {};
	add_tests(&suite, 6);
	/* {0 1 {2 3}} 4 5 */
	size_t outer = add_group(&suite, SUITE_NO_GROUP, 0, 2);
	add_group(&suite, outer, 2, 4);
	_cleanup_(rules_destroyp) struct rules *rules = rules_of(&suite);
	assert_false(rules_free(rules));
	assert_true(rules_allow(rules, LIST(4, 1, 3, 2, 0, 5)));
	assert_false(rules_allow(rules, LIST(4, 1, 3, 0, 2, 5)));
	assert_false(rules_allow(rules, LIST(1, 4, 3)));
	assert_false(rules_allow(rules, LIST(1, 4, 1)));
	assert_true(rules_allow(rules, LIST(5, 4, 5)));
	assert_true(rules_allow(rules, LIST(3, 3)));
	/* Where its first test stands, a group stands. */
	check_arranged(rules, LIST(5, 2, 4, 0, 3, 1), LIST(5, 2, 3, 0, 1, 4));
	assert_true(rules_allow_pair(rules, 5, 2));
	assert_true(rules_allow_pair(rules, 2, 0));
}

static void test_a_group_of_all_is_free(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {};
	add_tests(&suite, 3);
	size_t outer = add_group(&suite, SUITE_NO_GROUP, 0, 0);
	add_group(&suite, outer, 0, 3);
	add_group(&suite, outer, 0, 0);
	_cleanup_(rules_destroyp) struct rules *rules = rules_of(&suite);
	assert_true(rules_free(rules));
}

static void test_after(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {};
	add_tests(&suite, 4);
	assert_ok(declare_after(&suite, 0, 3));
	assert_ok(declare_after(&suite, 0, 3));
	assert_ok(declare_after(&suite, 0, 0));
	assert_int_equal(suite.tests.data[0].n_after, 1);
	_cleanup_(rules_destroyp) struct rules *rules = rules_of(&suite);
	assert_true(rules_allow(rules, LIST(0, 1)));
	assert_false(rules_allow(rules, LIST(0, 3)));
	assert_true(rules_allow(rules, LIST(3, 3, 1, 0, 0)));
	assert_false(rules_allow(rules, LIST(3, 0, 3)));
	assert_false(rules_allow_pair(rules, 0, 3));
	assert_true(rules_allow_pair(rules, 3, 0));
	check_arranged(rules, LIST(0, 1), LIST(0, 1));
	check_arranged(rules, LIST(0, 3, 0, 1, 3, 2), LIST(3, 1, 3, 0, 0, 2));
}

static void test_any_order(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {};
	add_tests(&suite, 2);
	assert_ok(declare_needs(&suite, 0, 1));
	_cleanup_(rules_destroyp) struct rules *rules = NULL;
	assert_ok(rules_create(&suite, true, &rules));
	assert_true(rules_free(rules));
	assert_true(rules_allow(rules, LIST(0, 1)));
	assert_true(rules_allow_pair(rules, 0, 1));
	assert_false(rules_allow(rules, LIST(2)));
	check_arranged(rules, LIST(0), LIST(0));
}

static void test_needs_and_cleanups_come_along(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {};
	add_tests(&suite, 6);
	/* 0 sets up what 1 sets up more of; 2 and 3 use it; 4 cleans up. */
	assert_ok(declare_needs(&suite, 1, 0));
	for (size_t user = 2; user < 4; user++) {
		assert_ok(declare_needs(&suite, user, 1));
		assert_ok(declare_cleanup(&suite, user, 4));
	}
	_cleanup_(rules_destroyp) struct rules *rules = rules_of(&suite);
	assert_false(rules_allow(rules, LIST(2)));
	assert_false(rules_allow(rules, LIST(0, 1, 2)));
	assert_true(rules_allow(rules, LIST(0, 1, 2, 2, 4)));
	assert_false(rules_allow(rules, LIST(0, 1, 2, 4, 3)));
	assert_true(rules_allow(rules, LIST(4)));
	check_arranged(rules, LIST(5, 2), LIST(5, 0, 1, 2, 4));
	check_arranged(rules, LIST(4, 3, 5, 1), LIST(5, 0, 1, 3, 4));
	assert_true(rules_allow_pair(rules, 3, 2));
	assert_true(rules_allow_pair(rules, 2, 5));
	assert_false(rules_allow_pair(rules, 4, 2));
	assert_false(rules_allow_pair(rules, 2, 0));
}

/* What a group's test needs can keep the whole group from coming first. */
static void test_pairs_through_groups(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {};
	add_tests(&suite, 4);
	add_group(&suite, SUITE_NO_GROUP, 0, 2); /* {0 1} 2 3 */
	assert_ok(declare_needs(&suite, 2, 1));
	_cleanup_(rules_destroyp) struct rules *rules = rules_of(&suite);
	assert_false(rules_allow_pair(rules, 2, 0));
	assert_true(rules_allow_pair(rules, 0, 2));
	assert_true(rules_allow_pair(rules, 3, 0));
	check_arranged(rules, LIST(2, 0), LIST(1, 0, 2));
}

static void test_circles_are_left_out(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {};
	add_tests(&suite, 5);
	for (size_t i = 0; i < 3; i++)
		assert_ok(declare_needs(&suite, i, (i + 1) % 3));
	assert_ok(declare_after(&suite, 4, 0));
	_cleanup_(rules_destroyp) struct rules *rules = rules_of(&suite);
	assert_true(rules_allow(rules, LIST(2, 1, 0)));
	assert_true(rules_allow(rules, LIST(0)));
	assert_false(rules_allow(rules, LIST(4, 0)));
	check_arranged(rules, LIST(4, 1, 0), LIST(1, 0, 4));
}

static void test_priorities(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {};
	add_tests(&suite, 6);
	declare_priority(&suite, 4, INT64_MAX);
	declare_priority(&suite, 1, INT64_MIN);
	assert_ok(declare_after(&suite, 4, 0)); /* contradicts: left out */
	assert_ok(declare_after(&suite, 3, 5));
	_cleanup_(rules_destroyp) struct rules *rules = rules_of(&suite);
	assert_true(rules_allow(rules, LIST(4, 2, 0, 1)));
	assert_false(rules_allow(rules, LIST(2, 4)));
	assert_false(rules_allow(rules, LIST(1, 2)));
	assert_false(rules_allow_pair(rules, 1, 4));
	assert_true(rules_allow_pair(rules, 4, 1));
	assert_true(rules_allow_pair(rules, 0, 2));
	check_arranged(rules, LIST(1, 3, 2, 4, 5, 1), LIST(4, 2, 5, 3, 1, 1));
}

/* Groups of one priority come by it; one of several has no place by priority. */
static void test_priorities_of_groups(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {};
	add_tests(&suite, 5);
	add_group(&suite, SUITE_NO_GROUP, 0, 2);
	add_group(&suite, SUITE_NO_GROUP, 2, 4);
	declare_priority(&suite, 2, 1);
	declare_priority(&suite, 3, 1);
	_cleanup_(rules_destroyp) struct rules *rules = rules_of(&suite);
	check_arranged(rules, LIST(1, 3, 4, 0, 2), LIST(3, 2, 1, 0, 4));
	assert_false(rules_allow_pair(rules, 0, 2));
	declare_priority(&suite, 3, 2);
	_cleanup_(rules_destroyp) struct rules *mixed = rules_of(&suite);
	check_arranged(mixed, LIST(1, 2, 4, 0, 3), LIST(1, 0, 3, 2, 4));
	assert_true(rules_allow_pair(mixed, 0, 2));
}

/* ---- against the model ---- */

enum { TESTS = 5, GROUPS = 3, UNITS = TESTS + GROUPS + 1, ROOT = UNITS - 1 };
#define LONGEST (TESTS + 4)

struct model {
	size_t n;
	size_t parent[UNITS];
	bool reach[UNITS][UNITS];
	bool kept[TESTS][TESTS]; /* the first before the second */
	bool needs[TESTS][TESTS], cleans[TESTS][TESTS];
	bool mixed[UNITS];
	int64_t priority[UNITS];
};

static bool lies_in(const struct model *model, size_t unit, size_t in)
{
	for (;; unit = model->parent[unit]) {
		if (unit == in)
			return true;
		if (unit == ROOT)
			return false;
	}
}

/* The innermost unit with both in it, and its children with one each. */
static void model_lift(const struct model *model, size_t *a, size_t *b,
		       size_t *ret)
{
	size_t common = model->parent[*a];
	while (!lies_in(model, *b, common))
		common = model->parent[common];
	while (model->parent[*a] != common)
		*a = model->parent[*a];
	while (model->parent[*b] != common)
		*b = model->parent[*b];
	*ret = common;
}

/* By priority, if all that lies in it has one. */
static bool by_priority(const struct model *model, size_t in)
{
	for (size_t unit = 0; unit < ROOT; unit++) {
		if (model->parent[unit] == in && model->mixed[unit])
			return false;
	}
	return true;
}

static void model_fill(struct model *model, const struct suite *suite)
{
	memset(model, 0, sizeof(*model));
	model->n = suite->tests.n;
	for (size_t i = 0; i < ROOT; i++) {
		size_t group = SUITE_NO_GROUP;
		if (i < model->n)
			group = suite->tests.data[i].group;
		else if (i >= TESTS && i - TESTS < suite->groups.n)
			group = suite->groups.data[i - TESTS];
		model->parent[i] =
			group == SUITE_NO_GROUP ? ROOT : TESTS + group;
	}
	model->parent[ROOT] = ROOT;
	for (size_t unit = 0; unit < UNITS; unit++) {
		bool any = false;
		for (size_t i = 0; i < model->n; i++) {
			int64_t priority = suite->tests.data[i].priority;
			if (!lies_in(model, i, unit))
				continue;
			if (any && model->priority[unit] != priority)
				model->mixed[unit] = true;
			model->priority[unit] = priority;
			any = true;
		}
	}
	size_t common;
	for (size_t i = 0; i < model->n; i++) {
		const struct suite_test *test = &suite->tests.data[i];
		for (size_t j = 0; j < test->n_after; j++) {
			size_t a = test->after[j], b = i;
			model_lift(model, &a, &b, &common);
			model->reach[a][b] = true;
		}
	}
	for (size_t k = 0; k < UNITS; k++) {
		for (size_t i = 0; i < UNITS; i++) {
			for (size_t j = 0; j < UNITS; j++)
				model->reach[i][j] |= model->reach[i][k] &&
						      model->reach[k][j];
		}
	}
	for (size_t i = 0; i < model->n; i++) {
		const struct suite_test *test = &suite->tests.data[i];
		for (size_t j = 0; j < test->n_after; j++) {
			size_t a = test->after[j], b = i;
			model_lift(model, &a, &b, &common);
			model->kept[test->after[j]][i] =
				!model->reach[b][a] &&
				(!by_priority(model, common) ||
				 model->priority[a] >= model->priority[b]);
		}
		for (size_t j = 0; j < test->n_needs; j++)
			model->needs[i][test->needs[j]] =
				model->kept[test->needs[j]][i];
	}
	for (size_t i = 0; i < model->n; i++) {
		const struct suite_test *test = &suite->tests.data[i];
		for (size_t j = 0; j < test->n_cleanups; j++)
			model->cleans[i][test->cleanups[j]] =
				model->kept[i][test->cleanups[j]];
	}
}

static bool pair_allowed(const struct model *model, size_t a, size_t b)
{
	size_t common, first = a, second = b;
	if (model->kept[b][a])
		return false;
	if (a == b)
		return true;
	model_lift(model, &first, &second, &common);
	return !by_priority(model, common) ||
	       model->priority[first] >= model->priority[second];
}

static bool model_allows(const struct model *model, const size_t *order,
			 size_t n)
{
	bool there[TESTS] = {};
	for (size_t i = 0; i < n; i++)
		there[order[i]] = true;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			if (!pair_allowed(model, order[i], order[j]))
				return false;
		}
		for (size_t j = 0; j < model->n; j++) {
			if ((model->needs[order[i]][j] ||
			     model->cleans[order[i]][j]) &&
			    !there[j])
				return false;
		}
	}
	for (size_t group = TESTS; group < ROOT; group++) {
		size_t parts = 0;
		for (size_t i = 0; i < n; i++)
			parts += lies_in(model, order[i], group) &&
				 (!i || !lies_in(model, order[i - 1], group));
		if (parts > 1)
			return false;
	}
	return true;
}

/* Everything that has to be there. */
static void model_close(const struct model *model, bool *there)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < model->n; i++) {
			for (size_t j = 0; there[i] && j < model->n; j++) {
				if (there[j] || (!model->needs[i][j] &&
						 !model->cleans[i][j]))
					continue;
				there[j] = more = true;
			}
		}
	}
}

/* Is there an allowed order of these, @first before @second? */
static bool model_finds(const struct model *model, bool *there, size_t first,
			size_t second, size_t *order, size_t n)
{
	bool last = true;
	for (size_t i = 0; i < model->n; i++) {
		if (!there[i] || (i == second && there[first]))
			continue;
		last = there[i] = false;
		order[n] = i;
		bool found =
			model_finds(model, there, first, second, order, n + 1);
		there[i] = true;
		if (found)
			return true;
	}
	return last && model_allows(model, order, n);
}

static unsigned seed = 1;

static size_t below(size_t n)
{
	return (size_t)rand_r(&seed) % n;
}

static void random_suite(struct suite *suite)
{
	size_t n = 1 + below(TESTS);
	add_tests(suite, n);
	size_t groups = below(GROUPS + 1);
	for (size_t i = 0; i < groups; i++)
		add_group(suite, i && below(2) ? below(i) : SUITE_NO_GROUP, 0,
			  0);
	for (size_t i = 0; i < n; i++) {
		if (groups && below(3))
			suite->tests.data[i].group = below(groups);
	}
	for (size_t i = below(6); i > 0; i--) {
		size_t a = below(n), b = below(n), kind = below(3);
		if (kind == 0)
			assert_ok(declare_after(suite, a, b));
		else if (kind == 1)
			assert_ok(declare_needs(suite, a, b));
		else
			assert_ok(declare_cleanup(suite, a, b));
	}
	for (size_t i = 0; !below(3) && i < n; i++)
		declare_priority(suite, i, (int64_t)below(3) - 1);
}

static void show(const char *what, const size_t *order, size_t n)
{
	print_error("%s:", what);
	for (size_t i = 0; i < n; i++)
		print_error(" %zu", order[i]);
	print_error("\n");
}

static void compare_order(const struct model *model, const struct rules *rules,
			  const size_t *order, size_t n, size_t *allowed)
{
	bool is_allowed = model_allows(model, order, n);
	assert_int_equal(rules_allow(rules, order, n), is_allowed);
	*allowed += is_allowed;
	_cleanup_(freep) size_t *arranged = NULL;
	size_t n_arranged;
	assert_ok(rules_arrange(rules, order, n, &arranged, &n_arranged));
	if (!model_allows(model, arranged, n_arranged)) {
		show("given", order, n);
		show("arranged", arranged, n_arranged);
		fail();
	}
	if (is_allowed) {
		assert_int_equal(n, n_arranged);
		assert_memory_equal(order, arranged, n * sizeof(*order));
	}
	/* The same tests as often, and what they need once. */
	size_t times[TESTS] = {};
	bool there[TESTS] = {};
	for (size_t i = 0; i < n; i++) {
		times[order[i]]++;
		there[order[i]] = true;
	}
	model_close(model, there);
	for (size_t i = 0; i < n_arranged; i++)
		times[arranged[i]]--;
	size_t added = 0;
	for (size_t i = 0; i < model->n; i++) {
		bool once_more = times[i] == (size_t)-1;
		assert_true(!times[i] || (once_more && there[i]));
		added += once_more;
	}
	assert_int_equal(added, n_arranged - n);
}

static void compare_pairs(const struct model *model, const struct rules *rules)
{
	for (size_t a = 0; a < model->n; a++) {
		for (size_t b = 0; b < model->n; b++) {
			bool there[TESTS] = {};
			size_t order[TESTS];
			there[a] = there[b] = true;
			model_close(model, there);
			bool expected = a == b || model_finds(model, there, a,
							      b, order, 0);
			if (rules_allow_pair(rules, a, b) != expected) {
				print_error("%zu before %zu: expected %d\n", a,
					    b, expected);
				fail();
			}
		}
	}
}

static void test_like_the_model(void **state)
{
	(void)state;
	size_t allowed = 0, all = 0, free = 0;
	for (size_t round = 0; round < 4000; round++) {
		_cleanup_(suite_freep) struct suite suite = {};
		struct model model;
		random_suite(&suite);
		model_fill(&model, &suite);
		_cleanup_(rules_destroyp) struct rules *rules =
			rules_of(&suite);
		free += rules_free(rules);
		compare_pairs(&model, rules);
		for (size_t i = 0; i < 20; i++, all++) {
			size_t order[LONGEST], n = below(LONGEST + 1);
			size_t before = allowed;
			for (size_t j = 0; j < n; j++)
				order[j] = below(model.n);
			compare_order(&model, rules, order, n, &allowed);
			if (rules_free(rules))
				assert_int_equal(allowed, before + 1);
		}
	}
	/* Both answers were asked for, and often. */
	assert_in_range(allowed, all / 20, all * 19 / 20);
	assert_in_range(free, 100, 3900);
}

/* ---- many ---- */

enum { MANY = 20000 };

static void shuffle(size_t *order, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = below(i), other = order[j];
		order[j] = order[i - 1];
		order[i - 1] = other;
	}
}

static void arrange_many(const struct suite *suite)
{
	_cleanup_(rules_destroyp) struct rules *rules = rules_of(suite);
	_cleanup_(freep) size_t *order = calloc(MANY, sizeof(*order));
	assert_non_null(order);
	for (size_t i = 0; i < MANY; i++)
		order[i] = i;
	for (int i = 0; i < 3; i++) {
		_cleanup_(freep) size_t *arranged = NULL, *again = NULL;
		size_t n, n_again;
		shuffle(order, MANY);
		assert_ok(rules_arrange(rules, order, MANY, &arranged, &n));
		assert_int_equal(n, MANY);
		assert_true(rules_allow(rules, arranged, n));
		assert_ok(rules_arrange(rules, arranged, n, &again, &n_again));
		assert_int_equal(n_again, n);
		assert_memory_equal(again, arranged, n * sizeof(*again));
	}
}

/* Groups in groups, and each test after three others. */
static void test_many(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {};
	add_tests(&suite, MANY);
	for (size_t i = 0; i < MANY; i += 100) {
		size_t outer = add_group(&suite, SUITE_NO_GROUP, i, i + 50);
		for (size_t j = i + 50; j < i + 100; j += 10)
			add_group(&suite, outer, j, j + 10);
	}
	for (size_t i = 1; i < MANY; i++) {
		for (int j = 0; j < 3; j++)
			assert_ok(declare_needs(&suite, i, below(i)));
	}
	arrange_many(&suite);
}

/* One chain, one circle, one list as long as the suite. */
static void test_long(void **state)
{
	(void)state;
	_cleanup_(suite_freep) struct suite suite = {}, circle = {}, fan = {};
	_cleanup_(suite_freep) struct suite deep = {};
	add_tests(&suite, MANY);
	add_tests(&circle, MANY);
	add_tests(&fan, MANY);
	add_tests(&deep, MANY);
	for (size_t i = 1; i < MANY; i++) {
		assert_ok(declare_needs(&suite, i, i - 1));
		assert_ok(declare_needs(&circle, i, i - 1));
		assert_ok(declare_cleanup(&fan, i, 0));
		declare_priority(&fan, i, (int64_t)below(MANY));
	}
	assert_ok(declare_after(&circle, 0, MANY - 1));
	size_t group = SUITE_NO_GROUP;
	for (size_t i = 0; i < MANY; i++)
		group = add_group(&deep, group, i, i + 1);
	arrange_many(&suite);
	arrange_many(&circle);
	arrange_many(&fan);
	arrange_many(&deep);

	/* A few of those that a long list has. */
	for (size_t i = 1; i < MANY; i++)
		declare_priority(&fan, i, 0);
	_cleanup_(rules_destroyp) struct rules *plain = rules_of(&fan);
	check_arranged(plain, LIST(0, 7, 0, 9, 7), LIST(7, 9, 7, 0, 0));
	assert_false(rules_allow(plain, LIST(7, 0, 7)));
	assert_true(rules_allow(plain, LIST(7, 8, 0)));
	assert_false(rules_allow_pair(plain, 0, 7));
	assert_true(rules_allow_pair(plain, 7, 8));

	/* All of a chain comes along with its last. */
	_cleanup_(rules_destroyp) struct rules *rules = rules_of(&suite);
	_cleanup_(freep) size_t *arranged = NULL;
	size_t n;
	assert_ok(rules_arrange(rules, LIST(MANY - 1), &arranged, &n));
	assert_int_equal(n, MANY);
	assert_int_equal(arranged[0], 0);
	assert_false(rules_allow_pair(rules, MANY - 1, 0));
	assert_true(rules_allow_pair(rules, 0, MANY - 1));
}

static int reset_seed(void **state)
{
	(void)state;
	seed = 1;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_declared),
		cmocka_unit_test(test_groups_stand_together),
		cmocka_unit_test(test_a_group_of_all_is_free),
		cmocka_unit_test(test_after),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_needs_and_cleanups_come_along),
		cmocka_unit_test(test_pairs_through_groups),
		cmocka_unit_test(test_circles_are_left_out),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_priorities_of_groups),
		cmocka_unit_test_teardown(test_like_the_model, reset_seed),
		cmocka_unit_test_teardown(test_many, reset_seed),
		cmocka_unit_test_teardown(test_long, reset_seed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

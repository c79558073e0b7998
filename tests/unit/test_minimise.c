/*
 * Delta debugging, by its properties: what comes out does it, nothing single can
 * be left out, nothing is asked twice, and not too much is.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/minimise.h"

enum { MOST = 12 };

/* Lists as sets of bits. */
struct question {
	size_t n;
	bool does[1 << MOST]; /* any list */
	bool asked[1 << MOST];
	size_t questions;
	size_t fail_at; /* an error instead of this answer; 0: none */
};

static size_t bits_of(const size_t *places, size_t n)
{
	size_t bits = 0;
	for (size_t i = 0; i < n; i++) {
		assert_true(i == 0 || places[i] > places[i - 1]);
		assert_in_range(places[i], 0, MOST - 1);
		bits |= (size_t)1 << places[i];
	}
	return bits;
}

static struct err *answer(void *data, const size_t *places, size_t n, bool *ret)
{
	struct question *question = data;
	size_t bits = bits_of(places, n);
	assert_in_range(n, 1, question->n - 1);
	assert_false(question->asked[bits]);
	question->asked[bits] = true;
	question->questions++;
	if (question->questions == question->fail_at)
		return err_create(ERR_INTERRUPTED, "enough");
	*ret = question->does[bits];
	return NULL;
}

static unsigned seed = 1;

static size_t below(size_t n)
{
	return (size_t)rand_r(&seed) % n;
}

static void check(struct question *question)
{
	size_t places[MOST], n = 99, all = question->n;
	assert_ok(minimise_list(all, answer, question, places, &n));
	size_t bits = bits_of(places, n);
	assert_in_range(n, MIN(all, (size_t)1), all);
	assert_true(question->does[bits]);
	for (size_t i = 0; n > 1 && i < n; i++)
		assert_false(question->does[bits & ~((size_t)1 << places[i])]);
	assert_in_range(question->questions, 0, all * all + 3 * all);
}

/* What does it: lists with all of some places in them, one or several ways. */
static void fill(struct question *question, const size_t *needed, size_t ways)
{
	memset(question->does, 0, sizeof(question->does));
	memset(question->asked, 0, sizeof(question->asked));
	question->questions = 0;
	for (size_t bits = 0; bits < (size_t)1 << question->n; bits++) {
		for (size_t i = 0; i < ways; i++)
			question->does[bits] |= (bits & needed[i]) == needed[i];
	}
}

static void test_monotone(void **state)
{
	(void)state;
	struct question question = {};
	for (int round = 0; round < 2000; round++) {
		question.n = 1 + below(MOST);
		size_t needed[3], ways = 1 + below(3);
		for (size_t i = 0; i < ways; i++)
			needed[i] = 1 + below(((size_t)1 << question.n) - 1);
		fill(&question, needed, ways);
		check(&question);
	}
}

/* Leaving one out may do it again, and adding one may undo it. */
static void test_any_answers(void **state)
{
	(void)state;
	struct question question = {};
	for (int round = 0; round < 2000; round++) {
		question.n = 1 + below(MOST);
		size_t share = 1 + below(8);
		fill(&question, NULL, 0);
		for (size_t bits = 0; bits < (size_t)1 << question.n; bits++)
			question.does[bits] = !below(share);
		question.does[((size_t)1 << question.n) - 1] = true;
		check(&question);
	}
}

static void test_nothing(void **state)
{
	(void)state;
	size_t place = 7, n = 99;
	assert_ok(minimise_list(0, answer, NULL, &place, &n));
	assert_int_equal(n, 0);
	assert_ok(minimise_list(1, answer, NULL, &place, &n));
	assert_int_equal(n, 1);
	assert_int_equal(place, 0);
}

/* After an error there is the smallest list known so far. */
static void test_errors(void **state)
{
	(void)state;
	struct question question = { .n = MOST };
	const size_t needed = 1 << 2 | 1 << 7 | 1 << 8;
	size_t n_before = MOST;
	for (size_t fail_at = 1;; fail_at++) {
		size_t places[MOST], n = 99;
		fill(&question, &needed, 1);
		question.fail_at = fail_at;
		struct err *err =
			minimise_list(MOST, answer, &question, places, &n);
		assert_true(question.does[bits_of(places, n)]);
		assert_in_range(n, 3, n_before);
		n_before = n;
		if (!err) {
			assert_int_equal(n, 3);
			assert_true(fail_at > 5);
			break;
		}
		err_destroy(err);
	}
}

struct long_list {
	size_t wanted[2];
	size_t n_wanted;
	size_t questions;
};

static struct err *has_wanted(void *data, const size_t *places, size_t n,
			      bool *ret)
{
	struct long_list *list = data;
	size_t found = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < list->n_wanted; j++)
			found += places[i] == list->wanted[j];
	}
	list->questions++;
	*ret = found == list->n_wanted;
	return NULL;
}

/* One place of many takes a question or two a halving; two, not many more. */
static void test_questions(void **state)
{
	(void)state;
	enum { LONG = 1 << 14 };
	_cleanup_(freep) size_t *places = calloc(LONG, sizeof(*places));
	assert_non_null(places);
	for (int round = 0; round < 50; round++) {
		size_t n;
		struct long_list list = {
			.wanted = { below(LONG / 2),
				    LONG / 2 + below(LONG / 2) },
			.n_wanted = 1,
		};
		assert_ok(minimise_list(LONG, has_wanted, &list, places, &n));
		assert_int_equal(n, 1);
		assert_int_equal(places[0], list.wanted[0]);
		assert_in_range(list.questions, 14, 28);
		list.n_wanted = 2;
		list.questions = 0;
		assert_ok(minimise_list(LONG, has_wanted, &list, places, &n));
		assert_int_equal(n, 2);
		assert_int_equal(places[0], list.wanted[0]);
		assert_int_equal(places[1], list.wanted[1]);
		assert_in_range(list.questions, 14, 200);
	}
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
		cmocka_unit_test_teardown(test_monotone, reset_seed),
		cmocka_unit_test_teardown(test_any_answers, reset_seed),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_errors),
		cmocka_unit_test_teardown(test_questions, reset_seed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

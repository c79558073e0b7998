/*
 * Orders in which every ordered pair stands next to each other.
 *
 * Where all orders are allowed, they are the rows of one square (rows.h). Where
 * tests of a group stay together, the units of the outermost level (groups, and
 * tests without one) are the things of one square, and the tests of each group
 * those of another; both go on side by side until the larger is done. Pairs of
 * tests of different groups stand next to each other only by chance then; they
 * are asked one by one afterwards, as far as there is time. So are all pairs of
 * a suite whose tests cannot leave their sequence.
 */
#include "order/order_internal.h"

#include <stdlib.h>

#include "order/rows.h"

/* Orders made and run at once. */
#define BATCH 8

struct cover_unit {
	size_t group; /* SUITE_NO_GROUP: one test */
	struct order_tests tests;
};

struct cover {
	struct order_search *search;
	VEC(struct cover_unit) units;
	size_t rows;
	size_t *scratch, *numbers; /* room for all tests */
};

static void cover_freep(struct cover *cover)
{
	for (size_t i = 0; i < cover->units.n; i++)
		vec_free(&cover->units.data[i].tests);
	vec_free(&cover->units);
	free(cover->scratch);
	free(cover->numbers);
}

/* A test that takes its process with it would end each order. */
static bool takes_part(const struct order_search *search, size_t test)
{
	enum outcome alone = (enum outcome)search->known[test].alone;
	return alone != OUTCOME_TIMEOUT && !order_ends(search, alone);
}

static struct err *cover_add_test(struct cover *cover, struct map_u64 *units,
				  size_t test)
{
	size_t group = search_unit(cover->search, test);
	uint64_t at = cover->units.n;
	if (group == SUITE_NO_GROUP || !map_u64_get(units, group, &at)) {
		TRY(vec_push(&cover->units,
			     (struct cover_unit){ .group = group }));
		if (group != SUITE_NO_GROUP)
			TRY(map_u64_put(units, group, at));
	}
	BUG_ON(at >= cover->units.n || !cover->units.data);
	return vec_push(&cover->units.data[at].tests, test);
}

static struct err *cover_divide_units(struct cover *cover)
{
	struct order_search *search = cover->search;
	_cleanup_(map_u64_freep) struct map_u64 units = MAP_INIT;
	for (size_t i = 0; i < search->n; i++) {
		if (takes_part(search, search->tests[i]))
			TRY(cover_add_test(cover, &units, search->tests[i]));
	}
	cover->rows = rows_count(cover->units.n);
	for (size_t i = 0; i < cover->units.n; i++)
		cover->rows = MAX(cover->rows,
				  rows_count(cover->units.data[i].tests.n));
	cover->scratch = calloc(search->n + 1, sizeof(size_t));
	cover->numbers = calloc(search->n + 1, sizeof(size_t));
	return cover->scratch && cover->numbers ? NULL : err_nomem();
}

static struct err *make_row(struct cover *cover, size_t row,
			    struct order_lists *orders)
{
	struct order_search *search = cover->search;
	_cleanup_(order_tests_freep) struct order_tests order = {};
	size_t n = cover->units.n;
	rows_fill(n, row % rows_count(n), cover->numbers);
	for (size_t i = 0; i < n; i++) {
		const struct order_tests *tests =
			&cover->units.data[cover->numbers[i]].tests;
		rows_fill(tests->n, row % rows_count(tests->n), cover->scratch);
		for (size_t j = 0; j < tests->n; j++)
			TRY(vec_push(&order, tests->data[cover->scratch[j]]));
	}
	struct order_tests list = {};
	TRY(rules_arrange(search->rules, order.data, order.n, &list.data,
			  &list.n));
	list.cap = list.n;
	struct err *err = vec_push(orders, list);
	if (err)
		vec_free(&list);
	return err;
}

static struct err *run_rows(struct cover *cover)
{
	struct order_search *search = cover->search;
	struct order_reach *reach = &search->result->reach;
	reach->rows_all = cover->rows;
	while (reach->rows < cover->rows && !search_late(search)) {
		struct order_lists orders = {};
		struct err *err = NULL;
		for (size_t i = reach->rows;
		     !err && i < cover->rows && orders.n < BATCH; i++)
			err = make_row(cover, i, &orders);
		size_t done = 0;
		if (!err)
			err = orders_run(search, &orders, 0, &done);
		reach->rows += done;
		order_lists_free(&orders);
		TRY(err);
		search->exploring = false;
		err = explain_suspects(search);
		search->exploring = true;
		TRY(err);
	}
	return NULL;
}

/* Tests of different groups, one pair after the other. */
static struct err *ask_across(struct cover *cover)
{
	struct order_search *search = cover->search;
	_cleanup_(asks_freep_deep) struct order_asks asks = {};
	for (size_t i = 0; i < search->n && !search_late(search); i++) {
		size_t first = search->tests[i];
		size_t group = search_unit(search, first);
		if ((group == SUITE_NO_GROUP && !search->fixed) ||
		    !takes_part(search, first))
			continue;
		for (size_t j = 0; j < search->n; j++) {
			size_t second = search->tests[j];
			if (search->fixed ||
			    search_unit(search, second) != group)
				TRY(asks_add(search, &asks, &first, 1, second));
		}
		TRY(asks_judge(search, &asks, NULL));
	}
	return NULL;
}

struct err *cover_pairs(struct order_search *search)
{
	_cleanup_(cover_freep) struct cover cover = { .search = search };
	TRY(cover_divide_units(&cover));
	if (!cover.units.n)
		return NULL;
	if (!search->fixed)
		TRY(run_rows(&cover));
	return ask_across(&cover);
}

/* Orders that cover all pairs: each row has each thing, each pair is a neighbour. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "order/rows.h"

enum { MOST = 65 };

/* How often each ordered pair stands next to each other. */
static void count_pairs(size_t n, unsigned *pairs)
{
	for (size_t row = 0; row < rows_count(n); row++) {
		size_t things[MOST + 1], times[MOST] = {};
		things[n] = 12345;
		rows_fill(n, row, things);
		assert_int_equal(things[n], 12345);
		for (size_t i = 0; i < n; i++) {
			assert_in_range(things[i], 0, n - 1);
			times[things[i]]++;
		}
		for (size_t i = 0; i < n; i++)
			assert_int_equal(times[i], 1);
		for (size_t i = 1; i < n; i++)
			pairs[things[i - 1] * n + things[i]]++;
	}
}

static void test_all_pairs(void **state)
{
	(void)state;
	for (size_t n = 2; n <= MOST; n++) {
		_cleanup_(freep) unsigned *pairs =
			calloc(n * n, sizeof(*pairs));
		assert_non_null(pairs);
		assert_int_equal(rows_count(n), n + n % 2);
		count_pairs(n, pairs);
		for (size_t i = 0; i < n * n; i++) {
			bool same = i / n == i % n;
			unsigned least = same ? 0 : 1;
			unsigned most = same ? 0 : 1 + n % 2;
			assert_in_range(pairs[i], least, most);
		}
	}
}

static void test_few(void **state)
{
	(void)state;
	size_t thing = 7;
	assert_int_equal(rows_count(0), 0);
	assert_int_equal(rows_count(1), 1);
	rows_fill(1, 0, &thing);
	assert_int_equal(thing, 0);
}

/* No two rows begin alike: each thing is once the first of a process. */
static void test_first_things(void **state)
{
	(void)state;
	for (size_t n = 2; n <= MOST; n++) {
		size_t things[MOST], times[MOST] = {};
		for (size_t row = 0; row < rows_count(n); row++) {
			rows_fill(n, row, things);
			times[things[0]]++;
		}
		for (size_t i = 0; i < n; i++)
			assert_in_range(times[i], 1, 1 + n % 2);
	}
}

/* Far out: still each thing once, and no pair of the row twice. */
static void test_many(void **state)
{
	(void)state;
	enum { MANY = 20000 };
	_cleanup_(freep) size_t *things = calloc(MANY, sizeof(*things));
	_cleanup_(freep) bool *steps = calloc(MANY, sizeof(*steps));
	_cleanup_(freep) bool *seen = calloc(MANY, sizeof(*seen));
	assert_true(things && steps && seen);
	rows_fill(MANY, MANY - 1, things);
	for (size_t i = 0; i < MANY; i++) {
		assert_in_range(things[i], 0, MANY - 1);
		assert_false(seen[things[i]]);
		seen[things[i]] = true;
		/* All steps differ, so no two rows share a pair. */
		size_t step = i ? (things[i] + MANY - things[i - 1]) % MANY : 0;
		assert_false(steps[step]);
		steps[step] = true;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_pairs),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_first_things),
		cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

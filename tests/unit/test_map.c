#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

static void test_text_put_get_replace(void **state)
{
	(void)state;
	_cleanup_(map_text_freep) struct map_text map = MAP_INIT;
	uint64_t value = 99;
	assert_false(map_text_get(&map, "a", &value));
	assert_int_equal(value, 99);

	char key[] = "key";
	assert_ok(map_text_put(&map, key, 1));
	memset(key, 'x', 3); /* the map has its own copy */
	assert_true(map_text_get(&map, "key", &value));
	assert_int_equal(value, 1);
	assert_ok(map_text_put(&map, "key", 2));
	assert_true(map_text_get(&map, "key", &value));
	assert_int_equal(value, 2);
	assert_ok(map_text_put(&map, "", 3));
	assert_true(map_text_get(&map, "", &value));
	assert_int_equal(value, 3);
	assert_false(map_text_get(&map, "xxx", &value));
}

static void test_text_many(void **state)
{
	(void)state;
	_cleanup_(map_text_freep) struct map_text map = MAP_INIT;
	char key[32];
	for (uint64_t i = 0; i < 20000; i++) {
		snprintf(key, sizeof(key), "test %zu", (size_t)i);
		assert_ok(map_text_put(&map, key, i));
	}
	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t value;
		snprintf(key, sizeof(key), "test %zu", (size_t)i);
		assert_true(map_text_get(&map, key, &value));
		assert_int_equal(value, i);
	}
}

/* Against an array that holds the same, with many removals in long runs. */
static void test_u64_like_an_array(void **state)
{
	(void)state;
	enum { KEYS = 512 };
	_cleanup_(map_u64_freep) struct map_u64 map = MAP_INIT;
	uint64_t model[KEYS] = {};
	unsigned seed = 1;
	for (uint64_t step = 1; step <= 200000; step++) {
		uint64_t key = (uint64_t)rand_r(&seed) % KEYS;
		if (rand_r(&seed) % 2) {
			assert_ok(map_u64_put(&map, key, step));
			model[key] = step;
		} else {
			assert_int_equal(map_u64_remove(&map, key),
					 model[key] != 0);
			model[key] = 0;
		}
		key = (uint64_t)rand_r(&seed) % KEYS;
		uint64_t value = 0;
		assert_int_equal(map_u64_get(&map, key, &value),
				 model[key] != 0);
		assert_int_equal(value, model[key]);
	}
	size_t n = 0;
	for (size_t i = 0; i < KEYS; i++)
		n += model[i] != 0;
	assert_int_equal(map.map.n, n);
}

static void test_u64_extreme_keys(void **state)
{
	(void)state;
	_cleanup_(map_u64_freep) struct map_u64 map = MAP_INIT;
	uint64_t value;
	assert_false(map_u64_remove(&map, 0));
	assert_ok(map_u64_put(&map, 0, 5));
	assert_ok(map_u64_put(&map, UINT64_MAX, 6));
	assert_true(map_u64_get(&map, 0, &value));
	assert_int_equal(value, 5);
	assert_true(map_u64_get(&map, UINT64_MAX, &value));
	assert_int_equal(value, 6);
	assert_true(map_u64_remove(&map, 0));
	assert_false(map_u64_get(&map, 0, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_put_get_replace),
		cmocka_unit_test(test_text_many),
		cmocka_unit_test(test_u64_like_an_array),
		cmocka_unit_test(test_u64_extreme_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "base/vec.h"

struct pair {
	int a, b;
};
DEFINE_VEC(pairs, struct pair)

static void test_push_keeps_what_is_there(void **state)
{
	(void)state;
	VEC(int) v = VEC_INIT;
	for (int i = 0; i < 1000; i++)
		assert_ok(vec_push(&v, i * 3));
	assert_int_equal(v.n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v.data[i], i * 3);
	vec_free(&v);
	assert_null(v.data);
	assert_int_equal(v.n, 0);
	/* Usable again. */
	assert_ok(vec_push(&v, 1));
	vec_free(&v);
}

static void test_push_of_structs(void **state)
{
	(void)state;
	_cleanup_(pairs_freep) struct pairs v = VEC_INIT;
	assert_ok(vec_push(&v, (struct pair){ .a = 1, .b = 2 }));
	assert_ok(vec_push(&v, (struct pair){ 3, 4 }));
	assert_int_equal(v.data[0].b, 2);
	assert_int_equal(v.data[1].a, 3);
}

static void test_append(void **state)
{
	(void)state;
	VEC(char) v = VEC_INIT;
	assert_ok(vec_append(&v, "abc", 3));
	assert_ok(vec_append(&v, "", 0));
	assert_ok(vec_append(&v, "defghijklmnop", 13));
	assert_int_equal(v.n, 16);
	assert_memory_equal(v.data, "abcdefghijklmnop", 16);
	vec_free(&v);
}

static void test_reserve_does_not_count(void **state)
{
	(void)state;
	VEC(long) v = VEC_INIT;
	assert_ok(vec_reserve(&v, 100));
	assert_int_equal(v.n, 0);
	assert_true(v.cap >= 100);
	const long *data = v.data;
	for (long i = 0; i < 100; i++)
		assert_ok(vec_push(&v, i));
	assert_ptr_equal(v.data, data);
	vec_free(&v);
}

static void test_too_large_leaves_it_alone(void **state)
{
	(void)state;
	VEC(long) v = VEC_INIT;
	assert_ok(vec_push(&v, 7));
	assert_ptr_equal(vec_reserve(&v, SIZE_MAX / 2), err_nomem());
	assert_int_equal(v.n, 1);
	assert_int_equal(v.data[0], 7);
	vec_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_push_keeps_what_is_there),
		cmocka_unit_test(test_push_of_structs),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_reserve_does_not_count),
		cmocka_unit_test(test_too_large_leaves_it_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

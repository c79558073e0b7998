#include "unit.h"

#include <string.h>

#include "base/strv.h"

static void test_strv(void **state _unused_)
{
	_cleanup_(strv_freep) struct strv strv = {};
	char *more[] = { "b", "", NULL }, *none[] = { NULL };
	assert_null(strv.data);
	assert_ok(strv_add(&strv, "a"));
	assert_null(strv.data[1]);
	assert_ok(strv_add_all(&strv, more));
	assert_ok(strv_add_all(&strv, none));
	assert_ok(strv_addf(&strv, "--%s=%d", "times", 3));
	assert_ok(strv_take(&strv, strdup("taken")));
	static const char *const wanted[] = { "a", "b", "", "--times=3",
					      "taken" };
	assert_int_equal(strv.n, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < strv.n; i++)
		assert_string_equal(strv.data[i], wanted[i]);
	/* At all times it is an argument vector, also after a failure. */
	assert_null(strv.data[strv.n]);
	assert_err(strv_take(&strv, NULL), ERR_INTERNAL, "memory");
	assert_int_equal(strv.n, ARRAY_SIZE(wanted));
	assert_null(strv.data[strv.n]);
	strv_free(&strv);
	assert_null(strv.data);
	assert_int_equal(strv.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_strv) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

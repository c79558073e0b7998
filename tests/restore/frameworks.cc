/*
 * The same two tests in each framework (-DUSE_…): where a test is about to begin
 * and how it ends is another matter in each of them.
 *
 * alone: stock
 */
#include <cstdlib>
#include <map>
#include <string>

static int innocent;
static const std::string apples = "apples, a whole box of them";
#if defined(USE_CMOCKA) || defined(USE_CHECK) || defined(USE_CUNIT) || defined(USE_BOOST) || defined(USE_GTEST)
/* The set-up of the group fills it: what was there before that helps nobody. */
static std::map<std::string, int> stock;
static void prepare() { stock[apples] = 3; }
#else
static std::map<std::string, int> stock = { { apples, 3 } };
#endif

static bool pollutes()
{
	innocent++;
	stock.clear();
	for (int i = 0; i < 20; i++)
		stock["something else, not apples " + std::to_string(i)] = i;
	return true;
}

static bool passes()
{
	bool good = stock.size() == 1 && stock.count(apples);
	stock["pears"] = 1;
	stock.clear();
	return good;
}

#if defined(USE_CMOCKA)
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
extern "C" {
#include <cmocka.h>
}
static void pollute(void **) { assert_true(pollutes()); }
static void victim(void **) { assert_true(passes()); }
static int set_up(void **)
{
	prepare();
	return 0;
}
int main()
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(victim), cmocka_unit_test(pollute) };
	return cmocka_run_group_tests(tests, set_up, NULL);
}
#elif defined(USE_CHECK)
#include <check.h>
START_TEST(pollute) { ck_assert(pollutes()); }
END_TEST
START_TEST(victim) { ck_assert(passes()); }
END_TEST
int main()
{
	Suite *suite = suite_create("small");
	TCase *tcase = tcase_create("core");
	tcase_add_unchecked_fixture(tcase, prepare, NULL);
	tcase_add_test(tcase, victim);
	tcase_add_test(tcase, pollute);
	suite_add_tcase(suite, tcase);
	SRunner *runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
#elif defined(USE_CUNIT)
#include <CUnit/Basic.h>
static void pollute() { CU_ASSERT(pollutes()); }
static void victim() { CU_ASSERT(passes()); }
static int set_up()
{
	prepare();
	return 0;
}
int main()
{
	CU_initialize_registry();
	CU_pSuite suite = CU_add_suite("small", set_up, NULL);
	CU_add_test(suite, "victim", victim);
	CU_add_test(suite, "pollute", pollute);
	CU_basic_run_tests();
	int failed = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failed != 0;
}
#elif defined(USE_GLIB)
#include <glib.h>
static void pollute() { g_assert_true(pollutes()); }
static void victim() { g_assert_true(passes()); }
int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/small/victim", victim);
	g_test_add_func("/small/pollute", pollute);
	return g_test_run();
}
#elif defined(USE_CPPUTEST)
#include <CppUTest/CommandLineTestRunner.h>
#include <CppUTest/TestHarness.h>
/* Its leak detection would call what stays a leak. */
TEST_GROUP(small) { void setup() { MemoryLeakWarningPlugin::turnOffNewDeleteOverloads(); } };
TEST(small, victim) { CHECK(passes()); }
TEST(small, pollute) { CHECK(pollutes()); }
int main(int argc, char **argv)
{
	MemoryLeakWarningPlugin::turnOffNewDeleteOverloads();
	return CommandLineTestRunner::RunAllTests(argc, argv);
}
#elif defined(USE_CATCH2)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
TEST_CASE("victim") { CHECK(passes()); }
TEST_CASE("pollute") { CHECK(pollutes()); }
#elif defined(USE_DOCTEST)
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
TEST_CASE("victim") { CHECK(passes()); }
TEST_CASE("pollute") { CHECK(pollutes()); }
#elif defined(USE_BOOST)
#define BOOST_TEST_MODULE small
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
BOOST_AUTO_TEST_SUITE(small, *boost::unit_test::fixture(prepare))
BOOST_AUTO_TEST_CASE(victim) { BOOST_TEST(passes()); }
BOOST_AUTO_TEST_CASE(pollute) { BOOST_TEST(pollutes()); }
BOOST_AUTO_TEST_SUITE_END()
#elif defined(USE_GTEST)
#include <gtest/gtest.h>
class small : public testing::Test {
protected:
	static void SetUpTestSuite() { prepare(); }
};
TEST_F(small, victim) { EXPECT_TRUE(passes()); }
TEST_F(small, pollute) { EXPECT_TRUE(pollutes()); }
int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}
#elif defined(USE_UNITY)
#include "unity.h"
extern "C" void setUp(void) {}
extern "C" void tearDown(void) {}
extern "C" void pollute(void) { TEST_ASSERT_TRUE(pollutes()); }
extern "C" void victim(void) { TEST_ASSERT_TRUE(passes()); }
int main()
{
	UNITY_BEGIN();
	RUN_TEST(victim);
	RUN_TEST(pollute);
	return UNITY_END();
}
#else /* functions: the exit status tells */
static int failures;
extern "C" __attribute__((noinline)) void test_victim(void) { failures += !passes(); }
extern "C" __attribute__((noinline)) void test_pollute(void) { failures += !pollutes(); }
int main()
{
	test_victim();
	test_pollute();
	return failures;
}
#endif

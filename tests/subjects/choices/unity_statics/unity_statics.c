// Results that functions keep in memory of their own, in Unity; and a test that needs the one before it, which fails
// anyhow when it is alone.
//
//@ subject framework=unity lang=c
//@ variant plain uses=unity cflags="-fno-builtin" quick=gcc-O0

#include "unity.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_keeps_text(void)
{
	time_t one = 86400, other = 3456000;
	char *text = asctime(gmtime(&one)); //@ assumption test_keeps_text api=asctime level=full
	gmtime(&other);
	TEST_ASSERT_EQUAL_STRING("Fri Jan  2 00:00:00 1970\n", text);
}

static void test_copies_results(void)
{
	time_t one = 1000000000, other = 1500000000;
	struct tm first = *gmtime(&one), second;
	second = *gmtime(&other);
	TEST_ASSERT_EQUAL_INT(101, first.tm_year);
	TEST_ASSERT_EQUAL_INT(117, second.tm_year);
	TEST_ASSERT_EQUAL_STRING("Fri Jul 14 02:40:00 2017\n", asctime(&second));
}

struct row {
	int key, number;
};
static struct row table[4];
static int n_table;

static int compare_keys(const void *a, const void *b)
{
	return ((const struct row *)a)->key - ((const struct row *)b)->key;
}

static void test_fills_table(void)
{
	static const struct row rows[] = { { 2, 1 }, { 1, 2 }, { 2, 3 }, { 1, 4 } };
	memcpy(table, rows, sizeof(table));
	n_table = 4;
	qsort(table, n_table, sizeof(*table), compare_keys); //@ assumption test_reads_table api=qsort alone=no by=test_fills_table
	TEST_ASSERT_EQUAL_INT(1, table[0].key);
}

static void test_reads_table(void)
{
	TEST_ASSERT_EQUAL_INT(4, n_table);
	TEST_ASSERT_EQUAL_INT(2, table[0].number);
	TEST_ASSERT_EQUAL_INT(4, table[1].number);
}

static void test_reads_keys(void)
{
	TEST_ASSERT_EQUAL_INT(4, n_table);
	TEST_ASSERT_EQUAL_INT(1, table[0].key);
	TEST_ASSERT_EQUAL_INT(2, table[3].key);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_keeps_text);
	RUN_TEST(test_copies_results);
	RUN_TEST(test_fills_table);
	RUN_TEST(test_reads_table);
	RUN_TEST(test_reads_keys);
	return UNITY_END();
}

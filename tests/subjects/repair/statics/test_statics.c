// Static variables and functions of the test's own file, of which another file has some of the same name; a function that is
// defined only after the test needs a declaration.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" quick=gcc-O0,clang-O2

#include <assert.h>

#include "a_decoy.h"

static int level = 1;
static int stock;
void stock_add(int n);
int stock_count(void);

static void test_raises(void)
{
	level += decoy_use();
	assert(level > 1);
}

static void test_is_one(void) //@ mend test_is_one added="level = 1;"
{
	assert(level == 1);
}

static void test_adds(void)
{
	stock_add(2);
	assert(stock_count() >= 2);
}

/* Nothing is in stock. */
static void test_no_stock(void) //@ mend test_no_stock added="stock_empty();" also="static void stock_empty(void);"
{
	assert(stock_count() == 0);
}

static void stock_empty(void)
{
	stock = 0;
}

static void test_empties(void)
{
	stock_empty();
	assert(!stock_count());
}

void stock_add(int n)
{
	stock += n;
}

int stock_count(void)
{
	return stock;
}

int main(void)
{
	test_is_one();
	test_no_stock();
	test_raises();
	test_adds();
	test_empties();
	return 0;
}

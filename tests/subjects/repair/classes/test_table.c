// A brittle test that needs what another sets up, one that fails the second time, and two that cannot be mended.
//
//@ subject framework=functions lang=c
//@ variant plain cflags="-fno-inline" quick=gcc-O0

#include <assert.h>

#include "table.h"

static void test_creates(void)
{
	table_create(4);
	assert(table_rows() == 4);
}

static void test_has_rows(void) //@ mend test_has_rows added="table_create(4);" function=table_create
{
	assert(table_rows() > 3);
}

static void test_draws_first(void) //@ mend test_draws_first function=ticket_restart added="ticket_restart();"
{
	assert(ticket_draw() == 1);
}

static void test_bumps(void) //@ unmended test_bumps says="secret_bump::secret"
{
	assert(secret_bump() == 1);
}

static void test_bumps_hidden(void) //@ unmended test_bumps_hidden says="hidden_reset()"
{
	assert(hidden_bump() == 1);
}

int main(void)
{
	test_creates();
	test_has_rows();
	test_draws_first();
	test_bumps();
	test_bumps_hidden();
	return 0;
}

// Linked first, with the same static names as the file of the tests.
#include "a_decoy.h"

static int level = 3;
static int stock = 1;

static void stock_empty(void)
{
	stock = 0;
	level = 3;
}

int decoy_use(void)
{
	stock_empty();
	stock = 1;
	return level + stock;
}

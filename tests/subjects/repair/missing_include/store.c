#include "store.h"
#include "store_admin.h"

static int values[16];
static int count;

int store_put(int value)
{
	values[count++ % 16] = value;
	return count;
}

int store_count(void)
{
	return count;
}

void store_wipe(void)
{
	for (int i = 0; i < 16; i++)
		values[i] = 0;
	count = 0;
}

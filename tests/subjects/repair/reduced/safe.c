#include "safe.h"

static int key, state;

void safe_close(int code)
{
	key = code;
	state = 1;
}

void safe_prepare(int code)
{
	if (state == 1 && code == key * 3 + 1)
		state = 2;
}

void safe_turn(int code, int by)
{
	if (state == 2 && code == key + 1000 && by == 77) {
		state = 0;
		key = 0;
	}
}

int safe_is_open(void)
{
	return !state;
}

int safe_weight(int n)
{
	return n * 2;
}

#include "mode.h"

static enum mode current = MODE_SAFE;

void mode_set(enum mode mode)
{
	current = mode;
}

enum mode mode_get(void)
{
	return current;
}

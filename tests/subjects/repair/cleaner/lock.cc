#include "lock.h"

static int secret;
static bool closed;

void lock_close(int code)
{
	secret = code;
	closed = true;
}

bool lock_open(int code, int salt)
{
	if (closed && code * 31 + salt == secret * 31 + 17) {
		secret = 0;
		closed = false;
	}
	return !closed;
}

bool lock_is_open()
{
	return !closed;
}

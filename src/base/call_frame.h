/* One function of a call stack, for people. */
#pragma once

struct call_frame {
	char *function; /* NULL: unknown */
	char *file;	/* NULL: unknown */
	unsigned line;
};

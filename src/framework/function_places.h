/*
 * The place of a failure in what a test printed; for function_forks.c. In the test's
 * own process nothing is seen of a child but how it ended and what it printed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FUNCTION_PLACE_FILE_MAX 512
#define FUNCTION_PLACE_TEXT_MAX 256

struct function_place {
	char file[FUNCTION_PLACE_FILE_MAX];
	unsigned line;
	char text[FUNCTION_PLACE_TEXT_MAX]; /* the rest of that line */
	bool assertion;			    /* it is what assert() prints */
};

/*
 * The line that assert() printed; if there is none, the first that names a source
 * file with a line number, as compilers do ("file.c:12: …", "file.c:12").
 */
bool function_place_find(const char *output, struct function_place *ret);

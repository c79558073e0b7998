// A library of the kind of libtap: one function prints all points.
#include "libtap.h"

#include <stdarg.h>
#include <stdio.h>

static int tap_number, tap_failed;

int vok_at_loc(const char *file, int line, int good, const char *format,
	       va_list args)
{
	printf("%sok %d - ", good ? "" : "not ", ++tap_number);
	vprintf(format, args);
	printf("\n");
	if (!good) {
		tap_failed++;
		printf("#   Failed test at %s line %d.\n", file, line);
	}
	fflush(stdout);
	return good;
}

int ok_at_loc(const char *file, int line, int good, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	good = vok_at_loc(file, line, good, format, args);
	va_end(args);
	return good;
}

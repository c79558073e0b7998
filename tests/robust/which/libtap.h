/* A library of the kind of libtap: one function prints all points. */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_planned, tap_number, tap_failed;

__attribute__((noinline, unused)) int vok_at_loc(const char *file, int line, int good, const char *format, va_list args)
{
	printf("%sok %d", good ? "" : "not ", ++tap_number);
	if (format) {
		printf(" - ");
		vprintf(format, args);
	}
	printf("\n");
	if (!good) {
		tap_failed++;
		printf("#   Failed test at %s line %d.\n", file, line);
	}
	return good;
}

__attribute__((noinline, unused)) int ok_at_loc(const char *file, int line, int good, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	good = vok_at_loc(file, line, good, format, args);
	va_end(args);
	return good;
}

__attribute__((noinline, unused)) void tap_plan(int n)
{
	tap_planned = n;
	printf("1..%d\n", n);
}

#define plan(n) tap_plan(n)
#define ok(...) ok_at_loc(__FILE__, __LINE__, __VA_ARGS__, NULL)

// A library of the kind of libtap.
#ifndef LIBTAP_H
#define LIBTAP_H

#include <stdarg.h>
#include <stdio.h>

int vok_at_loc(const char *file, int line, int good, const char *format, va_list args);
int ok_at_loc(const char *file, int line, int good, const char *format, ...);

#define plan(n) printf("1..%d\n", n)
#define ok(good, ...) ok_at_loc(__FILE__, __LINE__, (good), __VA_ARGS__)

#endif

/*
 * Which functions of a program are tests, by their names; for functions.c and
 * its parts.
 *
 * A name is compared as it is in the source: without what the compiler appended
 * to it. Parts of functions have no such name. A C++ function matches by its
 * symbol, by its name ("app::test_add<int>") and by its name with parameters.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "program/program.h"

struct run;

#define FUNCTION_NAME_MAX 1024
/* With more of them the rest is left out. */
#define FUNCTION_NAMES_MAX 200000

/* The symbol as compiled from the source; false: it is no whole function. */
bool function_names_plain(const char *name, char ret[FUNCTION_NAME_MAX]);
/* Is this one given by name, without a wildcard? Then it is a test. */
bool function_names_is_given(const struct run *run, const char *symbol);
/* How many functions of the project's own are named as tests by default. */
size_t function_names_count(const struct program *program);
/*
 * Calls @found for each function of the project that is named as a test; an
 * error ends it.
 */
typedef struct err *function_names_found(void *data, struct run *run,
					 const struct module *module,
					 const struct object_symbol *symbol);
struct err *function_names_each(struct run *run, function_names_found *found,
				void *data, size_t *ret_n) _must_check_;

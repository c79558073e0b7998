/*
 * A test executable and the shared libraries of the project's that it needs:
 * they are searched for as ld.so(8) does, by run paths and LD_LIBRARY_PATH.
 *
 * What it does not see: libraries of the system, and those that a program opens
 * itself (dlopen(3)).
 */
#pragma once

#include "base/strv.h"

/* Adds @program itself, then what they need, each once, breadth first. */
struct err *libraries_find(const char *program, struct strv *ret) _must_check_;
/* As a shell would, by PATH; *@ret NULL: there is none. */
struct err *libraries_find_program(const char *name, char **ret) _must_check_;

/*
 * Which code of the program's own file is not the program: test frameworks are
 * often linked into it or come as headers, and what they rely on is not what a
 * test assumes. Known by symbols, as each adapter tells (framework.own.functions):
 * calls from there are left alone (models/choose_caller.c).
 *
 * What counts as the program: everything else. Its tests, in whatever namespace
 * they are; the standard library's templates in its file, unless they are made
 * for a type of the framework's; its main().
 */
#pragma once

#include "program/program.h"
#include "wire/choices.h"

struct framework_own;

/* Does the symbol's name say that it is the framework's? */
bool callers_is_framework(const struct framework_own *own, const char *symbol);

/*
 * The ranges of such code in the executable: ascending, apart from each other,
 * at most @max of them, as addresses of the file. For once a session.
 */
struct err *callers_find(const struct program *program,
			 const struct framework_own *own,
			 struct wire_callers *ret, size_t max,
			 size_t *ret_n) _must_check_;

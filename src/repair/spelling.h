/*
 * As the author of the file would write it: how its tests check a result, how it
 * names what is in a namespace, and how it includes headers.
 */
#pragma once

#include "repair/source.h"

/*
 * A statement that says so where @call does not give 0: "EXPECT_EQ(chdir(x), 0);",
 * or with the macro that tests without a framework check with.
 */
struct err *spelling_check(const struct source_file *source,
			   const char *framework, const char *call,
			   char **ret) _must_check_;
/* Without a namespace that the file uses, where it writes that name so, too. */
struct err *spelling_names(const struct source_file *source, const char *code,
			   char **ret) _must_check_;
/*
 * '#include <stdlib.h>' as '#include <cstdlib>' in a file that includes the
 * headers of C like that; *@ret stays NULL where it has it in one of the two ways.
 */
struct err *spelling_include(const struct source_file *source, const char *line,
			     char **ret) _must_check_;

#include "program/own.h"

#include "base/str.h"

static bool owns_name(const char *const *entries, const char *name)
{
	for (; entries && *entries; entries++) {
		if (**entries == '*' ? str_ends(name, *entries + 1)
				     : str_starts(name, *entries))
			return true;
	}
	return false;
}

static bool owns_file(const char *const *globs, const char *file)
{
	for (; file && globs && *globs; globs++) {
		if (str_glob(*globs, file))
			return true;
	}
	return false;
}

const struct framework_own *
own_of_variable(const struct framework_own *const *all, const char *name,
		const char *file, const char *unit)
{
	for (; *all; all++) {
		const struct framework_own *own = *all;
		if (owns_name(own->variables, name) ||
		    owns_file(own->files, file) || owns_file(own->files, unit))
			return own;
	}
	return NULL;
}

#include "base/globs.h"

#include <string.h>

#include "base/str.h"

bool globs_include(const char *const *globs, const char *name)
{
	for (size_t i = 0; globs[i]; i++) {
		if (globs[i][0] != '!' && str_glob(globs[i], name))
			return true;
	}
	return false;
}

bool globs_exclude(const char *const *globs, const char *name)
{
	for (size_t i = 0; globs[i]; i++) {
		if (globs[i][0] == '!' && str_glob(globs[i] + 1, name))
			return true;
	}
	return false;
}

bool globs_match(const char *const *globs, const char *name)
{
	return globs_include(globs, name) && !globs_exclude(globs, name);
}

struct err *globs_describe(const char *const *globs, struct str *out)
{
	for (size_t i = 0; globs[i]; i++) {
		TRY(str_append(out, i ? ", '" : "'"));
		TRY(str_append_escaped(out, globs[i], strlen(globs[i])));
		TRY(str_append(out, "'"));
	}
	return NULL;
}

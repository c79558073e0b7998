#include "framework/frameworks.h"

#include <string.h>

#include "native/framework.h"

/*
 * The list, in order of recognition: what is specific before what is general.
 */
#define FRAMEWORKS(_)                                                          \
	_(catch2)                                                              \
	_(doctest)                                                             \
	_(gtest)                                                               \
	_(boost)                                                               \
	_(cpputest)                                                            \
	_(cunit)                                                               \
	_(check)                                                               \
	_(cmocka)                                                              \
	_(unity)                                                               \
	_(glib)                                                                \
	_(functions)

#define DECLARE(name) extern const struct framework framework_##name;
FRAMEWORKS(DECLARE)

#define ENTRY(name) &framework_##name,
const struct framework *const frameworks[] = { FRAMEWORKS(ENTRY) NULL };

const struct framework *framework_by_name(const char *name)
{
	for (size_t i = 0; frameworks[i]; i++) {
		if (!strcmp(frameworks[i]->name, name))
			return frameworks[i];
	}
	return NULL;
}

const char *frameworks_name(size_t i)
{
	return i < ARRAY_SIZE(frameworks) - 1 ? frameworks[i]->name : NULL;
}

const char *frameworks_library(size_t i)
{
	for (size_t j = 0; frameworks[j]; j++) {
		const char *const *names = frameworks[j]->own.libraries;
		for (; names && *names; names++) {
			if (!i--)
				return *names;
		}
	}
	return NULL;
}

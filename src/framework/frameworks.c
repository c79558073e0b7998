#include "framework/frameworks.h"

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
	_(qtest)                                                               \
	_(criterion)                                                           \
	_(cunit)                                                               \
	_(check)                                                               \
	_(cmocka)                                                              \
	_(unity)                                                               \
	_(clar)                                                                \
	_(acutest)                                                             \
	_(munit)                                                               \
	_(tinytest)                                                            \
	_(utest)                                                               \
	_(greatest)                                                            \
	_(glib)                                                                \
	_(functions)                                                           \
	_(tap)

#define DECLARE(name) extern const struct framework framework_##name;
FRAMEWORKS(DECLARE)

#define ENTRY(name) &framework_##name,
const struct framework *const frameworks[] = { FRAMEWORKS(ENTRY) NULL };

static struct err *executable_open(const struct suite_options *options,
				   struct suite **ret)
{
	return native_suite_open(options, frameworks, ret);
}

const char *frameworks_name(size_t i)
{
	return i < ARRAY_SIZE(frameworks) - 1 ? frameworks[i]->name : NULL;
}

const struct framework_own *frameworks_own(size_t i)
{
	return i < ARRAY_SIZE(frameworks) - 1 ? &frameworks[i]->own : NULL;
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

const struct suite_kind executable_suite_kind = {
	.open = executable_open,
	.signal = tracer_signal,
};

#include "native/framework.h"

#include <string.h>

extern const struct framework framework_boost;
extern const struct framework framework_catch2;
extern const struct framework framework_check;
extern const struct framework framework_cmocka;
extern const struct framework framework_cpputest;
extern const struct framework framework_cunit;
extern const struct framework framework_doctest;
extern const struct framework framework_functions;
extern const struct framework framework_glib;
extern const struct framework framework_gtest;
extern const struct framework framework_unity;

/* In order of recognition: what is specific before what is general. */
const struct framework *const frameworks[] = {
	&framework_catch2, &framework_doctest,	 &framework_gtest,
	&framework_boost,  &framework_cpputest,	 &framework_cunit,
	&framework_check,  &framework_cmocka,	 &framework_unity,
	&framework_glib,   &framework_functions, NULL,
};

const struct framework *framework_by_name(const char *name)
{
	for (size_t i = 0; frameworks[i]; i++) {
		if (!strcmp(frameworks[i]->name, name))
			return frameworks[i];
	}
	return NULL;
}

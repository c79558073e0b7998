#include "cli/kinds.h"

#include "framework/frameworks.h"
#include "jvm/kinds.h"
#include "process/kinds.h"

const struct suite_kind *const kind_of_words = &executable_suite_kind;

const char *kinds_framework(size_t i)
{
	size_t n = 0;
	while (n < i && frameworks_name(n))
		n++;
	return frameworks_name(n) ? frameworks_name(n)
				  : java_framework_name(i - n);
}

const struct kind_option kind_options[] = {
	{ "--ctest", &ctest_suite_kind },
	{ "--meson", &meson_suite_kind },
	{ "--commands", &commands_suite_kind },
	{ "--test-classes", &java_suite_kind },
	{ "--maven", &maven_suite_kind },
	{ "--gradle", &gradle_suite_kind },
	{},
};

#include "cli/kinds.h"

#include "framework/frameworks.h"
#include "process/kinds.h"

const struct suite_kind *const kind_of_words = &executable_suite_kind;

const struct kind_option kind_options[] = {
	{ "--ctest", &ctest_suite_kind },
	{ "--meson", &meson_suite_kind },
	{ "--commands", &commands_suite_kind },
	{},
};

/*
 * Any text as polygraph.toml: an error or options, never a crash.
 * clang -fsanitize=fuzzer,address,undefined; seeds: docs' examples.
 */
#include <stddef.h>
#include <stdint.h>

#include "cli/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	_cleanup_(options_destroyp) struct options *options = NULL;
	struct err *err =
		options_create(command_run.groups, command_run.defaults,
			       command_run.values_size, &options);
	if (!err)
		err = config_parse((const char *)data, n, "fuzz.toml",
				   &command_run, options);
	err_destroy(err);
	return 0;
}

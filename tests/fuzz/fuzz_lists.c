/* Lists of tests as ctest and Meson write them, and TAP as tests do. */
#include <stdint.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/tap.h"
#include "process/process_suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct suite_options options = {
		.source = "build",
		.jobs = 1,
	};
	struct suite *suite = NULL;
	log_level_set(LOG_LEVEL_QUIET);

	struct err *err = ctest_suite_parse(&options, text, size, &suite);
	err_destroy(err);
	suite_close(suite);
	suite = NULL;
	err = meson_suite_parse(&options, "/proc/nonexistent", text, size,
				false, &suite);
	err_destroy(err);
	suite_close(suite);

	struct tap tap = {};
	const char *why;
	tap_feed(&tap, text, size);
	tap_finish(&tap);
	return tap_outcome(&tap, &why) == OUTCOME_NONE;
}

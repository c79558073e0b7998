/* Results and limits, on their way to the caller of a run. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "suite/suite.h"

void suite_limit(const struct suite_observer *observer, const char *fmt, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list args;
	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return;
	log_debug(LOG_SUITE, "limit: %s", text);
	if (observer && observer->limit)
		observer->limit(observer->data, text);
}

struct err *suite_result_copy(const struct suite_result *result,
			      struct suite_result *ret)
{
	struct suite_result copy = *result;
	copy.message = result->message ? strdup(result->message) : NULL;
	copy.file = result->file ? strdup(result->file) : NULL;
	copy.output = result->output ? malloc(result->output_n + 1) : NULL;
	if ((result->message && !copy.message) ||
	    (result->file && !copy.file) || (result->output && !copy.output)) {
		suite_result_free(&copy);
		return err_nomem();
	}
	if (copy.output)
		memcpy(copy.output, result->output, result->output_n);
	*ret = copy;
	return NULL;
}

void suite_result_free(struct suite_result *result)
{
	free(result->message);
	free(result->file);
	free(result->output);
	*result = (struct suite_result){};
}

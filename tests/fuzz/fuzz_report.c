/* Any JSON as a report of an earlier run, rendered in the other formats. */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/reread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Without HTML, whose pictures take too long. */
static const struct report_format *const formats[] = {
	&report_text,
	&report_json,
	&report_sarif,
	&report_junit,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static FILE *out;
	const struct report_style style = { .verbose = true };
	struct reread *reread = NULL;
	json_t *json = json_loadb((const char *)data, n, JSON_ALLOW_NUL, NULL);
	if (!out)
		out = fopen("/dev/null", "w");
	if (!json || !out) {
		json_decref(json);
		return 0;
	}
	struct err *err = reread_create(json, &reread);
	for (size_t i = 0; !err && i < sizeof(formats) / sizeof(*formats); i++)
		err = formats[i]->write(reread_report(reread), &style, out);
	err_destroy(err);
	reread_destroy(reread);
	return 0;
}

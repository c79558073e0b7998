/*
 * Variables that were not compared, in a report: how many and why, and which.
 */
#pragma once

#include <jansson.h>

#include "report/report.h"

/* One line; with --verbose one a reason, which names them. */
struct err *left_out_write(const struct report *report,
			   const struct report_style *style,
			   FILE *out) _must_check_;
/* An array of objects, one a reason; NULL: no memory. */
json_t *left_out_make(const struct report *report);

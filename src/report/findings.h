/* Findings as text: a line each, and all that is known of them on demand. */
#pragma once

#include "report/report.h"

struct err *findings_write(const struct report *report,
			   const struct report_style *style,
			   FILE *out) _must_check_;

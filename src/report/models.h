/* What APIs leave open, as a list of all models. */
#pragma once

#include <jansson.h>

#include "report/report.h"

struct err *models_write_text(const struct report *report,
			      const struct report_style *style,
			      FILE *out) _must_check_;
json_t *models_make_one(const struct report_model *model);

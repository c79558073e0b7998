/*
 * The last line of a report of findings, which alone tells a CI log what
 * happened and what to do:
 *
 *	6 problems (2 new) in 20 tests; start with: polygraph replay order-1052f0457994
 *
 * A problem is a cause (report/cause.h). Those of which all findings are known
 * are not new.
 */
#pragma once

#include "base/map.h"
#include "report/cause.h"

/* Nothing of a report that has no findings by its nature, such as a list. */
struct err *verdict_write(const struct report *report,
			  const struct causes *causes,
			  const struct report_style *style,
			  FILE *out) _must_check_;
/* The same, where nothing else of the report is shown. */
struct err *verdict_write_alone(const struct report *report,
				const struct report_style *style,
				FILE *out) _must_check_;
/* Were findings looked for? */
bool verdict_applies(const struct report *report);
/* Tests whose failure in the suite's own order findings explain. */
struct err *verdict_explained(const struct report *report,
			      struct map_text *ret) _must_check_;

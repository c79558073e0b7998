/* Order-dependent tests as text, and how far the search for them went. */
#pragma once

#include "base/str.h"
#include "report/report.h"

/* One sentence: "T fails after A and passes alone; polluted: x". */
struct err *order_append_message(struct str *str, const char *test,
				 const struct report_order *order) _must_check_;
/* @color: of the severity. */
struct err *order_write(const struct report_finding *finding, const char *color,
			const struct report_style *style,
			FILE *out) _must_check_;
/* "2 tests depend on the order: 1 victim, 1 brittle" */
void order_write_summary(const struct report *report, FILE *out);
/* What was tried and what that proves; tests that fail at random. */
struct err *order_write_reach(const struct report *report,
			      const struct report_style *style,
			      FILE *out) _must_check_;

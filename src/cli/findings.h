/*
 * From what a detector found to the records of a report: names, sentences, ids
 * and the commands that show it again.
 */
#pragma once

#include "base/str.h"
#include "base/vec.h"
#include "choices/choices.h"
#include "cli/baseline.h"
#include "order/order.h"
#include "pollution/pollution.h"
#include "report/report.h"

struct findings {
	VEC(struct report_finding) all;
	VEC(struct report_first) firsts;
	struct report_reach reach;     /* of the search for orders */
	struct report_choices choices; /* of that for assumptions */
	VEC(void *) owned;	       /* texts and arrays behind them */
};

struct findings_context {
	const struct suite *suite;
	const char *const *command; /* of the suite; ends with NULL */
	bool suite_option; /* the first word is "--ctest" or the like */
	const struct baseline *baseline;
};

struct err *
findings_of_pollution(struct findings *findings,
		      const struct findings_context *context,
		      const struct pollution *pollution) _must_check_;
/*
 * Findings of pollution that are there already and tell what an order-dependent
 * test is polluted by point to it. @pollution: what is known of it.
 */
struct err *findings_of_order(struct findings *findings,
			      const struct findings_context *context,
			      const struct pollution *pollution,
			      const struct order_result *result) _must_check_;
/* @options: of the search. */
struct err *
findings_of_choices(struct findings *findings,
		    const struct findings_context *context,
		    const struct choices_options *options,
		    const struct choices_result *result) _must_check_;
void findings_free(struct findings *findings);
static inline void findings_freep(struct findings *findings)
{
	findings_free(findings);
}

/* For those that fill it: takes @memory over, also where it fails. */
struct err *findings_own(struct findings *findings, void *memory) _must_check_;
struct err *findings_own_text(struct findings *findings, struct str *text,
			      const char **ret) _must_check_;

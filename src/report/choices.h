/* Tests that assume more than an API promises, and how far the search for them went. */
#pragma once

#include <jansson.h>

#include "base/str.h"
#include "report/report.h"

/* One sentence: "T assumes more than qsort promises: it fails when that does otherwise (…)". */
struct err *
choices_append_message(struct str *str, const char *test,
		       const struct report_choice *choice) _must_check_;
/*
 * The decisive calls, a line each and their stacks below: "call 3 of the test:
 * …". Every line begins with @indent. @all: however many there are.
 */
struct err *choices_append_calls(struct str *str,
				 const struct report_choice *choice,
				 const char *indent, bool all) _must_check_;
/* @color: of the severity. */
struct err *choices_write(const struct report_finding *finding,
			  const char *color, const struct report_style *style,
			  FILE *out) _must_check_;
/* What was found, what was tried, and what that does not say. */
struct err *choices_write_summary(const struct report *report,
				  const struct report_style *style,
				  FILE *out) _must_check_;
struct err *choices_write_models(const struct report *report,
				 const struct report_style *style,
				 FILE *out) _must_check_;

/* Adds the fields of a finding. */
struct err *choices_finding_json(const struct report_choice *choice,
				 json_t *object) _must_check_;
struct err *choices_json(const struct report_choices *choices,
			 json_t **ret) _must_check_;
struct err *choices_model_json(const struct report_model *model,
			       json_t **ret) _must_check_;

/*
 * How findings of one kind are shown, and what is said of the search for them.
 *
 * Formats go through the table of kinds and know none of them. To add a kind:
 * write report/NAME.c with one of these, declare it below, list it in kind.c.
 * Members that are NULL are left out.
 */
#pragma once

#include <jansson.h>

#include "base/str.h"
#include "report/report.h"

struct report_kind {
	const struct finding_kind *kind;
	const char *help;  /* where it is explained, in the documentation */
	const char *title; /* what it is, in a few words */
	/* What it means and what to do about it, for those who see one. */
	const char *about;

	/* ---- text ---- */
	/*
	 * In a block (report/block.h), harmless and without a newline: the
	 * sentence at its head (NULL: the message), and what is behind it.
	 */
	struct err *(*append_head)(const struct finding *finding,
				   struct str *line);
	struct err *(*append_about)(const struct finding *finding,
				    struct str *line);
	/* How the test fails; NULL: it does not. */
	const struct finding_failure *(*failure)(const struct finding *finding);
	bool last; /* shown after the other kinds: it explains them */
	/* With --verbose: a finding in all its details. */
	struct err *(*write_finding)(const struct finding *finding,
				     const struct report_style *style,
				     FILE *out);
	/*
	 * With --verbose: what was found in a line, what was tried, and what
	 * that does not say.
	 */
	struct err *(*write_summary)(const struct report *report,
				     const struct report_style *style,
				     FILE *out);
	/* It says why its test fails in the suite's own order. */
	bool (*explains_failure)(const struct finding *finding);

	/* ---- JSON ---- */
	/* The fields that only this kind has, as an object; NULL: no memory. */
	json_t *(*make_fields)(const struct finding *finding);
	/*
	 * Of the whole report: the search. *@ret stays NULL where there was
	 * none.
	 */
	const char *section;
	struct err *(*make_section)(const struct report *report, json_t **ret);

	/* ---- JUnit ---- */
	/* Lines in front of the command that reproduces it. */
	struct err *(*append_detail)(const struct finding *finding,
				     struct str *str);
};

extern const struct report_kind report_pollution;
extern const struct report_kind report_order;
extern const struct report_kind report_flaky;
extern const struct report_kind report_schedules;
extern const struct report_kind report_choices;
extern const struct report_kind report_repair;
/* How many patches there are, how many of them proven, and what to do next. */
struct err *repair_write_verdict(const struct report *report,
				 const struct report_style *style,
				 FILE *out) _must_check_;

/* In the sequence of the detectors; ends with NULL. */
extern const struct report_kind *const report_kinds[];
const struct report_kind *report_kind_of(const struct finding *finding);

/* One finding as JSON has it: an object. */
struct err *report_finding_json(const struct finding *finding,
				json_t **ret) _must_check_;

/* ---- what kinds share ---- */

#define INDENT "        "
#define RESET "\033[0m"
#define BOLD "\033[1m"
#define DIM "\033[2m"

/* What a list has at most with --verbose. */
#define VERBOSE_MAX ((size_t)100)

/* "high    LINE (REMARKS)"; REMARKS may be empty. */
void kind_write_head(const struct finding *finding, const struct str *line,
		     const struct str *remarks,
		     const struct report_style *style, FILE *out);
const char *kind_color_of(enum finding_severity severity);
/* " this time" where an earlier run found some; else "". */
const char *kind_this_time(const struct report *report,
			   const struct finding_kind *kind);
/* "        fix: …", where there is a hint. */
struct err *kind_write_hint(const struct finding *finding,
			    FILE *out) _must_check_;
/* "        reproduce: …" */
struct err *kind_write_replay(const struct finding *finding,
			      FILE *out) _must_check_;
/* "        LINE"; nothing of an empty one. */
void kind_write_indented(const struct str *line, FILE *out);

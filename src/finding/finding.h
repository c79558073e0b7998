/*
 * A finding: one test that cannot be trusted, and why.
 *
 * Made by a detector, and passed on unchanged to every format, the store, the
 * baseline and replay. What all kinds have in common is here. What only one kind
 * has is its evidence: a struct of its own in a header of its own (leftover.h,
 * dependence.h, assumption.h, flaky.h). The evidence is what the detector worked with
 * while it searched, so nothing is copied from one record to the next.
 *
 * Invariants:
 *  1. The id depends on the defect alone: the same defect has the same id in
 *     every run (finding_id() is the only place that makes one).
 *  2. Tests are numbers of @tests, which outlives the finding.
 *  3. Texts of the tested program are its bytes as they are; the message is one
 *     line, escaped.
 *
 * To add a kind:
 *  1. finding/NAME.h and NAME.c: the evidence, its struct finding_kind, and
 *     NAME_of();
 *  2. a file of the detector that makes findings (as order/order_finding.c
 *     does);
 *  3. a file in report/ that shows them, listed in report/kind.c (report/kind.h
 *     says what it needs);
 *  4. a file in replay/ that reproduces them, listed in replay/kinds.c.
 *
 * What it does not do: decide what a finding means for the exit status, or show
 * it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/outcome.h"
#include "base/vec.h"
#include "suite/roster.h"

enum finding_severity { FINDING_LOW, FINDING_MEDIUM, FINDING_HIGH };

struct finding_kind {
	const char *name;    /* as reports have it: "pollution" */
	const char *prefix;  /* of ids */
	const char *command; /* the detector's that finds most of them */
	void (*free)(void *evidence); /* frees its parts and itself */
};

struct finding {
	const struct finding_kind *kind;
	const char *detector; /* the command that found it; NULL: its kind's */
	const struct roster *tests;
	size_t test;
	enum finding_severity severity;
	char *id;
	/* Where to look in the source; the evidence's text. NULL: unknown. */
	const char *file;
	unsigned line;
	char *message; /* one sentence */
	char *replay;  /* the command that reproduces it */
	char *hint;    /* what to do about it, one sentence; NULL: not known */
	/* Why the user's own runs do not show it, one sentence; NULL: they may. */
	char *isolation;
	bool known; /* the baseline lists it, or it is suppressed */
	bool suppressed;
	/*
	 * Of an earlier run, where this one did not come to it: as JSON has it,
	 * and what reproduces it. NULL: it was found now. It has no evidence.
	 */
	char *earlier;
	char *record;
	bool rendered; /* it is of the very report that is shown again */
	void *evidence;
};

void finding_free(struct finding *finding);
/*
 * Moves the evidence out of the detector's record; what it points to is the
 * finding's then.
 */
struct err *finding_take_evidence(struct finding *finding, void *record,
				  size_t size) _must_check_;

DEFINE_VEC(findings, struct finding)
void findings_free(struct findings *findings);
/* Moves all of them to the end of @to. */
struct err *findings_move(struct findings *to,
			  struct findings *from) _must_check_;

static inline const char *finding_test(const struct finding *finding)
{
	return roster_name(finding->tests, finding->test);
}

static inline const char *finding_detector(const struct finding *finding)
{
	return finding->detector ? finding->detector : finding->kind->command;
}

/*
 * It shows only where tests share a process that a framework (suite_test.isolated_by)
 * gives each its own: of low severity.
 */
struct err *finding_isolate(struct finding *finding,
			    const char *framework) _must_check_;

const char *finding_severity_name(enum finding_severity severity);

/*
 * What a detector needs to know of the run to make findings: the names of the
 * tests, and the words that open the suite again, as a shell takes them: " --
 * ./unit_tests", " --ctest build".
 */
struct finding_run {
	const struct roster *tests;
	const char *suite;
};

/*
 * @subject: what tells defects of one test apart; NULL: there is one at most.
 * @variant tells subjects of the same name apart.
 */
struct err *finding_id(const struct finding_kind *kind, unsigned variant,
		       const char *test, const char *subject,
		       char **ret) _must_check_;
/* "polygraph replay ID", for those that replay from the store. */
struct err *finding_replay(const char *id, char **ret) _must_check_;

/* How a test failed. */
struct finding_failure {
	enum outcome outcome;
	char *message; /* raw bytes; NULL: unknown */
	char *file;    /* of the failed assertion; NULL: unknown */
	unsigned line;
};
void finding_failure_free(struct finding_failure *failure);

/*
 * Findings by cause: one block of text, one card, one failed check for each.
 *
 * A cause is what has to be mended. Mostly it is a polluted root: a variable, a
 * file, a piece of process state. Some tests leave it changed, some are misled
 * by it, and others read it and could be. A call whose result a test takes for
 * granted is a cause as well. Where no root is known, it is the test that leaves
 * something, or the flaky test itself. What a test leaves beside such a root, and
 * only the test that is misled reads, is the same cause: a table and its size.
 *
 *	_cleanup_(causes_free) struct causes causes = {};
 *	TRY(causes_group(report, &causes));
 *
 * Invariants:
 *  1. Each finding of the report is in exactly one cause. Findings of two suites
 *     of a whole build are in two.
 *  2. Causes are in the order in which to mend them: by severity; new ones
 *     before known ones; those that mislead more tests first; then as found.
 *  3. Findings of a cause: by severity; tests that are misled before those that
 *     leave something; then as found.
 *  4. Tests are numbers of the report's roster, each once in a list, in the
 *     sequence of the suite.
 *
 * It reads findings as JSON has them, so those of earlier runs, of which nothing
 * else is left, are grouped with the others.
 */
#pragma once

#include "report/report.h"

enum cause_type {
	CAUSE_MEMORY,
	CAUSE_FILE,
	CAUSE_PROCESS,
	CAUSE_CALL, /* an API that promises less than is assumed */
	CAUSE_LEFT, /* something that a test leaves; what is not known */
	CAUSE_TEST, /* the test itself */
	CAUSE_TYPES,
};

DEFINE_VEC(cause_tests, size_t)
DEFINE_VEC(cause_findings, const struct finding *)

struct cause {
	enum cause_type type;
	/*
	 * The root; "qsort at x.c:12"; a test's name. Bytes as JSON has them, so
	 * UTF-8, and not harmless.
	 */
	char *name;
	enum finding_severity severity;	      /* the highest */
	size_t fresh;			      /* findings that are not known */
	enum finding_severity fresh_severity; /* the highest of these */
	struct cause_findings findings;
	struct cause_tests leave;    /* tests that leave it changed */
	struct cause_tests misled;   /* that fail, or pass, because of it */
	struct cause_tests could;    /* that read it, and are not misled */
	struct cause_tests cleaners; /* that undo it */
};

struct causes {
	struct cause *data;
	size_t n;
	size_t cap;
};

struct err *causes_group(const struct report *report,
			 struct causes *ret) _must_check_;
void causes_free(struct causes *causes);

/* "memory", "file", "process", "call", "left", "test" */
const char *cause_type_name(enum cause_type type);

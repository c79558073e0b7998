/*
 * One cause as a block of text: what fails, how, through what, and what to do.
 *
 *	high    T fails after A (passes alone)  [order-0123456789ab]
 *	        x_test.cc:55: count()
 *	            Which is: 1
 *	          0
 *	        A leaves registry.count: 0 → 1 · could mislead: B, C and 3 more
 *	        fix: restore it in TearDown of A: set registry.count back to 0
 *
 * Invariants:
 *  1. At most BLOCK_LINES lines of BLOCK_COLUMNS columns.
 *  2. Lines of an assertion's message stay lines; where there are too many, its
 *     heading goes first ("Expected equality of these values:"), then lines that
 *     continue the one above are joined to it, then the last ones go.
 *  3. Nothing that comes from the tested program is written as it is.
 */
#pragma once

#include "base/str.h"
#include "report/cause.h"

#define BLOCK_LINES 6
#define BLOCK_COLUMNS 100

/* The finding that a block begins with: the first that is new; else the first. */
const struct finding *block_lead(const struct cause *cause);
struct err *block_write(const struct cause *cause, const struct report *report,
			const struct report_style *style,
			FILE *out) _must_check_;

/*
 * The lines of an assertion's message after @place ("x.c:12: "), @max at most;
 * each ends with a newline and begins with @indent.
 */
struct err *block_append_message(struct str *str, const char *place,
				 const char *message, const char *indent,
				 size_t max) _must_check_;

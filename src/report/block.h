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
 *  1. On a terminal lines are wrapped between words at its width; elsewhere each
 *     is as long as it is. No sentence and no name is cut.
 *  2. Lines of an assertion's message stay lines. A terminal gets
 *     BLOCK_MESSAGE_LINES of them: where there are more, the heading goes first
 *     ("Expected equality of these values:"), then lines that continue the one
 *     above are joined to it, then the last ones go.
 *  3. Nothing that comes from the tested program is written as it is.
 */
#pragma once

#include "base/str.h"
#include "report/cause.h"

#define BLOCK_MESSAGE_LINES 4

/* The finding that a block begins with: the first that is new; else the first. */
const struct finding *block_lead(const struct cause *cause);
struct err *block_write(const struct cause *cause, const struct report *report,
			const struct report_style *style,
			FILE *out) _must_check_;

/*
 * The history as a page for the browser, in the look of HTML reports: one file
 * without a script. Texts are data of tested programs, and are made harmless
 * here.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/strv.h"

/* An answer: for each row as many cells as there are columns. */
struct history_table {
	struct strv columns;
	struct strv cells;
	bool more; /* rows were left out */
};

struct history_page {
	/* One row: runs, first, last, suites, flaky, failing. */
	struct history_table totals;
	struct history_table flaky, failing, fresh;
	/* Rows have a day, suite, tests, failed and findings, in any order. */
	struct history_table trend;
	const char *branch; /* that fresh is of; NULL: none was examined */
	const char *base;
};

struct err *history_page_write(const struct history_page *page,
			       FILE *out) _must_check_;

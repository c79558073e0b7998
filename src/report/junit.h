/* JUnit XML of several suites in one file, each as the file of one alone. */
#pragma once

#include "report/report.h"

struct junit_counts {
	size_t tests, failures, errors, skipped;
};

struct junit_suite {
	const char *name;
	const struct report *report; /* NULL: there is none */
	double seconds;
	const char *message; /* why it could not be run; NULL: it could */
};

/* @seconds < 0: not known. */
void junit_begin(const struct junit_counts *counts, double seconds, FILE *out);
/* Adds it to @counts; @out NULL: and no more. */
struct err *junit_put_suite(const struct junit_suite *suite,
			    struct junit_counts *counts,
			    FILE *out) _must_check_;
void junit_end(FILE *out);

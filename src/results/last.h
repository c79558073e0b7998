/*
 * The report of the last run, whole, for `polygraph report`: a file next to the
 * stored findings, as JSON.
 *
 * It is written where there is a folder of results already, and replaced by each
 * run, so it is never another run's than the findings are of.
 */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "results/results.h"

struct report;

#define LAST_FILE "report.json"
#define LAST_BYTES_MAX ((size_t)1 << 30)

/* No command fails because of it. */
void last_report_put(const struct report *report);
/* ERR_USAGE where there is none. */
struct err *last_report_get(json_t **ret) _must_check_;
/* The same of a file that the user names. */
struct err *last_report_read(const char *path, json_t **ret) _must_check_;

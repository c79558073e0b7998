/* check --dry-run: which suites and tests of a build would be checked. */
#pragma once

#include "base/err.h"

struct document;
struct outputs;
struct parts;

/* Adds the parts to the document, and writes it as text or JSON. */
struct err *dry_run_write(const struct parts *parts, struct document *document,
			  const struct outputs *outputs) _must_check_;

/*
 * A report out of the JSON that was written of it, to be shown in another
 * format.
 *
 * The file may come from anywhere. What is not there or of another type counts
 * as unknown; an error is what makes it no such report at all.
 */
#pragma once

#include <jansson.h>

#include "report/report.h"

struct reread;

/* Takes @document over, also where it fails. */
struct err *reread_create(json_t *document, struct reread **ret) _must_check_;
void reread_destroy(struct reread *reread); /* NULL is fine */
static inline void reread_destroyp(struct reread **reread)
{
	reread_destroy(*reread);
}

const struct report *reread_report(const struct reread *reread);
/* Those of the report, whose caller may mark them and move them elsewhere. */
struct findings *reread_findings(struct reread *reread);

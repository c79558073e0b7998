/*
 * Findings that somebody decided to live with for a while:
 *
 *	[[suppress]]
 *	test = "Cache.*"                 # or id = "order-…"; kind = "pollution"
 *	reason = "the cache goes away with the new store"
 *	expires = "2027-03-31"
 *
 * Reason and end are required. After the last day it has no effect any more, and
 * that is said.
 */
#pragma once

#include "cli/option.h"
#include "finding/finding.h"

struct suppression {
	char *id, *test, *kind; /* NULL: any; test is a glob */
	char *reason;
	char *expires; /* YYYY-MM-DD */
	bool expired;
};

DEFINE_VEC(suppressions, struct suppression)

/* @today: YYYY-MM-DD; NULL: it is asked for. */
struct err *suppressions_read(const struct option_list *texts,
			      const char *today,
			      struct suppressions *ret) _must_check_;
void suppressions_free(struct suppressions *suppressions);
/* Findings that one of them fits are known. */
void suppressions_mark(const struct suppressions *suppressions,
		       struct findings *findings);

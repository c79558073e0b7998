/*
 * A `check` of a suite that was built again: only tests that are made of other
 * code or data than at the last check (program/makeup.h) are looked at, and the
 * rest is known. Tests of an order finding are looked at together, if one of
 * them changed.
 *
 * What is not looked at then is said: whether a changed test disturbs unchanged
 * ones. --fresh looks at all.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "cli/select.h"
#include "cli/test_digests.h"

struct detection;
struct earlier_finding;

struct rebuilt {
	struct test_digests digests;
	bool read;	      /* digests are known */
	bool *looked_at;      /* by test; NULL: all of them, as usual */
	struct indexes asked; /* the order without that */
	json_t *report;	      /* of the last check */
	char line[160];	      /* what was not looked at; "": all was */
};

/* Before the search: leaves in the order what is to be looked at. */
struct err *rebuilt_load(struct detection *detection) _must_check_;
/* After the search: adds how the other tests ended, and says so. */
struct err *rebuilt_add(struct detection *detection) _must_check_;
/* For the next check. */
struct err *rebuilt_keep(struct detection *detection) _must_check_;
void rebuilt_free(struct rebuilt *rebuilt);

/*
 * Does a finding of the last check still hold: are all of its tests as they were?
 * Then it is one of the suite as it is now.
 */
struct err *rebuilt_holds(const struct detection *detection,
			  struct earlier_finding *finding,
			  const char *files_digest, bool *ret) _must_check_;
/* Which tests were asked for. */
const struct indexes *rebuilt_asked(const struct detection *detection);
/* Was the test asked for? */
bool rebuilt_was_asked(const struct detection *detection, size_t test);

/*
 * Evidence of a flaky test: in one and the same order, from the same state and
 * the same files, it passed and it failed. Whichever detector comes across it,
 * it is one finding with one id.
 *
 * How often it failed is chance, and so is how it ended in the suite's own
 * order. All else is the same in every run: the test, the shortest order known
 * in which it goes both ways, and how many times that order was run.
 */
#pragma once

#include "finding/dependence.h"

struct flaky {
	size_t test;
	size_t runs, failures;	  /* of identical runs of @order */
	struct order_tests order; /* the test stands last */
	struct finding_failure failure;
};

DEFINE_VEC(flakies, struct flaky)

extern const struct finding_kind flaky_kind;
/* NULL: of another kind. */
static inline const struct flaky *flaky_of(const struct finding *finding)
{
	return finding->kind == &flaky_kind ? finding->evidence : NULL;
}

void flaky_free(struct flaky *flaky);
/*
 * Identical runs that are made of a test that may be flaky: enough that one in
 * three would nearly always show. @ns: what one run takes, about; of a slow
 * test there are fewer.
 */
size_t flaky_runs(uint64_t ns);

/* @detector: the command that found it. Takes @flaky over where it succeeds. */
struct err *flaky_finding_make(const struct finding_run *run,
			       const char *detector, struct flaky *flaky,
			       struct finding *ret) _must_check_;

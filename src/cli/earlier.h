/*
 * Findings of earlier runs of a detector on the same suite, in the same state.
 * One goes away only where it was tried again and did not happen. What this run
 * did not come to, because its budget was shorter or it was interrupted, is
 * still reported, with the words of the run that found it.
 *
 * Invariants:
 *  1. A finding of another state of the suite (cli/holds.h) is not believed.
 *  2. What was not asked for this time (tests, levels, kinds of state) is kept
 *     in the store and not reported.
 */
#pragma once

#include <jansson.h>

#include "finding/dependence.h"
#include "replay/record.h"
#include "store/store.h"

struct detection;
struct results_look;

struct earlier_finding {
	struct store_finding kept;
	struct record record;
	json_t *json;
	const struct finding_kind *kind;
	size_t test;
	bool left_out; /* not asked for this time */
	bool tried;    /* again: if there was no finding, there is none */
};

DEFINE_VEC(earlier_list, struct earlier_finding)

/*
 * Those of the detector whose turn it is, into @ret. What cannot be read is left
 * out.
 */
struct err *earlier_load(const struct detection *detection,
			 struct earlier_list *ret) _must_check_;
void earlier_free(struct earlier_list *list);
/*
 * After the detector's own findings were added: adds those that are still to be
 * reported, and tells the store what else stays.
 */
struct err *earlier_add(struct detection *detection,
			struct earlier_list *list) _must_check_;

/*
 * For a replay, which is about one finding: the others go, and it is shown as it is
 * kept.
 */
struct err *earlier_look(struct detection *detection,
			 const struct results_look *look) _must_check_;

/* Its text under @key; "": it has none. */
const char *earlier_text(const struct earlier_finding *finding,
			 const char *key);
/* The tests of a trial's order but for the last, as numbers. */
struct err *earlier_prefix(const struct detection *detection,
			   const struct trial *trial,
			   struct order_tests *ret) _must_check_;

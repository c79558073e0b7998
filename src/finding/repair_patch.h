/*
 * Evidence of a repair: the patch that makes an order-dependent test reliable,
 * or takes a leftover away.
 */
#pragma once

#include "finding/finding.h"

struct repair_patch {
	size_t test;
	char *finding;	/* id of what is fixed */
	char *patch;	/* unified diff; NULL: none was found */
	char *folder;	/* where to apply it; NULL: the working directory */
	char *function; /* that is called; NULL: none in particular */
	char *path;	/* file that is changed, and what it becomes */
	char *content;
	bool proven; /* built, and run in each order that matters */
	bool exact;  /* it puts the polluted state back */
	bool gone;   /* there is none: it does not fail any more */
	size_t tried;
	uint64_t search_ns, prove_ns;
	uint64_t try_ns; /* of the search, in candidates */
};

extern const struct finding_kind repair_patch_kind;
/* NULL: of another kind. */
static inline const struct repair_patch *
repair_patch_of(const struct finding *finding)
{
	return finding->kind == &repair_patch_kind ? finding->evidence : NULL;
}

void repair_patch_free(struct repair_patch *patch);
static inline void repair_patch_freep(struct repair_patch *patch)
{
	repair_patch_free(patch);
}

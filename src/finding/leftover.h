/*
 * Evidence of pollution: what a test leaves changed under one root, and what
 * that means.
 *
 * The change has at least one path, the first of which the message names.
 */
#pragma once

#include "finding/finding.h"
#include "suite/change.h"

enum leftover_effect {
	EFFECT_UNKNOWN,
	EFFECT_SETTLES,	    /* a second run leaves it alone */
	EFFECT_ACCUMULATES, /* a second run changes it again */
};

struct leftover {
	size_t test;
	struct change change;
	enum leftover_effect effect;
	VEC(size_t) readers; /* other tests that were seen to read it */
	bool readers_known;
	bool varies; /* from process to process */
	bool lazy;   /* whichever test comes first makes the same change */
	size_t same; /* readers that were seen to, alone */
};

/* A root that a test initialised for the first time: not a finding. */
struct first_use {
	size_t test;
	char *root;
};

extern const struct finding_kind leftover_kind;
/* NULL: of another kind. */
static inline const struct leftover *leftover_of(const struct finding *finding)
{
	return finding->kind == &leftover_kind ? finding->evidence : NULL;
}

void leftover_free(struct leftover *leftover);
const char *leftover_effect_name(enum leftover_effect effect);
const char *leftover_where_name(enum change_where where);

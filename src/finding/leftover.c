#include "finding/leftover.h"

#include <stdlib.h>

void leftover_free(struct leftover *leftover)
{
	change_free(&leftover->change);
	vec_free(&leftover->readers);
}

static void leftover_destroy(void *evidence)
{
	leftover_free(evidence);
	free(evidence);
}

const struct finding_kind leftover_kind = {
	.name = "pollution",
	.prefix = "pollution",
	.command = "pollution",
	.free = leftover_destroy,
};

const char *leftover_effect_name(enum leftover_effect effect)
{
	static const char *const names[] = { "unknown", "settles",
					     "accumulates" };
	return names[effect];
}

const char *leftover_where_name(enum change_where where)
{
	static const char *const names[] = { "memory", "file", "process" };
	return names[where];
}

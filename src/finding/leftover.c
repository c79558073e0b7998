#include "finding/leftover.h"

#include <stdlib.h>

#include "base/str.h"

void leftover_free(struct leftover *leftover)
{
	change_free(&leftover->change);
	vec_free(&leftover->readers);
}

/*
 * A generator's numbers go up and down; its position may begin again. One number
 * that differs from run to run went up or down by chance.
 */
static bool kinds_only_count(const struct leftover *leftover, unsigned kinds)
{
	const struct change *change = &leftover->change;
	bool drawn = leftover->varies && change->n + change->more == 1;
	return kinds && !(kinds & VALUE_OTHER) &&
	       (kinds & VALUE_MIXED || drawn || !(kinds & VALUE_SHRANK));
}

bool leftover_only_counts_again(const struct leftover *leftover)
{
	/* What was reset and is set again is a flag. */
	return leftover->effect == EFFECT_ACCUMULATES && !leftover->came_back &&
	       kinds_only_count(leftover, leftover->again);
}

bool leftover_may_count(const struct leftover *leftover)
{
	return kinds_only_count(leftover, leftover->change.kinds);
}

bool leftover_counts(const struct leftover *leftover)
{
	const struct change *change = &leftover->change;
	/* What a second run leaves alone does not count on: a setting, say. */
	return leftover_only_counts_again(leftover) &&
	       leftover_may_count(leftover) &&
	       (leftover->again & VALUE_MIXED ||
		leftover->again_places >= change->n + change->more);
}

bool leftover_is_time(const struct leftover *leftover)
{
	return leftover->change.kinds == VALUE_TIME &&
	       !(leftover->again & ~(unsigned)VALUE_TIME);
}

bool leftover_is_dead_pointer(const struct leftover *leftover)
{
	return leftover->change.where == CHANGE_MEMORY &&
	       leftover->change.weight == WEIGHT_HIGH;
}

/* A dead pointer may lead to what happens to be right. */
struct err *leftover_prove(struct finding *finding)
{
	struct leftover *leftover = finding->evidence;
	_cleanup_(str_freep) struct str message = STR_INIT;
	BUG_ON(finding->kind != &leftover_kind || !leftover);
	if (leftover_is_dead_pointer(leftover))
		return NULL;
	leftover->proven = true;
	finding->severity = FINDING_LOW;
	if (leftover->lazy || leftover->harmless)
		return NULL; /* it says so already */
	TRY(str_appendf(&message, "%s; %s after it", finding->message,
			leftover->readers.n == 1 ? "it passes"
						 : "all of them pass"));
	free(finding->message);
	finding->message = str_take(&message);
	return finding->message ? NULL : err_nomem();
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

#include "finding/leftover.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/str.h"

void leftover_trace_free(struct leftover_trace *trace)
{
	for (size_t i = 0; i < trace->n; i++) {
		free(trace->stack[i].function);
		free(trace->stack[i].file);
	}
	free(trace->stack);
	*trace = (struct leftover_trace){};
}

struct err *leftover_trace_fill(struct leftover_trace *trace, size_t test,
				const struct call_frame *stack, size_t n)
{
	struct leftover_trace filled = {
		.test = test,
		.stack = calloc(n + 1, sizeof(*stack)),
	};
	struct err *err = NULL;
	if (!filled.stack)
		return err_nomem();
	for (; !err && filled.n < n; filled.n++) {
		struct call_frame *frame = &filled.stack[filled.n];
		frame->line = stack[filled.n].line;
		err = str_copy(stack[filled.n].function, &frame->function);
		if (!err)
			err = str_copy(stack[filled.n].file, &frame->file);
	}
	if (err) {
		leftover_trace_free(&filled);
		return err;
	}
	leftover_trace_free(trace);
	*trace = filled;
	return NULL;
}

void leftover_free(struct leftover *leftover)
{
	change_free(&leftover->change);
	leftover_trace_free(&leftover->written);
	for (size_t i = 0; i < leftover->reads.n; i++)
		leftover_trace_free(&leftover->reads.data[i]);
	vec_free(&leftover->reads);
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

bool leftover_is_filled_by_readers(const struct leftover *leftover)
{
	return leftover->change.where == CHANGE_MEMORY && leftover->readers.n &&
	       leftover->readers_known && !leftover->read_plainly &&
	       (leftover->alike || !leftover->judged);
}

bool leftover_is_minor(const struct leftover *leftover)
{
	return leftover->lazy || leftover->keyed || leftover->harmless ||
	       leftover->restores;
}

bool leftover_is_dead_pointer(const struct leftover *leftover)
{
	return leftover->change.where == CHANGE_MEMORY &&
	       leftover->change.weight == WEIGHT_HIGH;
}

static enum finding_severity
leftover_proven_severity(const struct leftover *leftover)
{
	return leftover->change.weight == WEIGHT_HIGH ? FINDING_MEDIUM
						      : FINDING_LOW;
}

bool leftover_wants_proof(const struct finding *finding)
{
	const struct leftover *leftover = finding->evidence;
	BUG_ON(finding->kind != &leftover_kind || !leftover);
	return leftover->readers.n && leftover->readers_known &&
	       !leftover->followed && !leftover_is_dead_pointer(leftover) &&
	       finding->severity > leftover_proven_severity(leftover);
}

static struct err *leftover_prove(struct finding *finding)
{
	struct leftover *leftover = finding->evidence;
	_cleanup_(str_freep) struct str message = STR_INIT;
	leftover->proven = true;
	finding->severity = leftover_proven_severity(leftover);
	TRY(str_appendf(&message, "%s; %s after it", finding->message,
			leftover->readers.n == 1 ? "it passes"
						 : "all of them pass"));
	free(finding->message);
	finding->message = str_take(&message);
	return finding->message ? NULL : err_nomem();
}

struct err *leftovers_prove(struct findings *findings, const struct strv *ids)
{
	_cleanup_(map_text_freep) struct map_text proven = MAP_INIT;
	for (size_t i = 0; i < ids->n; i++)
		TRY(map_text_put(&proven, ids->data[i], 1));
	for (size_t i = 0; i < findings->n; i++) {
		struct finding *finding = &findings->data[i];
		uint64_t is_proven;
		if (leftover_of(finding) &&
		    map_text_get(&proven, finding->id, &is_proven))
			TRY(leftover_prove(finding));
	}
	return NULL;
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

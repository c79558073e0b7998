/* Who shares what: nodes that stand for themselves through another edge. */
#include <stdlib.h>

#include "base/macro.h"
#include "state/compare_internal.h"

/* Nodes up to which all of them are looked at. */
#define NODES_MAX ((size_t)2 << 20)

struct sharing {
	struct compare *compare;
	struct map_u64 targets; /* starts of nodes: 1 wanted, 2 claimed */
	struct node node;
	uint32_t id;
	size_t wanted;
};

static struct err *want(struct sharing *sharing, uint64_t start)
{
	const struct nodes *nodes = &sharing->compare->state->nodes;
	uint32_t id = nodes_find(nodes, start);
	uint64_t known;
	if (id == NODE_NONE || map_u64_get(&sharing->targets, start, &known))
		return NULL;
	if (compare_holds(sharing->compare, id))
		return map_u64_put(&sharing->targets, start, 2);
	/* It was never seen to have another edge. */
	if (!(nodes_get(nodes, id)->flags & NODE_SHARED))
		return NULL;
	sharing->wanted++;
	return map_u64_put(&sharing->targets, start, 1);
}

static bool is_claimed(const struct sharing *sharing, uint64_t start)
{
	uint64_t known;
	return map_u64_get(&sharing->targets, start, &known) && known == 2;
}

/* An edge that did not change leads to a node that is asked about. */
static struct err *claim(struct sharing *sharing, uint64_t offset)
{
	struct compare *compare = sharing->compare;
	uint64_t at = sharing->node.start + offset;
	uint64_t was = walk_word(compare->before, at);
	uint64_t is = walk_word(compare->after, at);
	struct view_block block;
	uint64_t known;
	if (was != is || !was || !compare->after->block ||
	    !compare->after->block(compare->after->data, is, &block) ||
	    !map_u64_get(&sharing->targets, block.start, &known) ||
	    known != 1 || !compare_holds(compare, sharing->id))
		return NULL;
	uint32_t id = nodes_find(&compare->state->nodes, block.start);
	if (id == NODE_NONE || id == sharing->id)
		return NULL;
	/* From now on this is how it is reached. */
	struct node *node = nodes_get(&compare->state->nodes, id);
	if (!(node->flags & NODE_PART) &&
	    !walk_leads_to(compare->state, sharing->id, id)) {
		node->parent = sharing->id;
		node->edge = offset;
		node->root = sharing->node.root;
	}
	return map_u64_put(&sharing->targets, block.start, 2);
}

static struct err *claim_leaf(void *data, const struct leaf *leaf)
{
	struct sharing *sharing = data;
	uint64_t n = leaf->kind == LEAF_POINTER ? 8 : leaf->size;
	/* Of containers the words themselves: smart pointers, buffers. */
	for (uint64_t i = 0; i + 8 <= n; i += 8)
		TRY(claim(sharing, leaf->offset + i));
	return NULL;
}

static struct err *claim_all(struct sharing *sharing)
{
	struct state *state = sharing->compare->state;
	size_t n = state->nodes.all.n;
	if (!sharing->wanted || n > NODES_MAX)
		return NULL;
	for (uint32_t id = 0; id < n; id++) {
		sharing->node = *nodes_get(&state->nodes, id);
		sharing->id = id;
		if (sharing->node.flags & (NODE_DEAD | NODE_ORPHAN))
			continue;
		TRY(walk_leaves(state, sharing->compare->after, &sharing->node,
				0, UINT64_MAX, LAYOUT_POINTERS, claim_leaf,
				sharing));
	}
	return NULL;
}

/*
 * A pointer went from one object to another of equal value. That is no change,
 * unless one of the two is held by somebody else: then who shares what has
 * changed.
 */
static struct err *judge_contested(struct sharing *sharing)
{
	struct compare *compare = sharing->compare;
	for (size_t i = 0; i < compare->contested.n; i++) {
		const struct contested one = compare->contested.data[i];
		struct told told = { .leaf = &one.leaf };
		if (is_claimed(sharing, one.before))
			told.after = "a copy: what shared it before does not "
				     "any more";
		else if (is_claimed(sharing, one.after))
			told.after = "an equal object that others share";
		else
			continue;
		TRY(compare_report(compare, one.place, &told));
	}
	return NULL;
}

/* Written nodes that stand for themselves after all. */
static struct err *judge_doubtful(struct sharing *sharing)
{
	struct compare *compare = sharing->compare;
	for (size_t i = 0; i < compare->doubtful.n; i++) {
		const struct touched one = compare->doubtful.data[i].touched;
		const struct node *node =
			nodes_get(&compare->state->nodes, one.node);
		uint64_t known;
		if (!is_claimed(sharing, node->start) ||
		    map_u64_get(&compare->backward, node->start, &known))
			continue;
		TRY(compare_written(compare, &one));
	}
	return NULL;
}

static struct err *find_sharing(struct sharing *sharing)
{
	struct compare *compare = sharing->compare;
	for (size_t i = 0; i < compare->contested.n; i++) {
		TRY(want(sharing, compare->contested.data[i].before));
		TRY(want(sharing, compare->contested.data[i].after));
	}
	for (size_t i = 0; i < compare->doubtful.n; i++) {
		uint32_t id = compare->doubtful.data[i].touched.node;
		const struct node *node = nodes_get(&compare->state->nodes, id);
		if (!(node->flags & NODE_DEAD))
			TRY(want(sharing, node->start));
	}
	TRY(claim_all(sharing));
	TRY(judge_contested(sharing));
	return judge_doubtful(sharing);
}

struct err *compare_sharing(struct compare *compare)
{
	if ((!compare->contested.n && !compare->doubtful.n) || !compare->ret)
		return NULL;
	struct sharing sharing = { .compare = compare };
	struct err *err = find_sharing(&sharing);
	map_u64_free(&sharing.targets);
	return err;
}

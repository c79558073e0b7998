/* What is shared: nodes that stand for themselves through another edge. */
#include <stdlib.h>

#include "base/macro.h"
#include "state/compare_internal.h"

/* Up to this many nodes, all of them are examined. */
#define NODES_MAX ((size_t)2 << 20)
#define ARRAY_MAX ((uint64_t)4 << 20)

/* Looks at all nodes for one comparison. */
#define CLAIMS_MAX 3
#define ROUNDS_MAX 64
/* How many parents are checked for one that was reported. */
#define HOPS_MAX 32

struct sharing {
	struct compare *compare;
	struct map_u64 targets; /* starts of nodes: 1 wanted, 2 claimed */
	struct node node;
	uint32_t id;
	uint64_t from, to; /* bytes of the node that are examined */
	size_t wanted;	   /* that are not claimed */
};

static struct err *sharing_add_wanted(struct sharing *sharing, uint64_t start)
{
	const struct nodes *nodes = &sharing->compare->state->nodes;
	uint32_t id = nodes_find(nodes, start);
	uint64_t known;
	if (id == NODE_NONE)
		return NULL;
	/* What is below it holds again when it does. */
	id = compare_break(sharing->compare, id);
	if (id == NODE_NONE)
		return NULL;
	const struct node *node = nodes_get(nodes, id);
	/* Dead, or never seen to have another edge. */
	if (node->flags & NODE_DEAD || !(node->flags & NODE_SHARED) ||
	    map_u64_get(&sharing->targets, node->start, &known))
		return NULL;
	sharing->wanted++;
	return map_u64_put(&sharing->targets, node->start, 1);
}

static bool is_claimed(struct sharing *sharing, uint64_t start)
{
	uint32_t id = nodes_find(&sharing->compare->state->nodes, start);
	uint64_t known;
	if (map_u64_get(&sharing->targets, start, &known) && known == 2)
		return true;
	return id != NODE_NONE && compare_holds(sharing->compare, id);
}

/* An edge that did not change leads to a node that is asked about. */
static struct err *sharing_claim_edge(struct sharing *sharing, uint64_t offset)
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
		nodes_get(&compare->state->nodes, sharing->id)->leads = true;
		node->edge = offset;
		node->root = sharing->node.root;
		node->flags &= (uint8_t)~NODE_ORPHAN;
		compare_forget_ways(compare);
	}
	sharing->wanted--;
	return map_u64_put(&sharing->targets, block.start, 2);
}

static struct err *claim_leaf(void *data, const struct leaf *leaf)
{
	struct sharing *sharing = data;
	uint64_t at = leaf->offset;
	uint64_t end = at + (leaf->kind == LEAF_POINTER ? 8 : leaf->size);
	if (leaf->kind == LEAF_WORDS) {
		if (sharing->from > at)
			at += (sharing->from - at) & ~(uint64_t)7;
		end = MIN(end, sharing->to);
	}
	/* Of containers the words themselves: smart pointers, buffers. */
	for (; at + 8 <= end && sharing->wanted; at += 8)
		TRY(sharing_claim_edge(sharing, at));
	return NULL;
}

static struct err *claim_range(void *data, uint64_t from, uint64_t to)
{
	struct sharing *sharing = data;
	struct compare *compare = sharing->compare;
	sharing->from = from;
	sharing->to = to;
	return walk_leaves(compare->state, compare->after, &sharing->node, from,
			   to, LAYOUT_POINTERS, claim_leaf, sharing);
}

static struct err *claim_all(struct sharing *sharing)
{
	struct state *state = sharing->compare->state;
	size_t n = state->nodes.all.n;
	if (!sharing->wanted || n > NODES_MAX)
		return NULL;
	for (uint32_t id = 0; id < n && sharing->wanted; id++) {
		sharing->node = *nodes_get(&state->nodes, id);
		sharing->id = id;
		/* Large arrays would take longer than all the rest. */
		if (sharing->node.flags & (NODE_DEAD | NODE_ORPHAN) ||
		    sharing->node.size > ARRAY_MAX)
			continue;
		TRY(walk_ranges(sharing->compare->after, &sharing->node, 0,
				UINT64_MAX, claim_range, sharing));
	}
	return NULL;
}

/* What a copy leads to was copied with it: it is enough to report one. */
static bool was_told(const struct compare *compare, uint32_t id)
{
	const struct compare_place *place = &compare->places.data[id];
	for (unsigned hop = 0; hop < HOPS_MAX; hop++) {
		uint64_t edge = place->shape.edge, known;
		if (place->parent == PLACE_NONE)
			return false;
		place = &compare->places.data[place->parent];
		if (map_u64_get(&compare->seen, (place->shape.start + edge) * 8,
				&known))
			return true;
	}
	return false;
}

/*
 * A pointer went from one object to another of equal value. That does not count
 * as a change, unless something else points to one of the two: then what is
 * shared has changed.
 */
static struct err *judge_contested(struct sharing *sharing)
{
	struct compare *compare = sharing->compare;
	for (size_t i = 0; i < compare->contested.n; i++) {
		const struct contested one = compare->contested.data[i];
		struct difference_report told = { .leaf = &one.leaf };
		if (is_claimed(sharing, one.before))
			told.after = "a copy: what shared it before no longer "
				     "does";
		else if (is_claimed(sharing, one.after))
			told.after = "an equal object that others share";
		else
			continue;
		if (!was_told(compare, one.place))
			TRY(compare_report(compare, one.place, &told));
	}
	return NULL;
}

/* Written nodes that stand for themselves after all. */
static struct err *judge_doubtful(struct sharing *sharing, bool *ret_some)
{
	struct compare *compare = sharing->compare;
	*ret_some = false;
	for (size_t i = 0; i < compare->doubtful.n; i++) {
		struct doubtful *doubtful = &compare->doubtful.data[i];
		const struct touched one = doubtful->touched;
		const struct node *node =
			nodes_get(&compare->state->nodes, one.node);
		uint64_t known;
		if (doubtful->told || node->flags & NODE_DEAD ||
		    !is_claimed(sharing, node->start))
			continue;
		doubtful->told = *ret_some = true;
		/* Is it another now? Then it was compared as that. */
		if (map_u64_get(&compare->backward, node->start, &known) &&
		    known != node->start)
			continue;
		TRY(compare_again(compare, &one));
	}
	return compare_queue(compare);
}

/* What was reported of one may settle others. */
static struct err *judge_all_doubtful(struct sharing *sharing)
{
	bool some = true;
	for (unsigned round = 0; some && round < ROUNDS_MAX; round++)
		TRY(judge_doubtful(sharing, &some));
	return NULL;
}

/* Did what leads to a node not do so before either? */
static bool is_stale(const struct compare *compare, const struct node *node)
{
	if (node->flags & NODE_DEAD || node->parent == NODE_NONE)
		return false;
	if (node->flags & NODE_ORPHAN)
		return true;
	if (node->flags & (NODE_PART | NODE_BARE))
		return false;
	const struct node *parent =
		nodes_get(&compare->state->nodes, node->parent);
	uint64_t was = walk_word(compare->before, parent->start + node->edge);
	return was < node->start || was > node->start + node->size;
}

/* Written, and not known how it is reached since an earlier test. */
static void find_stale(const struct sharing *sharing)
{
	struct compare *compare = sharing->compare;
	for (size_t i = 0; i < compare->doubtful.n; i++) {
		const struct doubtful *one = &compare->doubtful.data[i];
		if (one->told || compare->stale)
			continue;
		uint32_t id = compare_break(compare, one->touched.node);
		compare->stale =
			id != NODE_NONE &&
			is_stale(compare,
				 nodes_get(&compare->state->nodes, id));
	}
}

static struct err *want_all(struct sharing *sharing)
{
	struct compare *compare = sharing->compare;
	sharing->wanted = 0;
	for (size_t i = 0; i < compare->contested.n; i++) {
		TRY(sharing_add_wanted(sharing,
				       compare->contested.data[i].before));
		TRY(sharing_add_wanted(sharing,
				       compare->contested.data[i].after));
	}
	for (size_t i = 0; i < compare->doubtful.n; i++) {
		uint32_t id = compare->doubtful.data[i].touched.node;
		const struct node *node = nodes_get(&compare->state->nodes, id);
		if (!(node->flags & NODE_DEAD))
			TRY(sharing_add_wanted(sharing, node->start));
	}
	return NULL;
}

static struct err *find_sharing(struct sharing *sharing)
{
	/* A way may break at several of its nodes. */
	for (unsigned round = 0; round < CLAIMS_MAX; round++) {
		TRY(want_all(sharing));
		if (!sharing->wanted)
			break;
		TRY(claim_all(sharing));
	}
	TRY(judge_contested(sharing));
	TRY(judge_all_doubtful(sharing));
	find_stale(sharing);
	return NULL;
}

struct err *compare_sharing(struct compare *compare)
{
	if ((!compare->contested.n && !compare->doubtful.n) || !compare->ret)
		return NULL;
	struct sharing sharing = { .compare = compare };
	compare->late = true;
	compare_forget_ways(compare);
	struct err *err = find_sharing(&sharing);
	map_u64_free(&sharing.targets);
	return err;
}

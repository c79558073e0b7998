/* What was written between two moments, and what stands for itself. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "state/compare_internal.h"

/* Edges of a way that are always checked. */
#define HOPS_MAX 64

struct page_visit {
	struct compare *compare;
	const struct state_page *page;
};

/*
 * realloc() in place leaves a block's bytes alone. It shows in the allocator's
 * header in front of it or, within what the allocator gave, in what is written
 * there afterwards.
 */
static bool may_have_grown(const struct node *node,
			   const struct state_page *page)
{
	uint64_t in = node->start - page->address;
	uint64_t end = in + node->size;
	if (node->kind != NODE_BLOCK)
		return false;
	if (in >= 8 && in < VIEW_PAGE &&
	    memcmp(page->before + in - 8, page->after + in - 8, 8) != 0)
		return true;
	return end < VIEW_PAGE &&
	       memcmp(page->before + end, page->after + end,
		      MIN(VIEW_PAGE - end, (uint64_t)ALLOCATOR_SLACK)) != 0;
}

static struct err *touch_node(void *data, uint32_t id)
{
	struct page_visit *visit = data;
	const struct state_page *page = visit->page;
	const struct node *node = nodes_get(&visit->compare->state->nodes, id);
	uint64_t from = MAX(node->start, page->address);
	uint64_t to = MIN(node->start + node->size, page->address + VIEW_PAGE);
	if (from >= to)
		return NULL;
	struct touched touched = { id, from - node->start, to - node->start };
	if (page->before && page->after) {
		const uint8_t *was = page->before + (from - page->address);
		const uint8_t *is = page->after + (from - page->address);
		if (!memcmp(was, is, to - from)) {
			touched.from = touched.to = node->typed;
			return may_have_grown(node, page)
				       ? vec_push(&visit->compare->touched,
						  touched)
				       : NULL;
		}
		size_t n = to - from, first = 0;
		while (first < n && was[first] == is[first])
			first++;
		while (n > first && was[n - 1] == is[n - 1])
			n--;
		touched.from += first;
		touched.to = from - node->start + n;
	}
	return vec_push(&visit->compare->touched, touched);
}

/* Its memory was given back, or belongs to another block now. */
static bool node_lives(const struct compare *compare, const struct node *node)
{
	struct view_block block;
	if (node->kind == NODE_ROOT)
		return true;
	if (node->kind == NODE_LOOSE)
		return compare->after->page(compare->after->data,
					    node->start &
						    ~(uint64_t)(VIEW_PAGE - 1));
	return compare->after->block &&
	       compare->after->block(compare->after->data, node->start,
				     &block) &&
	       block.start == node->start;
}

/*
 * Freed, and what led to it still does. If the program has also changed the
 * pointer, that is reported at the pointer.
 */
static struct err *compare_gone(struct compare *compare, uint32_t id)
{
	struct state *state = compare->state;
	struct node node = *nodes_get(&state->nodes, id);
	nodes_kill(&state->nodes, id);
	/* A word that may be no pointer need not lead anywhere. */
	if (node.parent == NODE_NONE || node.doubt ||
	    node.flags & (NODE_PART | NODE_ORPHAN))
		return NULL;
	const struct node *parent = nodes_get(&state->nodes, node.parent);
	if (!compare_holds(compare, node.parent))
		return NULL;
	uint64_t was = walk_word(compare->before, parent->start + node.edge);
	uint64_t is = walk_word(compare->after, parent->start + node.edge);
	if (was != is || is < node.start || is > node.start + node.size)
		return NULL;
	uint32_t place;
	TRY(compare_identity(compare, node.parent, &place));
	struct leaf leaf = { LEAF_POINTER, node.type, node.edge, 8, 0, 0 };
	struct target target = { .kind = TARGET_DANGLING };
	return compare_report_pointer(compare, place, &leaf, &target);
}

/* Most containers have all their pointers in this many bytes. */
#define HEAD 64

static bool same_head(const struct compare *compare, const struct node *parent,
		      uint64_t offset)
{
	uint8_t was[HEAD], is[HEAD];
	size_t n = MIN(parent->size - MIN(parent->size, offset), sizeof(was));
	return view_read(compare->before, parent->start + offset, was, n) &&
	       view_read(compare->after, parent->start + offset, is, n) &&
	       !memcmp(was, is, n);
}

/* Is the edge to @node the same before and after? */
static bool edge_stays(const struct compare *compare, const struct node *node,
		       const struct node *parent)
{
	uint64_t known;
	if (node->flags & NODE_PART) {
		/*
		 * One that was not compared was not written to, or is yet to
		 * be: it may be inside another.
		 */
		if (!map_u64_get(&compare->containers,
				 parent->start + node->edge, &known))
			return compare->late ||
			       same_head(compare, parent, node->edge);
		return map_u64_get(&compare->forward, node->start, &known) &&
		       known == node->start;
	}
	/* A smart pointer's own words are somewhere in it. */
	for (uint64_t at = node->edge;
	     at < node->edge + 32 && at + 8 <= parent->size; at += 8) {
		uint64_t was = walk_word(compare->before, parent->start + at);
		uint64_t is = walk_word(compare->after, parent->start + at);
		if (was == is && is >= node->start &&
		    is <= node->start + node->size)
			return true;
		if (!(node->flags & NODE_BARE))
			break;
	}
	return false;
}

/* Has anything that led to a node changed at all? */
static bool edges_changed(const struct compare *compare)
{
	struct view_block block;
	for (size_t i = 0; i < compare->touched.n; i++) {
		const struct touched *touched = &compare->touched.data[i];
		const struct node *node =
			nodes_get(&compare->state->nodes, touched->node);
		if (node->flags & NODE_DEAD || !node_lives(compare, node) ||
		    node->flags & NODE_PART)
			return true;
		if (!compare->before->block)
			return true;
		for (uint64_t at = touched->from & ~(uint64_t)7;
		     at < touched->to; at += 8) {
			uint64_t was =
				walk_word(compare->before, node->start + at);
			if (was >= VIEW_PAGE && !(was >> 47) &&
			    was != walk_word(compare->after,
					     node->start + at) &&
			    compare->before->block(compare->before->data, was,
						   &block))
				return true;
		}
	}
	return false;
}

/* Of this node alone: does what leads to it hold? */
enum hold { HOLDS_ROOT, HOLDS_PARENT, HOLDS_NOT };

static enum hold node_holds(const struct compare *compare,
			    const struct node *node)
{
	uint64_t known;
	if (node->kind == NODE_ROOT)
		return HOLDS_ROOT;
	if (node->flags & NODE_DEAD || !node_lives(compare, node))
		return HOLDS_NOT;
	if (map_u64_get(&compare->adoptions, node->start, &known))
		return HOLDS_ROOT;
	if (node->flags & NODE_ORPHAN)
		return HOLDS_NOT;
	const struct node *parent =
		nodes_get(&compare->state->nodes, node->parent);
	return edge_stays(compare, node, parent) ? HOLDS_PARENT : HOLDS_NOT;
}

/* Forgets what was learnt about long ways. */
void compare_forget_ways(struct compare *compare)
{
	map_u64_free(&compare->ways);
}

/* One in this many nodes of a long way is remembered with what was found. */
#define WAY_STEP 64

static uint32_t break_far(struct compare *compare, uint32_t id)
{
	const struct nodes *nodes = &compare->state->nodes;
	uint32_t found = NODE_NONE;
	size_t marks = compare->marks.n = 0;
	uint64_t known;
	for (size_t hop = 0; hop < nodes->all.n; hop++) {
		if (id % WAY_STEP == 0) {
			if (map_u64_get(&compare->ways, id, &known)) {
				found = (uint32_t)known;
				break;
			}
			err_ignore(vec_push(&compare->marks, id));
		}
		const struct node *node = nodes_get(nodes, id);
		enum hold hold = node_holds(compare, node);
		if (hold == HOLDS_NOT)
			found = id;
		if (hold != HOLDS_PARENT)
			break;
		id = node->parent;
	}
	for (; marks < compare->marks.n; marks++)
		err_ignore(map_u64_put(&compare->ways,
				       compare->marks.data[marks], found));
	return found;
}

uint32_t compare_break(struct compare *compare, uint32_t id)
{
	const struct nodes *nodes = &compare->state->nodes;
	for (unsigned hop = 0; hop < HOPS_MAX; hop++) {
		const struct node *node = nodes_get(nodes, id);
		switch (node_holds(compare, node)) {
		case HOLDS_ROOT:
			return NODE_NONE;
		case HOLDS_NOT:
			return id;
		case HOLDS_PARENT:
			break;
		}
		id = node->parent;
	}
	/* Long ways are expensive, and usually only values change. */
	if (!compare->edges_known) {
		compare->edges_changed = edges_changed(compare);
		compare->edges_known = true;
	}
	return compare->edges_changed ? break_far(compare, id) : NODE_NONE;
}

bool compare_holds(struct compare *compare, uint32_t id)
{
	return compare_break(compare, id) == NODE_NONE;
}

struct err *compare_adopt(struct compare *compare, uint32_t id, uint32_t place,
			  uint64_t edge)
{
	const struct node *node = nodes_get(&compare->state->nodes, id);
	if (node->kind == NODE_ROOT || compare_holds(compare, id))
		return NULL;
	struct adopted adopted = { node->start, place, edge };
	compare_forget_ways(compare);
	TRY(map_u64_put(&compare->adoptions, node->start, compare->adopted.n));
	return vec_push(&compare->adopted, adopted);
}

struct find_leaf {
	uint64_t offset;
	struct leaf leaf;
	bool found;
};

static struct err *find_container(void *data, const struct leaf *leaf)
{
	struct find_leaf *find = data;
	if (leaf->kind == LEAF_CONTAINER && leaf->offset == find->offset) {
		find->leaf = *leaf;
		find->found = true;
	}
	return NULL;
}

/*
 * The container that a part belongs to, as a leaf of its parent; false: it is
 * gone.
 */
static struct err *compare_owner(struct compare *compare,
				 const struct node *part, struct leaf *ret,
				 bool *ret_found)
{
	struct state *state = compare->state;
	struct find_leaf find = { .offset = part->edge };
	*ret_found = false;
	if (part->parent == NODE_NONE)
		return NULL;
	struct node parent = *nodes_get(&state->nodes, part->parent);
	if (parent.flags & NODE_DEAD)
		return NULL;
	TRY(walk_leaves(state, compare->after, &parent, part->edge,
			part->edge + 1, 0, find_container, &find));
	*ret = find.leaf;
	*ret_found = find.found;
	return NULL;
}

/*
 * A part was written: outside its elements that is its container's structure,
 * and some containers are compared as a whole anyway.
 */
static struct err *compare_structure(struct compare *compare,
				     const struct touched *touched)
{
	struct state *state = compare->state;
	struct node part = *nodes_get(&state->nodes, touched->node);
	struct leaf leaf;
	bool found, different;
	if (part.flags & NODE_DEAD || !(part.flags & NODE_PART) ||
	    !compare_holds(compare, part.parent))
		return NULL;
	TRY(compare_owner(compare, &part, &leaf, &found));
	if (!found)
		return NULL; /* inside another container's own object */
	enum container_shape shape = container_recipe_shape(
		container_recipe(state->containers, leaf.type));
	bool whole = shape == CONTAINER_TEXT || shape == CONTAINER_BITS;
	if (!whole && touched->from >= part.typed &&
	    touched->to <= walk_typed_end(state, &part))
		return NULL;
	uint32_t place;
	TRY(compare_identity(compare, part.parent, &place));
	return compare_container(compare, place, &leaf, &different);
}

/* Runs of bytes that differ, with at most a few equal ones between them. */
static struct err *compare_runs(struct compare *compare, uint32_t place,
				const struct node *node,
				const struct touched *touched)
{
	uint64_t at = touched->from;
	const uint64_t gap = 64;
	while (at < touched->to) {
		uint8_t was[256], is[256];
		size_t n = MIN(touched->to - at, sizeof(was));
		if (!view_read(compare->before, node->start + at, was, n) ||
		    !view_read(compare->after, node->start + at, is, n)) {
			return compare_range(compare, place, node, at,
					     touched->to);
		}
		size_t i = 0;
		while (i < n && was[i] == is[i])
			i++;
		if (i == n) {
			at += n;
			continue;
		}
		size_t end = i + 1, equal = 0;
		for (size_t j = i + 1; j < n && equal < gap; j++) {
			equal = was[j] == is[j] ? equal + 1 : 0;
			if (!equal)
				end = j + 1;
		}
		TRY(compare_range(compare, place, node, at + i, at + end));
		at += end;
	}
	return NULL;
}

/* Where the part of a node that is in use ends; its size: all of it is. */
static uint64_t used_end(const struct compare *compare, const struct node *node)
{
	const struct state *state = compare->state;
	if (node->kind != NODE_BLOCK || node->parent == NODE_NONE ||
	    node->flags & (NODE_PART | NODE_BARE | NODE_TEXT))
		return node->size;
	const struct node *owner = nodes_get(&state->nodes, node->parent);
	bool typed = node->type != TYPE_UNKNOWN;
	uint64_t room = typed ? node->count : node->size;
	uint64_t used = extent_used(compare, owner, owner->start, node->edge,
				    node->type, room);
	if (used >= room || room <= 1)
		return node->size;
	return typed ? node->typed +
			       used * type_get(state->pool, node->type)->size
		     : used;
}

struct err *compare_written(struct compare *compare,
			    const struct touched *touched)
{
	struct node node = *nodes_get(&compare->state->nodes, touched->node);
	struct touched used = *touched;
	uint32_t place;
	bool text;
	used.to = MIN(used.to, used_end(compare, &node));
	if (used.from >= used.to)
		return NULL;
	TRY(compare_identity(compare, touched->node, &place));
	TRY(compare_untyped_text(compare, place, &text));
	return text ? NULL : compare_runs(compare, place, &node, &used);
}

/* Written to, and stands for itself. */
static struct err *compare_part(struct compare *compare,
				const struct touched *touched)
{
	struct state *state = compare->state;
	const struct node node = *nodes_get(&state->nodes, touched->node);
	if (node.flags & NODE_PART) {
		const struct node *parent =
			nodes_get(&state->nodes, node.parent);
		struct leaf leaf;
		uint64_t known;
		bool found;
		if (map_u64_get(&compare->containers, parent->start + node.edge,
				&known) &&
		    known == CONTAINER_DIFFERENT)
			return NULL;
		TRY(compare_owner(compare, &node, &leaf, &found));
		enum container_shape shape =
			found ? container_recipe_shape(container_recipe(
					state->containers, leaf.type))
			      : CONTAINER_SPECIAL;
		if (shape == CONTAINER_TEXT || shape == CONTAINER_BITS)
			return NULL; /* was compared as a whole */
		bool other = true;
		if (shape == CONTAINER_BLOCKS)
			TRY(compare_stayed(compare, touched, &leaf, &other));
		if (!other)
			return NULL;
	}
	return compare_written(compare, touched);
}

struct err *compare_again(struct compare *compare,
			  const struct touched *touched)
{
	TRY(compare_structure(compare, touched));
	return compare_part(compare, touched);
}

static struct err *compare_touched(struct compare *compare,
				   const struct touched *touched, bool parts)
{
	struct state *state = compare->state;
	struct node node = *nodes_get(&state->nodes, touched->node);
	if (node.flags & NODE_DEAD || !!(node.flags & NODE_PART) != parts)
		return NULL;
	if (!node_lives(compare, &node))
		return compare_gone(compare, touched->node);
	if (!compare_holds(compare, touched->node)) {
		/* Reached in another way now, or not at all. */
		struct doubtful doubtful = { *touched, false };
		return vec_push(&compare->doubtful, doubtful);
	}
	return compare_part(compare, touched);
}

/* ---- the index ---- */

/* What was adopted is reached that way from now on. */
static void settle_adopted(const struct compare *compare)
{
	struct nodes *nodes = &compare->state->nodes;
	for (size_t i = 0; i < compare->adopted.n; i++) {
		const struct adopted *one = &compare->adopted.data[i];
		const struct node *shape =
			&compare->places.data[one->place].shape;
		uint32_t id = nodes_find(nodes, one->start);
		struct target target;
		walk_target(compare->state, compare->after, TYPE_UNKNOWN,
			    shape->start, &target);
		uint32_t parent = nodes_find(nodes, target.start);
		if (id == NODE_NONE || parent == NODE_NONE ||
		    walk_leads_to(compare->state, parent, id))
			continue;
		struct node *node = nodes_get(nodes, id);
		node->parent = parent;
		nodes_get(nodes, parent)->leads = true;
		node->edge = shape->start + one->edge - target.start;
		node->root = nodes_get(nodes, parent)->root;
		node->flags &= (uint8_t)~NODE_ORPHAN;
	}
}

/* Grown or shrunk in place, or freed and allocated again. */
static bool node_is_replaced(const struct compare *compare,
			     const struct node *node)
{
	const struct view *after = compare->after;
	struct view_block block;
	return node->kind == NODE_BLOCK && after->block &&
	       after->block(after->data, node->start, &block) &&
	       block.start == node->start &&
	       (block.size != node->size || block.stack != node->stack);
}

/* Examines again what leads to a node that was replaced by another. */
static struct err *replace_node(struct compare *compare, uint32_t id)
{
	struct state *state = compare->state;
	const struct node node = *nodes_get(&state->nodes, id);
	nodes_kill(&state->nodes, id);
	if (nodes_get(&state->nodes, node.parent)->flags & NODE_DEAD)
		return NULL;
	/* Other edges that were not written to are not examined. */
	compare->lost |= node.flags & NODE_SHARED;
	return walk_scan(state, compare->after, node.parent, node.edge,
			 node.edge + 1);
}

/* Nodes that a pointer left, or their container. */
static void find_orphans(struct compare *compare)
{
	struct state *state = compare->state;
	for (size_t i = 0; i < compare->dropped.n; i++) {
		uint32_t id =
			nodes_find(&state->nodes, compare->dropped.data[i]);
		if (id == NODE_NONE)
			continue;
		struct node *node = nodes_get(&state->nodes, id);
		if (!node_lives(compare, node)) {
			nodes_kill(&state->nodes, id);
			continue;
		}
		if (node->parent == NODE_NONE || node->flags & NODE_PART)
			continue;
		const struct node *parent =
			nodes_get(&state->nodes, node->parent);
		uint64_t is =
			walk_word(compare->after, parent->start + node->edge);
		if (is < node->start || is > node->start + node->size)
			node->flags |= NODE_ORPHAN;
	}
	for (size_t i = 0; i < compare->removed.n; i++) {
		uint32_t id =
			nodes_find(&state->nodes, compare->removed.data[i]);
		struct node *node =
			id == NODE_NONE ? NULL : nodes_get(&state->nodes, id);
		if (node && node->flags & NODE_PART)
			node->flags |= NODE_ORPHAN;
	}
}

static bool orphans_left(const struct compare *compare)
{
	const struct nodes *nodes = &compare->state->nodes;
	for (size_t i = 0; i < compare->dropped.n + compare->removed.n; i++) {
		uint64_t start =
			i < compare->dropped.n
				? compare->dropped.data[i]
				: compare->removed.data[i - compare->dropped.n];
		uint32_t id = nodes_find(nodes, start);
		if (id != NODE_NONE &&
		    nodes_get(nodes, id)->flags & NODE_ORPHAN)
			return true;
	}
	return false;
}

/* Follows what was written. */
static struct err *scan_touched(struct compare *compare)
{
	struct state *state = compare->state;
	for (size_t i = 0; i < compare->touched.n; i++) {
		const struct touched *touched = &compare->touched.data[i];
		const struct node *node =
			nodes_get(&state->nodes, touched->node);
		TRY(state_check_time());
		if (node->flags & NODE_DEAD)
			continue;
		if (node_is_replaced(compare, node)) {
			TRY(replace_node(compare, touched->node));
			continue;
		}
		if (node->flags & NODE_PART &&
		    (touched->from < node->typed ||
		     touched->to > walk_typed_end(state, node))) {
			/* Its container may lead elsewhere now. */
			uint64_t edge = node->edge;
			uint32_t parent = node->parent;
			TRY(walk_scan(state, compare->after, parent, edge,
				      edge + 1));
		}
		TRY(walk_scan(state, compare->after, touched->node,
			      touched->from, touched->to));
	}
	return walk_all_roots(state, compare->after);
}

static struct err *update_index(struct compare *compare)
{
	find_orphans(compare);
	compare->state->was = compare->before;
	struct err *err = scan_touched(compare);
	/* Some were reached before those that their way leads over. */
	if (!err && orphans_left(compare))
		err = scan_touched(compare);
	compare->state->was = NULL;
	if (!err)
		settle_adopted(compare);
	return err;
}

static void compare_free(struct compare *compare)
{
	vec_free(&compare->places);
	vec_free(&compare->touched);
	vec_free(&compare->dropped);
	vec_free(&compare->removed);
	vec_free(&compare->contested);
	vec_free(&compare->doubtful);
	vec_free(&compare->adopted);
	vec_free(&compare->marks);
	map_u64_free(&compare->ways);
	map_u64_free(&compare->adoptions);
	map_u64_free(&compare->forward);
	map_u64_free(&compare->backward);
	map_u64_free(&compare->seen);
	map_u64_free(&compare->containers);
}

static struct err *compare_moments(struct compare *compare,
				   const struct state_page *pages, size_t n)
{
	struct state *state = compare->state;
	for (size_t i = 0; i < n; i++) {
		struct page_visit visit = { compare, &pages[i] };
		TRY(state_check_time());
		TRY(nodes_on_page(&state->nodes, pages[i].address, touch_node,
				  &visit));
	}
	size_t touched = compare->touched.n;
	for (unsigned parts = 0; parts < 2; parts++) {
		for (size_t i = 0; parts && i < touched; i++) {
			const struct touched one = compare->touched.data[i];
			TRY(compare_structure(compare, &one));
		}
		for (size_t i = 0; i < touched; i++) {
			const struct touched one = compare->touched.data[i];
			TRY(state_check_time());
			TRY(compare_touched(compare, &one, parts));
		}
		TRY(compare_queue(compare));
	}
	return compare_sharing(compare);
}

static void forget_reports(struct state *state,
			   struct state_differences *differences)
{
	memset(state->reported, 0,
	       state->options.n_roots * sizeof(*state->reported));
	memset(state->more, 0, state->options.n_roots * sizeof(*state->more));
	memset(state->kinds, 0, state->options.n_roots * sizeof(*state->kinds));
	if (differences)
		state_differences_clear(differences);
}

struct err *state_compare(struct state *state, const struct view *before,
			  const struct view *after,
			  const struct state_page *pages, size_t n,
			  struct state_differences *ret)
{
	bool lost = false;
	for (unsigned round = 0;; round++) {
		struct compare compare = { .state = state,
					   .before = before,
					   .after = after,
					   .ret = ret };
		forget_reports(state, ret);
		struct err *err = compare_moments(&compare, pages, n);
		bool again = !err && compare.stale && !round;
		log_debug(LOG_STATE,
			  "%zu written pages: %zu objects on them, %zu "
			  "differences, %zu objects in all",
			  n, compare.touched.n, compare.differences,
			  state->nodes.all.n);
		if (!err && !again)
			err = update_index(&compare);
		lost = compare.lost;
		compare_free(&compare);
		if (err)
			return err;
		if (!again)
			break;
		/* Some of what was known has moved in the meantime. */
		log_debug(LOG_STATE, "all roots are followed again: an edge of "
				     "the index does not hold any more");
		TRY(state_index(state, before));
	}
	if (lost || (state->nodes.dead > state->nodes.all.n / 2 &&
		     state->nodes.dead > 4096)) {
		log_debug(LOG_STATE, "all roots are followed again: %s",
			  lost ? "a shared object was replaced"
			       : "most objects of the index are gone");
		return state_index(state, after);
	}
	return NULL;
}

/* Following pointers: from the roots to all that can be reached. */
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "state/state_internal.h"

uint64_t walk_word(const struct view *view, uint64_t address)
{
	uint64_t value = 0;
	return view_read(view, address, &value, sizeof(value)) ? value : 0;
}

bool walk_is_text(const struct view *view, uint64_t address, uint64_t size)
{
	uint64_t n = walk_text(view, address, 1, MIN(size, TEXT_MAX));
	struct view_block block;
	if (!n || n >= size)
		return false;
	/* The bytes of an address may well be printable. */
	if (size >= 8 && n < 8 && view->block &&
	    view->block(view->data, walk_word(view, address), &block))
		return false;
	for (uint64_t at = 0; at < n; at++) {
		uint8_t c;
		if (!view_read(view, address + at, &c, 1) ||
		    (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			return false;
		if (at > 256)
			break; /* enough */
	}
	return true;
}

uint64_t walk_text(const struct view *view, uint64_t address, uint64_t unit,
		   uint64_t max)
{
	static const uint8_t zero[4];
	uint64_t n = 0;
	if (unit != 1 && unit != 2 && unit != 4)
		return 0;
	while (n < max) {
		uint64_t in = (address + n) % VIEW_PAGE;
		const uint8_t *page = view->page(view->data, address + n - in);
		if (!page)
			return n;
		uint64_t room = MIN(VIEW_PAGE - in, max - n);
		if (unit == 1) {
			const uint8_t *end = memchr(page + in, 0, room);
			if (end)
				return n + (uint64_t)(end - (page + in));
			n += room;
			continue;
		}
		for (uint64_t i = 0; i + unit <= room; i += unit, n += unit) {
			if (!memcmp(page + in + i, zero, unit))
				return n;
		}
		if (room % unit)
			return n;
	}
	return n;
}

static const struct root_span *find_root(const struct state *state,
					 uint64_t address)
{
	size_t low = 0, high = state->spans.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (state->spans.data[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < state->spans.n && state->spans.data[low].start <= address)
		return &state->spans.data[low];
	return NULL;
}

void walk_target(const struct state *state, const struct view *view,
		 type_id type, uint64_t address, struct target *ret)
{
	*ret = (struct target){ .kind = TARGET_NULL };
	if (!address)
		return;
	const struct root_span *span = find_root(state, address);
	if (span) {
		ret->kind = TARGET_ROOT;
		ret->start = span->start;
		ret->size = span->end - span->start;
		ret->offset = address - span->start;
		ret->root = span->id;
		return;
	}
	struct view_block block;
	if (view->block && view->block(view->data, address, &block)) {
		ret->kind = TARGET_BLOCK;
		ret->start = block.start;
		ret->size = MIN(block.size, OBJECT_MAX);
		ret->offset = MIN(address - block.start, ret->size);
		ret->stack = block.stack;
		ret->slack = block.exact ? 0 : ALLOCATOR_SLACK;
		return;
	}
	ret->start = address;
	switch (state->options.area(state->options.data, address)) {
	case STATE_HEAP:
		ret->kind = TARGET_DANGLING;
		return;
	case STATE_DEAD:
		ret->kind = TARGET_DEAD;
		return;
	case STATE_CODE:
		ret->kind = TARGET_CODE;
		return;
	case STATE_NOWHERE:
	case STATE_FOREIGN:
		ret->kind = TARGET_FOREIGN;
		return;
	case STATE_CONST:
		ret->constant = true;
		break;
	case STATE_DATA:
		break;
	}
	const struct type *target = type_get(state->pool, type);
	ret->kind = TARGET_FOREIGN;
	if (target->kind == TYPE_CHAR) {
		ret->kind = TARGET_LOOSE;
		ret->size = walk_text(view, address, target->size, TEXT_MAX) +
			    target->size;
	} else if (target->kind != TYPE_VOID && target->kind != TYPE_OPAQUE &&
		   target->size && target->size <= LOOSE_MAX &&
		   !(address % MAX(target->align, 1U))) {
		ret->kind = TARGET_LOOSE;
		ret->size = target->size;
	}
}

static const struct state_vtable *find_vtable(const struct state *state,
					      uint64_t address)
{
	const struct state_vtable *all = state->options.vtables;
	size_t low = 0, high = state->options.n_vtables;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (all[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < state->options.n_vtables && all[low].start <= address)
		return &all[low];
	return NULL;
}

type_id walk_dynamic(const struct state *state, const struct view *view,
		     type_id type, uint64_t address, uint64_t *ret_address)
{
	const struct type *declared = type_get(state->pool, type);
	*ret_address = address;
	if (declared->kind != TYPE_STRUCT ||
	    !(declared->flags & TYPE_POLYMORPHIC))
		return type;
	/* Itanium C++ ABI 2.5: before it, type_info and the offset to the top. */
	uint64_t vptr = walk_word(view, address);
	const struct state_vtable *vtable = find_vtable(state, vptr);
	int64_t to_top;
	if (!vtable || vptr < vtable->start + 16 ||
	    !view_read(view, vptr - 16, &to_top, sizeof(to_top)))
		return type;
	const struct type *actual = type_get(state->pool, vtable->type);
	if (actual->kind != TYPE_STRUCT || to_top > 0 ||
	    to_top < -(int64_t)LOOSE_MAX || actual->size < declared->size)
		return type;
	*ret_address = address + (uint64_t)to_top;
	return vtable->type;
}

type_id walk_class_at(void *data, const struct view *view, uint64_t address,
		      uint64_t room)
{
	const struct state *state = data;
	uint64_t vptr = walk_word(view, address);
	const struct state_vtable *vtable = find_vtable(state, vptr);
	int64_t to_top;
	if (!vtable || vptr < vtable->start + 16 ||
	    !view_read(view, vptr - 16, &to_top, sizeof(to_top)) || to_top)
		return TYPE_UNKNOWN;
	const struct type *type = type_get(state->pool, vtable->type);
	return type->kind == TYPE_STRUCT && type->size && type->size <= room
		       ? vtable->type
		       : TYPE_UNKNOWN;
}

bool walk_is_wrapper(const struct type *type)
{
	if (type->kind != TYPE_STRUCT || type->n_members != 1 ||
	    !str_starts(type->name, "std::"))
		return false;
	const struct type_member *member = &type->members[0];
	return !member->bit_size && !member->virtual_base &&
	       (member->base || member->name[0] == '_');
}

static bool has_flexible_end(const struct state *state, const struct type *type)
{
	if (type->kind != TYPE_STRUCT || !type->n_members)
		return false;
	const struct type_member *last = &type->members[type->n_members - 1];
	const struct type *array = type_get(state->pool, last->type);
	/* struct { …; char data[]; }, and [0] and [1] used like it */
	return array->kind == TYPE_ARRAY &&
	       (array->count == TYPE_NO_COUNT || array->count <= 1);
}

/* How well a type explains a block. */
static unsigned walk_rank_type(const struct state *state, type_id type,
			       uint64_t typed)
{
	const struct type *known = type_get(state->pool, type);
	if (type == TYPE_UNKNOWN || !known->size || known->kind == TYPE_OPAQUE)
		return 0;
	if (typed)
		return 1;
	return known->kind == TYPE_STRUCT ? 3 : 2;
}

void walk_explain(const struct state *state, struct node *node, type_id type,
		  uint64_t typed, const struct walk_edge *edge)
{
	const struct type *known = type_get(state->pool, type);
	node->type = type;
	node->typed = typed;
	node->flags &= (uint8_t)~NODE_TEXT;
	if (!walk_rank_type(state, type, typed) || typed >= node->size) {
		node->type = TYPE_UNKNOWN;
		node->typed = 0;
		node->count = 0;
		return;
	}
	uint64_t room = node->size - typed;
	node->count = room / known->size;
	if (edge->part) {
		node->count = MIN(node->count, edge->count);
		return;
	}
	if (known->kind == TYPE_CHAR)
		node->flags |= NODE_TEXT;
	/*
	 * The allocator's own bytes at the end hold no elements. While a block
	 * lives they do not change; another block has others.
	 */
	if (node->flags & NODE_SLACK)
		node->count = (room - MIN(room, (uint64_t)ALLOCATOR_SLACK)) /
			      known->size;
	/* GLib's structs are the visible part of larger ones. */
	if (container_recipe(state->containers, type) &&
	    str_starts(known->name, "_G")) {
		node->count = 1;
		node->flags |= NODE_BARE;
	}
	/* Allocated for less than the type has: its first members. */
	if (has_flexible_end(state, known) || !node->count)
		node->count = 1;
}

static uint8_t doubt_of(const struct walk_edge *edge,
			const struct target *target)
{
	return edge->guess ? (target->offset ? DOUBT_MAX : 1) : 0;
}

unsigned walk_doubt(const struct state *state, uint32_t id)
{
	unsigned doubt = 0;
	for (size_t hop = 0; id != NODE_NONE && hop < CHAIN_MAX; hop++) {
		const struct node *node = nodes_get(&state->nodes, id);
		doubt += node->doubt;
		if (doubt >= DOUBT_MAX)
			return DOUBT_MAX;
		id = node->parent;
	}
	return doubt;
}

static struct err *add_node(struct state *state, const struct target *target,
			    type_id type, uint64_t typed,
			    const struct walk_edge *edge, uint32_t *ret)
{
	struct node node = {
		.start = target->start,
		.size = target->size,
		.edge = edge->edge,
		.parent = edge->parent,
		.index = edge->index,
		.stack = target->stack,
		.root = nodes_get(&state->nodes, edge->parent)->root,
		.kind = target->kind == TARGET_BLOCK ? NODE_BLOCK : NODE_LOOSE,
		.scan = edge->scan,
		.doubt = doubt_of(edge, target),
		.flags = (edge->part ? NODE_PART : 0) |
			 (edge->bare ? NODE_BARE : 0),
	};
	walk_explain(state, &node, type, typed, edge);
	nodes_get(&state->nodes, edge->parent)->leads = true;
	TRY(nodes_add(&state->nodes, &node, ret));
	return vec_push(&state->work, *ret);
}

/* More elements of one container in one block: a deque's. */
static bool extend_part(const struct state *state, struct node *node,
			type_id type, uint64_t typed,
			const struct walk_edge *edge)
{
	uint64_t size = type_get(state->pool, type)->size;
	if (!(node->flags & NODE_PART) || !edge->part ||
	    node->parent != edge->parent || node->edge != edge->edge ||
	    node->scan != edge->scan || node->type != type || !size)
		return false;
	uint64_t start = MIN(node->typed, typed);
	uint64_t end = MAX(node->typed + node->count * size,
			   typed + edge->count * size);
	if (typed < node->typed)
		node->index = edge->index;
	node->typed = start;
	node->count = (MIN(end, node->size) - start) / size;
	return true;
}

bool walk_leads_to(const struct state *state, uint32_t from, uint32_t to)
{
	/* Usually nothing is below it, and the way up may be long. */
	if (!nodes_get(&state->nodes, to)->leads)
		return from == to;
	for (size_t i = 0; i < CHAIN_MAX && from != NODE_NONE; i++) {
		const struct node *node = nodes_get(&state->nodes, from);
		if (from == to)
			return true;
		/* An orphan's own edge does not hold: it may get another. */
		if (node->flags & NODE_ORPHAN)
			return false;
		from = node->parent;
	}
	return false;
}

/* Reached again: perhaps this time more is known of it. */
static struct err *improve_node(struct state *state, uint32_t id,
				const struct target *target, type_id type,
				uint64_t typed, const struct walk_edge *edge)
{
	struct node *node = nodes_get(&state->nodes, id);
	if (node->kind == NODE_ROOT)
		return NULL;
	if (extend_part(state, node, type, typed, edge))
		return vec_push(&state->work, id);
	bool same_edge =
		node->parent == edge->parent && node->edge == edge->edge;
	if (!same_edge)
		node->flags |= NODE_SHARED;
	/* What its parent hung on may be gone, too. */
	bool orphan =
		(node->flags | nodes_get(&state->nodes, node->parent)->flags) &
			NODE_ORPHAN ||
		nodes_get(&state->nodes, node->parent)->flags & NODE_DEAD;
	unsigned old = walk_rank_type(state, node->type, node->typed);
	unsigned new = walk_rank_type(state, type, typed);
	bool larger = type_get(state->pool, type)->size >
		      type_get(state->pool, node->type)->size;
	bool better = new > old || (new == old &&new == 3 && larger);
	if (node->flags & NODE_PART && !edge->part)
		better = false;
	if (edge->part && !(node->flags & NODE_PART))
		better = true; /* its container knows it best */
	/* Another number of elements, or another container took it over. */
	if (edge->part && node->flags & NODE_PART)
		better = true;
	/* What its container knew of it is void. */
	if (node->flags & NODE_PART && orphan)
		better = true;
	/* A pointer says more than a word that may be one. */
	bool surer = node->doubt > doubt_of(edge, target);
	if (!better && !orphan && !surer)
		return NULL;
	if (!walk_leads_to(state, edge->parent, id)) {
		node->parent = edge->parent;
		nodes_get(&state->nodes, edge->parent)->leads = true;
		node->edge = edge->edge;
		node->index = edge->index;
		node->scan = edge->scan;
		node->doubt = doubt_of(edge, target);
		node->root = nodes_get(&state->nodes, edge->parent)->root;
		node->flags &= (uint8_t) ~(NODE_ORPHAN | NODE_PART | NODE_BARE);
		node->flags |= edge->part ? NODE_PART : 0;
		node->flags |= edge->bare ? NODE_BARE : 0;
	}
	if (!better)
		return NULL;
	type_id was = node->type;
	uint64_t was_typed = node->typed, was_count = node->count;
	walk_explain(state, node, type, typed, edge);
	if (node->type == was && node->typed == was_typed &&
	    node->count == was_count)
		return NULL;
	return vec_push(&state->work, id);
}

static struct err *walk_follow(struct state *state, const struct view *view,
			       type_id type, uint64_t address,
			       const struct walk_edge *edge, uint32_t *ret)
{
	struct target target;
	uint32_t id = NODE_NONE;
	walk_target(state, view, type, address, &target);
	if (ret)
		*ret = NODE_NONE;
	if (target.kind == TARGET_ROOT) {
		if (ret)
			*ret = target.root;
		return NULL;
	}
	if (target.kind != TARGET_BLOCK && target.kind != TARGET_LOOSE)
		return NULL;
	const struct type *known = type_get(state->pool, type);
	if (target.kind == TARGET_LOOSE && known->kind == TYPE_CHAR &&
	    target.constant)
		return NULL; /* literals: looked at when compared */
	uint64_t typed = target.offset;
	if (!edge->part && known->flags & TYPE_POLYMORPHIC) {
		uint64_t start;
		type_id actual =
			walk_dynamic(state, view, type, address, &start);
		uint64_t size = type_get(state->pool, actual)->size;
		if (target.kind == TARGET_LOOSE) {
			target.start = start;
			target.size = size;
			type = actual;
		} else if (start >= target.start &&
			   start - target.start + size <= target.size) {
			typed = start - target.start;
			type = actual;
		}
	}
	id = nodes_find(&state->nodes, target.start);
	if (id == NODE_NONE) {
		TRY(add_node(state, &target, type, typed, edge, &id));
	} else {
		struct node *node = nodes_get(&state->nodes, id);
		if (node->kind == NODE_BLOCK && target.kind == TARGET_BLOCK &&
		    (node->size != target.size ||
		     node->stack != target.stack)) {
			/* Another block is there now. */
			nodes_kill(&state->nodes, id);
			TRY(add_node(state, &target, type, typed, edge, &id));
		} else {
			TRY(improve_node(state, id, &target, type, typed,
					 edge));
		}
	}
	if (ret)
		*ret = id;
	return NULL;
}

uint64_t walk_typed_end(const struct state *state, const struct node *node)
{
	const struct type *type = type_get(state->pool, node->type);
	uint64_t room = node->size - MIN(node->typed, node->size);
	if (node->count == 1 && !(node->flags & NODE_PART) &&
	    has_flexible_end(state, type)) {
		uint64_t slack = node->flags & NODE_SLACK ? ALLOCATOR_SLACK : 0;
		return MAX(node->typed + MIN(room, type->size),
			   node->size - MIN(node->size, slack));
	}
	return node->typed + MIN(room, node->count * type->size);
}

static struct err *visit_words(uint64_t start, uint64_t end, uint64_t from,
			       uint64_t to, leaf_visit *visit, void *data)
{
	if (start >= end || start >= to || end <= from)
		return NULL;
	struct leaf leaf = { .kind = LEAF_WORDS,
			     .type = TYPE_UNKNOWN,
			     .offset = start,
			     .size = end - start };
	return visit(data, &leaf);
}

struct err *walk_leaves(struct state *state, const struct view *view,
			const struct node *node, uint64_t from, uint64_t to,
			unsigned flags, leaf_visit *visit, void *data)
{
	const struct type *type = type_get(state->pool, node->type);
	to = MIN(to, node->size);
	if (node->type == TYPE_UNKNOWN || !type->size) {
		uint64_t slack = node->flags & NODE_SLACK ? ALLOCATOR_SLACK : 0;
		return visit_words(0, node->size - MIN(node->size, slack), from,
				   to, visit, data);
	}
	bool part = node->flags & NODE_PART;
	bool bare = node->flags & (NODE_PART | NODE_BARE);
	uint64_t typed_end = walk_typed_end(state, node);
	if (!bare || state->whole)
		TRY(visit_words(0, node->typed, from, to, visit, data));
	if (node->flags & NODE_TEXT) {
		struct leaf leaf = { .kind = LEAF_TEXT,
				     .type = node->type,
				     .offset = node->typed,
				     .size = node->size - node->typed };
		return flags & LAYOUT_POINTERS ? NULL : visit(data, &leaf);
	}
	bool leads = !(flags & LAYOUT_POINTERS) ||
		     layout_has_pointers(&state->layout, node->type);
	uint64_t first =
		from > node->typed ? (from - node->typed) / type->size : 0;
	/* What is beyond a single one belongs to it: flexible arrays. */
	if (node->count <= 1 && !part)
		first = 0;
	for (uint64_t i = first; leads && from < typed_end && i < node->count;
	     i++) {
		uint64_t offset = node->typed + i * type->size;
		if (offset >= to)
			break;
		struct layout_object object = {
			.type = node->type,
			.offset = offset,
			.size = node->count > 1 || part ? type->size
							: typed_end - offset,
			.view = view,
			.address = node->start + offset,
		};
		TRY(layout_visit(&state->layout, &object, from, to, flags,
				 visit, data));
	}
	/* A header followed by something that only the program knows. */
	if ((!bare || state->whole) && !(node->flags & NODE_SLACK) &&
	    node->kind == NODE_BLOCK && node->count == 1)
		return visit_words(typed_end, node->size, from, to, visit,
				   data);
	return NULL;
}

/* Borrowed for one expansion at a time; nested ones get their own. */
static struct container_contents *contents_take(struct state *state,
						struct container_contents *own)
{
	if (state->contents_busy) {
		*own = (struct container_contents){};
		return own;
	}
	state->contents_busy = true;
	return &state->contents;
}

static void contents_give(struct state *state,
			  struct container_contents *contents)
{
	if (contents == &state->contents)
		state->contents_busy = false;
	else
		container_contents_free(contents);
}

struct walk_scan {
	struct state *state;
	const struct view *view;
	uint32_t id;
	uint64_t start;	   /* of the node */
	uint64_t from, to; /* LEAF_WORDS are cut to these */
	/* Elements of a container inside the node itself. */
	unsigned depth;
};

static struct err *scan_leaf(void *data, const struct leaf *leaf);

/*
 * An element in the same object as its container (an optional's value, a short
 * buffer) is examined there; one elsewhere becomes a part.
 */
static struct err *scan_element(struct walk_scan *scan, const struct leaf *leaf,
				const struct container_element *element,
				uint64_t count, uint32_t index)
{
	struct state *state = scan->state;
	uint64_t own = scan->start + leaf->offset;
	uint64_t size = type_get(state->pool, element->type)->size;
	if (element->address >= own && element->address < own + leaf->size) {
		if (scan->depth >= TYPE_DEPTH_MAX ||
		    !layout_has_pointers(&state->layout, element->type))
			return NULL;
		struct layout_object object = {
			.type = element->type,
			.offset = element->address - scan->start,
			.size = size * count,
			.view = scan->view,
			.address = element->address,
		};
		struct walk_scan inner = *scan;
		inner.depth++;
		return layout_visit(&state->layout, &object, object.offset,
				    object.offset + object.size,
				    LAYOUT_POINTERS, scan_leaf, &inner);
	}
	struct walk_edge edge = {
		.parent = scan->id,
		.edge = leaf->offset,
		.index = index,
		.part = true,
		.count = count,
		.scan = state->scans,
	};
	return walk_follow(state, scan->view, element->type, element->address,
			   &edge, NULL);
}

/* Blocks without elements, which belong to the container all the same. */
static struct err *scan_structure(struct walk_scan *scan,
				  const struct leaf *leaf,
				  const struct container_contents *contents)
{
	struct state *state = scan->state;
	struct walk_edge edge = {
		.parent = scan->id,
		.edge = leaf->offset,
		.part = true,
		.count = 1,
		.scan = state->scans,
	};
	type_id type;
	for (size_t i = 0; i < contents->structure.n; i++) {
		TRY(containers_structure_type(state->containers, &type));
		TRY(walk_follow(state, scan->view, type,
				contents->structure.data[i], &edge, NULL));
	}
	return NULL;
}

static struct err *scan_contents(struct walk_scan *scan,
				 const struct leaf *leaf,
				 const struct container_contents *contents)
{
	TRY(scan_structure(scan, leaf, contents));
	enum container_shape shape = container_recipe_shape(
		container_recipe(scan->state->containers, leaf->type));
	for (size_t i = 0; i < contents->n; i++) {
		const struct container_element *element = &contents->data[i];
		if (shape == CONTAINER_POINTER) {
			struct walk_edge edge = { .parent = scan->id,
						  .edge = leaf->offset,
						  .bare = true };
			TRY(walk_follow(scan->state, scan->view, element->type,
					element->address, &edge, NULL));
			continue;
		}
		TRY(scan_element(scan, leaf, element,
				 contents->run ? contents->run : 1,
				 (uint32_t)i));
	}
	return NULL;
}

/*
 * The word was there before the block was: it is what somebody else's pointer left
 * behind.
 */
static bool is_left_behind(const struct state *state, const struct view *view,
			   uint64_t at, uint64_t value)
{
	struct view_block was, is;
	return state->was && state->was->block &&
	       walk_word(state->was, at) == value &&
	       view->block(view->data, value, &is) &&
	       (!state->was->block(state->was->data, value, &was) ||
		was.start != is.start || was.stack != is.stack);
}

/* Words that are addresses of blocks or roots lead there. */
static struct err *scan_words(struct walk_scan *scan, const struct leaf *leaf)
{
	uint64_t at = scan->start + leaf->offset;
	uint64_t end = at + leaf->size;
	if (scan->from > leaf->offset)
		at += (scan->from - leaf->offset) & ~(uint64_t)7;
	if (scan->to < leaf->offset + leaf->size)
		end = scan->start + scan->to + 7;
	const uint8_t *page = NULL;
	uint64_t page_at = UINT64_MAX;
	for (at = (at + 7) & ~(uint64_t)7; at + 8 <= end; at += 8) {
		uint64_t in = at % VIEW_PAGE, value = 0;
		if (at - in != page_at) {
			page_at = at - in;
			page = scan->view->page(scan->view->data, page_at);
		}
		if (page)
			memcpy(&value, page + in, sizeof(value));
		if (value < VIEW_PAGE || value >> 47 ||
		    is_left_behind(scan->state, scan->view, at, value))
			continue;
		struct walk_edge edge = { .parent = scan->id,
					  .edge = at - scan->start,
					  .guess = true };
		TRY(walk_follow(scan->state, scan->view, TYPE_UNKNOWN, value,
				&edge, NULL));
	}
	return NULL;
}

static bool is_skip(const struct state *state, type_id type)
{
	return container_recipe_shape(container_recipe(state->containers,
						       type)) == CONTAINER_SKIP;
}

static struct err *scan_container(struct walk_scan *scan,
				  const struct leaf *leaf)
{
	struct state *state = scan->state;
	struct container_contents own;
	struct container_contents *contents = contents_take(state, &own);
	bool sound = false;
	struct err *err = container_expand(
		state->containers, leaf->type, scan->view,
		scan->start + leaf->offset, ELEMENTS_MAX, contents, &sound);
	state->scans++;
	if (!err && sound) {
		err = scan_contents(scan, leaf, contents);
		if (!err && state->whole && !is_skip(state, leaf->type))
			err = scan_words(scan, leaf);
	} else if (!err) {
		struct layout_object object = {
			.type = leaf->type,
			.offset = leaf->offset,
			.size = leaf->size,
			.view = scan->view,
			.address = scan->start + leaf->offset,
		};
		err = layout_visit(&state->layout, &object, leaf->offset,
				   leaf->offset + leaf->size,
				   LAYOUT_POINTERS | LAYOUT_PLAIN, scan_leaf,
				   scan);
	}
	contents_give(state, contents);
	return err;
}

static struct err *scan_leaf(void *data, const struct leaf *leaf)
{
	struct walk_scan *scan = data;
	switch (leaf->kind) {
	case LEAF_POINTER: {
		struct walk_edge edge = { .parent = scan->id,
					  .edge = leaf->offset };
		uint64_t value =
			walk_word(scan->view, scan->start + leaf->offset);
		if (!value)
			return NULL;
		return walk_follow(scan->state, scan->view, leaf->type, value,
				   &edge, NULL);
	}
	case LEAF_CONTAINER:
		return scan_container(scan, leaf);
	case LEAF_WORDS:
		return scan_words(scan, leaf);
	default:
		return NULL;
	}
}

/* Many objects of one type whose pointers are known: no need to take it apart. */
static struct err *scan_quickly(struct walk_scan *scan, const struct node *node,
				const struct pointer_map *map, uint64_t from,
				uint64_t to)
{
	uint64_t size = type_get(scan->state->pool, node->type)->size;
	uint64_t first = from > node->typed ? (from - node->typed) / size : 0;
	const uint8_t *page = NULL;
	uint64_t page_at = UINT64_MAX;
	for (uint64_t i = first; i < node->count && map->n; i++) {
		uint64_t start = node->typed + i * size;
		if (start >= to)
			break;
		for (uint32_t j = 0; j < map->n; j++) {
			uint64_t offset = start + map->at[j].offset;
			uint64_t at = node->start + offset;
			uint64_t in = at % VIEW_PAGE, value = 0;
			if (at - in != page_at) {
				page_at = at - in;
				page = scan->view->page(scan->view->data,
							page_at);
			}
			if (page && in <= VIEW_PAGE - 8)
				memcpy(&value, page + in, sizeof(value));
			else
				value = walk_word(scan->view, at);
			if (!value)
				continue;
			struct walk_edge edge = { .parent = scan->id,
						  .edge = offset };
			TRY(walk_follow(scan->state, scan->view,
					map->at[j].target, value, &edge, NULL));
		}
	}
	return NULL;
}

static bool is_whole(const struct state *state, const struct node *node)
{
	uint64_t size = type_get(state->pool, node->type)->size;
	return size && node->typed == 0 && !(node->flags & NODE_TEXT) &&
	       (node->count > 1 || node->size == size);
}

bool walk_is_blank(const struct view *view, uint64_t address)
{
	static const uint8_t zero[VIEW_PAGE];
	const uint8_t *page = view->page(view->data, address);
	return !page || !memcmp(page, zero, VIEW_PAGE);
}

struct err *walk_ranges(const struct view *view, const struct node *node,
			uint64_t from, uint64_t to, walk_range *visit,
			void *data)
{
	if (node->size <= LARGE)
		return visit(data, from, to);
	to = MIN(to, node->size);
	while (from < to) {
		uint64_t in = (node->start + from) % VIEW_PAGE;
		uint64_t end = MIN(from + (VIEW_PAGE - in), to);
		if (!walk_is_blank(view, node->start + from - in))
			TRY(visit(data, from, end));
		from = end;
	}
	return NULL;
}

static struct err *scan_range(void *data, uint64_t from, uint64_t to)
{
	struct walk_scan *scan = data;
	struct state *state = scan->state;
	/* Nodes move when more of them are added. */
	const struct node node = *nodes_get(&state->nodes, scan->id);
	const struct pointer_map *map =
		is_whole(state, &node)
			? layout_pointer_map(&state->layout, node.type)
			: NULL;
	scan->from = from;
	scan->to = to;
	if (map && map->simple)
		return scan_quickly(scan, &node, map, from, to);
	return walk_leaves(state, scan->view, &node, from, to, LAYOUT_POINTERS,
			   scan_leaf, scan);
}

/* Nothing in it leads anywhere: it need not even be read. */
static bool is_leaf_node(struct state *state, const struct node *node)
{
	uint64_t size = type_get(state->pool, node->type)->size;
	return size && node->type != TYPE_UNKNOWN && node->typed == 0 &&
	       (node->flags & NODE_TEXT ||
		(is_whole(state, node) &&
		 !layout_has_pointers(&state->layout, node->type)));
}

struct err *walk_scan(struct state *state, const struct view *view, uint32_t id,
		      uint64_t from, uint64_t to)
{
	const struct node node = *nodes_get(&state->nodes, id);
	struct walk_scan scan = { state, view, id, node.start, 0, 0, 0 };
	if (node.flags & NODE_DEAD || is_leaf_node(state, &node))
		return NULL;
	return walk_ranges(view, &node, from, to, scan_range, &scan);
}

struct err *walk_all_roots(struct state *state, const struct view *view)
{
	/* In the order found: so paths are the shortest. */
	while (state->worked < state->work.n) {
		uint32_t id = state->work.data[state->worked++];
		TRY(state_check_time());
		TRY(walk_scan(state, view, id, 0, UINT64_MAX));
	}
	state->work.n = state->worked = 0;
	return NULL;
}

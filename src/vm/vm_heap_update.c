/*
 * A graph out of memory is brought up to date, as long as nothing has moved: only
 * objects that changed are looked at, and those that are new. What they were before
 * is kept, so that the graph can be seen as it was.
 *
 * Nodes know how many references lead to them. Those to which none does any more
 * are gone. Cycles of garbage stay until the graph is made anew.
 *
 * A comparison then looks only where something changed. That says the same as a
 * comparison of everything, except where objects trade places or are shared
 * between a container and others: these are compared everywhere.
 */
#include <stdlib.h>
#include <string.h>

#include "vm/vm_heap_internal.h"
#include "vm/vm_heap_locals.h"
#include "vm/vm_heap_pages.h"
#include "vm/vm_heap_raw.h"
#include "vm/vm_heap_walk.h"

/* Nodes that are gone take room: so many more than at first are too many. */
#define GROWTH_MAX 65536
/* Of an update: more are too many to find out which of them are shorter. */
#define WAYS_MAX 10000

static struct {
	uint32_t *data;
	size_t n, cap;
} changed; /* nodes that heap_walk_check() found */

/* ---- what changed ---- */

static bool walk_node_same(const struct heap_graph *graph, uint32_t node)
{
	const struct heap_class *class = heap_class_at(graph, node);
	if (!class || class->kind == HEAP_SKIP || class->kind == HEAP_MIRROR)
		return true;
	const uint8_t *object =
		(const uint8_t *)graph->nodes.data[node].address;
	const uint8_t *was = heap_bytes(graph, node);
	if (class->kind == HEAP_ARRAY) {
		uint32_t base = heap_array_base(class->element);
		return !memcmp(object + base, was + base,
			       (size_t)graph->nodes.data[node].length *
				       heap_type_size(class->element));
	}
	for (size_t i = 0; i < class->n_spans; i++) {
		const struct heap_span *span = &class->spans[i];
		if (memcmp(object + span->offset, was + span->offset,
			   span->size) != 0)
			return false;
	}
	uint8_t value[sizeof(uint64_t)];
	if (class->local)
		heap_local_read(class, (uint64_t)object, value);
	return !class->local || !memcmp(value, was, heap.layout.reference);
}

void heap_walk_check(struct heap_graph *graph, uint32_t node)
{
	struct heap_node *it = &graph->nodes.data[node];
	if (it->gone || it->changed || walk_node_same(graph, node))
		return;
	it->changed = true;
	HEAP_PUSH(&changed, node);
}

static bool roots_are_same(const struct heap_graph *graph)
{
	for (size_t i = 0; i < graph->n_roots; i++) {
		const struct heap_root *root = &heap.roots.data[i];
		if (memcmp(&graph->roots[i], walk_root_slot(root),
			   heap_type_size(root->field.type)) != 0)
			return false;
	}
	return true;
}

/* What changed nodes have in them goes to the past, what they have now comes in. */
static void update_bytes(struct heap_graph *graph, struct heap_past *past)
{
	qsort(changed.data, changed.n, sizeof(*changed.data),
	      heap_compare_numbers);
	for (size_t i = 0; i < changed.n; i++) {
		uint32_t node = changed.data[i];
		const struct heap_node *it = &graph->nodes.data[node];
		size_t size = heap_node_size(graph, node);
		const uint8_t *bytes =
			graph->bytes.data + (size_t)it->bytes * 8;
		const struct heap_old old = { node, past->bytes.n };
		size_t end = past->bytes.n + ((size + 7) & ~(size_t)7);
		if (end > past->bytes.cap)
			past->bytes.data = heap_room(past->bytes.data, end,
						     &past->bytes.cap, 1);
		memcpy(past->bytes.data + past->bytes.n, bytes, size);
		past->bytes.n = end;
		HEAP_PUSH(&past->nodes, old);
		walk_copy_bytes(graph, node);
	}
}

/* ---- references ---- */

struct dropped {
	uint32_t *data;
	size_t n, cap;
};

static void drop_reference(struct heap_graph *graph, uint32_t from,
			   uint32_t edge, uint32_t to, struct dropped *dropped)
{
	struct heap_node *it = &graph->nodes.data[to];
	if (!to)
		return;
	if (!it->part && it->parent == from && it->edge == edge)
		it->parent = HEAP_ORPHAN;
	if (it->references)
		it->references--;
	if (!it->references)
		HEAP_PUSH(dropped, to);
}

typedef void slot_differs(struct heap_walk *walk, uint32_t node,
			  const struct heap_slot *slot, const uint8_t *was,
			  void *data);

/* All slots of changed nodes that lead elsewhere than before. */
static void update_slots(struct heap_walk *walk, const struct heap_past *past,
			 slot_differs *differs, void *data)
{
	struct heap_graph *graph = walk->graph;
	for (size_t i = 0; i < past->nodes.n; i++) {
		uint32_t node = past->nodes.data[i].node;
		const uint8_t *was =
			past->bytes.data + past->nodes.data[i].bytes;
		struct heap_slot slot;
		for (size_t at = 0; heap_slot_next(graph, node, &at, &slot);) {
			const uint8_t *is = heap_bytes(graph, node);
			if (memcmp(was + slot.offset, is + slot.offset,
				   heap.layout.reference) != 0)
				differs(walk, node, &slot, was + slot.offset,
					data);
		}
	}
}

static void slot_drop(struct heap_walk *walk, uint32_t node,
		      const struct heap_slot *slot, const uint8_t *was,
		      void *data)
{
	drop_reference(walk->graph, node, slot->edge,
		       heap_follow(walk->graph, was), data);
}

static void slot_add(struct heap_walk *walk, uint32_t node,
		     const struct heap_slot *slot, const uint8_t *was,
		     void *data)
{
	(void)was, (void)data;
	walk_slot(walk, node, slot);
}

static void update_roots(struct heap_walk *walk, const uint64_t *old, bool drop,
			 struct dropped *dropped)
{
	struct heap_graph *graph = walk->graph;
	size_t n = graph->n_roots;
	for (size_t i = 0; i < n; i++) {
		const struct heap_root *root = &heap.roots.data[i];
		if (!memcmp(&old[i], walk_root_slot(root),
			    heap_type_size(root->field.type)))
			continue;
		if (!drop)
			walk_root(walk, i);
		else if (root->field.type == 'L')
			drop_reference(
				graph, 0, (uint32_t)i,
				heap_follow(graph, (const uint8_t *)&old[i]),
				dropped);
	}
}

/* What nothing leads to is gone, with what only it leads to. */
static void update_drop(struct heap_graph *graph, struct dropped *dropped)
{
	while (dropped->n) {
		uint32_t node = dropped->data[--dropped->n];
		struct heap_node *it = &graph->nodes.data[node];
		if (it->references || it->gone)
			continue;
		it->gone = true;
		struct heap_slot slot;
		for (size_t at = 0; heap_slot_next(graph, node, &at, &slot);)
			drop_reference(
				graph, node, slot.edge,
				heap_follow(graph, heap_bytes(graph, node) +
							   slot.offset),
				dropped);
	}
}

/* ---- parents ---- */

static bool node_has_way(const struct heap_graph *graph, uint32_t node)
{
	while (node && node != HEAP_ORPHAN && !graph->nodes.data[node].gone)
		node = graph->nodes.data[node].parent;
	return !node;
}

static void update_parents(struct heap_walk *walk)
{
	struct heap_graph *graph = walk->graph;
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < walk->adopters.n; i++) {
			const struct heap_way *way = &walk->adopters.data[i];
			struct heap_node *it = &graph->nodes.data[way->to];
			if (it->parent != HEAP_ORPHAN ||
			    !node_has_way(graph, way->from))
				continue;
			it->parent = way->from;
			it->edge = way->edge;
			more = true;
		}
	}
}

/* How a comparison gets there. False: it is not known. */
static bool way_to(const struct heap_graph *graph, uint32_t node, uint32_t edge,
		   uint32_t *ret_root, uint32_t *ret_depth)
{
	*ret_depth = 0;
	while (node && node != HEAP_ORPHAN && !graph->nodes.data[node].gone) {
		const struct heap_node *it = &graph->nodes.data[node];
		*ret_depth += !it->part;
		edge = it->edge;
		node = it->parent;
	}
	*ret_root = edge;
	return !node;
}

/* Ways that are new and that the next comparison takes first. */
static void update_shorten(struct heap_graph *graph,
			   const struct heap_ways *ways)
{
	for (size_t i = 0; i < ways->n && i < WAYS_MAX; i++) {
		const struct heap_way *way = &ways->data[i];
		struct heap_node *it = &graph->nodes.data[way->to];
		uint32_t root, depth, its_root, its_depth;
		if (it->part || it->gone ||
		    !way_to(graph, way->from, way->edge, &root, &depth) ||
		    !way_to(graph, it->parent, it->edge, &its_root, &its_depth))
			continue;
		bool first = root != its_root ? root < its_root
			     : depth != its_depth
				     ? depth < its_depth
				     : way->from == it->parent &&
					       way->edge < it->edge;
		if (!first || walk_is_below(graph, way->from, way->to))
			continue;
		it->parent = way->from;
		it->edge = way->edge;
	}
}

/* ---- where to look ---- */

/* Also compared where it stands for its content: with whom else is not known. */
static bool node_is_shared(const struct heap_graph *graph, uint32_t node)
{
	const struct heap_node *it = &graph->nodes.data[node];
	const struct heap_class *class = heap_class_at(graph, node);
	return it->references > 1 &&
	       (class->kind == HEAP_ARRAY || class->kind == HEAP_BUILDER ||
		(it->part && class->recipe));
}

/* False: it is not known what leads there. */
static bool update_mark(struct heap_graph *graph, struct heap_update *update,
			uint32_t node)
{
	for (; node; node = graph->nodes.data[node].parent) {
		if (node == HEAP_ORPHAN || graph->nodes.data[node].gone)
			return false;
		struct heap_node *it = &graph->nodes.data[node];
		if (it->dirty)
			return true;
		it->dirty = true;
		HEAP_PUSH(&update->dirty, node);
		if (!it->parent && it->edge < graph->n_roots)
			update->dirty_roots[it->edge] = true;
	}
	return true;
}

static const struct heap_node *sorted_nodes;

static int compare_dirty(const void *x, const void *y)
{
	const struct heap_node *a = &sorted_nodes[*(const uint32_t *)x];
	const struct heap_node *b = &sorted_nodes[*(const uint32_t *)y];
	if (a->parent != b->parent)
		return a->parent > b->parent ? 1 : -1;
	return (a->edge > b->edge) - (a->edge < b->edge);
}

static bool has_chains_of_users(void)
{
	for (size_t i = 0; i < heap.recipes.n; i++) {
		if (heap.recipes.data[i].shape == SHAPE_CHAIN)
			return true;
	}
	return false;
}

static void update_find_dirty(struct heap_graph *graph,
			      struct heap_update *update)
{
	update->everywhere = has_chains_of_users();
	update->dirty_roots =
		heap_zeroed(graph->n_roots, sizeof(*update->dirty_roots));
	for (size_t i = 0; i < update->past.nodes.n; i++) {
		uint32_t node = update->past.nodes.data[i].node;
		if (graph->nodes.data[node].gone)
			continue;
		if (!update_mark(graph, update, node))
			update->everywhere = update->lost = true;
		if (node_is_shared(graph, node))
			update->everywhere = true;
	}
	sorted_nodes = graph->nodes.data;
	if (update->dirty.n)
		qsort(update->dirty.data, update->dirty.n,
		      sizeof(*update->dirty.data), compare_dirty);
}

/* ---- all ---- */

/*
 * What new roots lead to is no garbage, however much it is.
 * False: objects have moved before all was known of it.
 */
static bool update_add_roots(JNIEnv *env, struct heap_walk *walk)
{
	struct heap_graph *graph = walk->graph;
	size_t nodes = graph->nodes.n;
	bool more = graph->n_roots < heap.roots.n;
	walk_new_roots(walk);
	if (!walk_complete(env, walk))
		return false;
	if (more)
		graph->first_nodes += graph->nodes.n - nodes;
	return true;
}

/* False: objects have moved before all was known of them. */
static bool update_graph(JNIEnv *env, struct heap_graph *graph,
			 struct heap_update *update)
{
	struct heap_walk walk = {
		.graph = graph,
		.added = update->added,
		.n_added = graph->nodes.n,
	};
	struct dropped dropped = {};
	const uint64_t *old = update->before.roots;
	update_bytes(graph, &update->past);
	update_slots(&walk, &update->past, slot_drop, &dropped);
	update_roots(&walk, old, true, &dropped);
	update_roots(&walk, old, false, &dropped);
	update_slots(&walk, &update->past, slot_add, NULL);
	walk_rest(&walk);
	bool known = update_add_roots(env, &walk);
	if (known) {
		update_drop(graph, &dropped);
		update_parents(&walk);
		update_find_dirty(graph, update);
		heap_pages_index(graph);
	}
	update->ways = walk.adopters;
	walk.adopters = (struct heap_ways){};
	free(dropped.data);
	heap_walk_free(&walk);
	return known;
}

/* The view of what was, now that the graph has its new nodes. */
static void update_set_view(const struct heap_graph *graph,
			    struct heap_update *update)
{
	uint64_t *roots = update->before.roots;
	size_t n = update->before.n_roots;
	update->before = *graph;
	update->before.roots = roots;
	update->before.n_roots = n;
	update->before.past = &update->past;
}

/* Roots that are new; nothing else changed. */
static enum heap_found update_new_roots(JNIEnv *env, struct heap_graph *graph)
{
	struct heap_walk walk = { .graph = graph };
	if (graph->n_roots == heap.roots.n)
		return HEAP_SAME;
	bool known = update_add_roots(env, &walk);
	if (known) {
		update_shorten(graph, &walk.adopters);
		heap_pages_index(graph);
	}
	heap_walk_free(&walk);
	return known ? HEAP_SAME : HEAP_LOST;
}

static enum heap_found walk_update_held(JNIEnv *env, struct heap_graph *graph,
					struct heap_update *update)
{
	if (walk_has_moved())
		return HEAP_LOST;
	changed.n = 0;
	heap_pages_check(graph);
	for (size_t i = 0; i < graph->locals.n; i++)
		heap_walk_check(graph, graph->locals.data[i]);
	if (!changed.n && roots_are_same(graph))
		return update_new_roots(env, graph);
	update->added_size = graph->nodes.n * sizeof(*update->added);
	update->added = heap_sparse(update->added_size);
	return update_graph(env, graph, update) ? HEAP_CHANGED : HEAP_LOST;
}

enum heap_found heap_walk_update(JNIEnv *env, struct heap_graph *graph,
				 struct heap_update *ret)
{
	enum heap_found found = HEAP_LOST;
	ret->before.n_roots = graph->n_roots;
	ret->before.roots = heap_zeroed(graph->n_roots, sizeof(*graph->roots));
	if (graph->n_roots)
		memcpy(ret->before.roots, graph->roots,
		       graph->n_roots * sizeof(*graph->roots));
	if (heap_raw_hold(env)) {
		found = walk_update_held(env, graph, ret);
		heap_raw_release(env);
	}
	update_set_view(graph, ret);
	if (graph->nodes.n > 2 * graph->first_nodes + GROWTH_MAX)
		ret->lost = true;
	return found;
}

void heap_walk_end_update(struct heap_graph *graph, struct heap_update *update)
{
	for (size_t i = 0; i < update->past.nodes.n; i++)
		graph->nodes.data[update->past.nodes.data[i].node].changed =
			false;
	for (size_t i = 0; i < update->dirty.n; i++)
		graph->nodes.data[update->dirty.data[i]].dirty = false;
	if (update->dirty_roots)
		update_shorten(graph, &update->ways);
	free(update->ways.data);
	free(update->past.nodes.data);
	free(update->past.bytes.data);
	free(update->dirty.data);
	free(update->dirty_roots);
	free(update->before.roots);
	heap_sparse_free(update->added, update->added_size);
	*update = (struct heap_update){};
}

/*
 * Graphs out of the heap's memory. While it is read, a held array keeps the
 * collector from moving anything; other threads may go on.
 */
#include <stdlib.h>
#include <string.h>

#include "vm/vm_heap_internal.h"
#include "vm/vm_heap_locals.h"
#include "vm/vm_heap_pages.h"
#include "vm/vm_heap_raw.h"
#include "vm/vm_heap_walk.h"

/* After the first one all classes are known, unless the heap moved. */
#define WALKS_MAX 64

static struct {
	struct {
		uint64_t klass;
		uint32_t class;
	} * data;
	size_t size, n;
} klasses;

static struct {
	uint64_t *data;
	size_t n, cap;
} unknown; /* classes that a walk met */

static uint64_t graph_collections; /* when the last graph was made */

/* ---- classes by address ---- */

static size_t klass_slot(uint64_t klass)
{
	size_t i = (klass * 0x9E3779B97F4A7C15U >> 24) & (klasses.size - 1);
	while (klasses.data[i].klass && klasses.data[i].klass != klass)
		i = (i + 1) & (klasses.size - 1);
	return i;
}

static void klass_put(uint64_t klass, uint32_t class)
{
	if (2 * klasses.n >= klasses.size) {
		size_t size = klasses.size ? 2 * klasses.size : 1024;
		void *old = klasses.data;
		free(old);
		klasses.data = heap_zeroed(size, sizeof(*klasses.data));
		klasses.size = size;
		klasses.n = 0;
		/* All that are known: this one is among them. */
		for (size_t i = 1; i < heap.classes.n; i++) {
			const struct heap_class *each = heap.classes.data[i];
			if (!each->ready)
				continue;
			size_t slot = klass_slot(each->klass);
			klasses.data[slot].klass = each->klass;
			klasses.data[slot].class = each->id;
			klasses.n++;
		}
	}
	size_t slot = klass_slot(klass);
	if (!klasses.data[slot].klass)
		klasses.n++;
	klasses.data[slot].klass = klass;
	klasses.data[slot].class = class;
}

static uint32_t klass_class(uint64_t klass)
{
	return klasses.size ? klasses.data[klass_slot(klass)].class : 0;
}

/* False: none of them could be. */
static bool walk_learn_classes(JNIEnv *env)
{
	bool any = false;
	for (size_t i = 0; i < unknown.n; i++) {
		if (klass_class(unknown.data[i]))
			continue;
		struct heap_class *class =
			heap_class_of(env, heap_raw_mirror(unknown.data[i]));
		if (!class)
			continue;
		heap_class_prepare(env, class);
		klass_put(unknown.data[i], class->id);
		any = true;
	}
	unknown.n = 0;
	return any;
}

/* ---- objects ---- */

size_t heap_node_size(const struct heap_graph *graph, uint32_t node)
{
	const struct heap_class *class = heap_class_at(graph, node);
	if (!class || class->kind == HEAP_SKIP || class->kind == HEAP_MIRROR)
		return 0;
	if (class->kind != HEAP_ARRAY)
		return class->size;
	return heap_array_base(class->element) +
	       (size_t)graph->nodes.data[node].length *
		       heap_type_size(class->element);
}

bool heap_slot_next(const struct heap_graph *graph, uint32_t node, size_t *at,
		    struct heap_slot *ret)
{
	const struct heap_class *class = heap_class_at(graph, node);
	if (!class || class->kind == HEAP_SKIP || class->kind == HEAP_MIRROR)
		return false;
	size_t i = (*at)++;
	if (class->kind == HEAP_ARRAY) {
		*ret = (struct heap_slot){
			.offset = heap_array_base('L') +
				  i * heap.layout.reference,
			.edge = (uint32_t)i,
		};
		return class->element == 'L' &&
		       i < graph->nodes.data[node].length;
	}
	if (i >= class->n_links)
		return false;
	*ret = (struct heap_slot){ class->links[i], class->links[i], i };
	return true;
}

bool heap_is_container(const struct heap_class *class)
{
	return class && class->recipe && class->recipe->shape != SHAPE_FIELDS &&
	       class->recipe->shape != SHAPE_SKIP;
}

void walk_copy_bytes(struct heap_graph *graph, uint32_t node)
{
	const struct heap_node *it = &graph->nodes.data[node];
	const struct heap_class *class = heap_class_at(graph, node);
	uint8_t *bytes = graph->bytes.data + (size_t)it->bytes * 8;
	memcpy(bytes, (const uint8_t *)it->address,
	       heap_node_size(graph, node));
	if (class->local)
		heap_local_read(class, it->address, bytes);
}

/* Its bytes, as they are now. */
static void walk_copy(struct heap_walk *walk, uint32_t node)
{
	struct heap_graph *graph = walk->graph;
	const struct heap_class *class = heap_class_at(graph, node);
	const uint8_t *object =
		(const uint8_t *)graph->nodes.data[node].address;
	if (!class || class->kind == HEAP_SKIP)
		return;
	if (class->kind == HEAP_MIRROR) {
		uint64_t klass = heap_raw_mirror_klass((uint64_t)object);
		graph->nodes.data[node].length = klass_class(klass);
		if (klass && !klass_class(klass)) {
			HEAP_PUSH(&unknown, klass);
			HEAP_PUSH(&walk->incomplete, node);
		}
		return;
	}
	if (class->kind == HEAP_ARRAY)
		memcpy(&graph->nodes.data[node].length,
		       object + heap.layout.length, sizeof(uint32_t));
	heap_graph_bytes(graph, node, heap_node_size(graph, node));
	walk_copy_bytes(graph, node);
}

/* ---- parts of containers ---- */

static bool array_has_items(const struct heap_recipe *recipe)
{
	return recipe->shape == SHAPE_ARRAY || recipe->shape == SHAPE_RING ||
	       recipe->shape == SHAPE_PAIRS || recipe->shape == SHAPE_ENUMS;
}

static bool field_has_item(const struct heap_recipe *recipe,
			   const struct heap_field *field)
{
	return (recipe->key && !strcmp(field->name, recipe->key)) ||
	       (recipe->value && !strcmp(field->name, recipe->value));
}

/* Does it lead from a part of such a container to an item? */
static bool link_has_item(struct heap_class *class,
			  const struct heap_recipe *recipe, size_t link)
{
	if (class->part_of != recipe) {
		class->part_of = recipe;
		class->item_links = 0;
		for (size_t i = 0; i < class->n_links && i < 64; i++) {
			if (field_has_item(recipe, class->link_fields[i]))
				class->item_links |= UINT64_C(1) << i;
		}
	}
	return link < 64 ? class->item_links >> link & 1
			 : field_has_item(recipe, class->link_fields[link]);
}

/* Of the container that a part belongs to, or NULL. */
static const struct heap_recipe *part_recipe(const struct heap_graph *graph,
					     uint32_t part)
{
	uint32_t owner = graph->nodes.data[part].parent;
	if (owner == HEAP_ORPHAN || !owner ||
	    !heap_is_container(heap_class_at(graph, owner)))
		return NULL;
	owner = heap_container_within(graph, owner);
	const struct heap_class *class = heap_class_at(graph, owner);
	return class ? class->recipe : NULL;
}

/* ---- the walk ---- */

bool walk_is_below(const struct heap_graph *graph, uint32_t node,
		   uint32_t ancestor)
{
	while (node && node != HEAP_ORPHAN && node != ancestor)
		node = graph->nodes.data[node].parent;
	return node == ancestor;
}

static void walk_meet_again(struct heap_walk *walk, uint32_t node,
			    uint32_t parent, uint32_t edge, bool part)
{
	const struct heap_node *nodes = walk->graph->nodes.data;
	struct heap_node *it = &walk->graph->nodes.data[node];
	if (it->part && part) {
		if (it->parent == HEAP_ORPHAN || nodes[it->parent].gone)
			it->parent = parent;
		if (it->parent == parent)
			it->edge = edge;
	} else if (it->part && !walk_is_below(walk->graph, parent, node)) {
		it->part = false;
		it->parent = parent;
		it->edge = edge;
	} else if (!part && (walk->n_added || walk->late)) {
		const struct heap_way way = { parent, edge, node };
		HEAP_PUSH(&walk->adopters, way);
	}
}

/* The constants of an enum are looked into where they are declared. */
static bool is_looked_into(const struct heap_class *class, uint32_t parent,
			   uint32_t edge)
{
	if (!class || class->kind != HEAP_ENUM)
		return true;
	const struct heap_class *owner =
		parent ? NULL : heap.roots.data[edge].class;
	return owner && (class == owner || class->super == owner);
}

/* What a node is, once its class is known. */
static void walk_classify(struct heap_walk *walk, uint32_t node)
{
	struct heap_graph *graph = walk->graph;
	struct heap_node *it = &graph->nodes.data[node];
	uint64_t klass = heap_raw_klass_of(it->address);
	it->class = klass_class(klass) & 0xFFFFFF;
	if (!it->class) {
		HEAP_PUSH(&unknown, klass);
		HEAP_PUSH(&walk->incomplete, node);
	} else if (heap_class_at(graph, node)->local) {
		HEAP_PUSH(&graph->locals, node);
	}
}

/* Returns the node if it was not there yet, with its bytes. */
static uint32_t walk_visit(struct heap_walk *walk, uint64_t address,
			   uint32_t parent, uint32_t edge, bool part)
{
	struct heap_graph *graph = walk->graph;
	if (!address)
		return 0;
	uint32_t node = heap_graph_find(graph, address);
	bool known = node && !graph->nodes.data[node].gone;
	if (!node) {
		node = heap_graph_add(graph, address);
		walk_classify(walk, node);
	}
	struct heap_node *it = &graph->nodes.data[node];
	part |= !is_looked_into(heap_class_at(graph, node), parent, edge);
	if (node < walk->n_added)
		walk->added[node]++;
	if (known) {
		it->references++;
		walk_meet_again(walk, node, parent, edge, part);
		return 0;
	}
	it->references = 1;
	it->gone = false;
	it->parent = parent;
	it->edge = edge;
	it->part = part;
	walk_copy(walk, node);
	return node;
}

static bool class_has_links(const struct heap_class *class)
{
	if (!class || class->kind == HEAP_SKIP || class->kind == HEAP_MIRROR)
		return false;
	return class->kind == HEAP_ARRAY ? class->element == 'L'
					 : class->n_links;
}

static void walk_reference(struct heap_walk *walk, uint32_t node,
			   const struct heap_slot *slot,
			   const struct heap_recipe *recipe)
{
	struct heap_graph *graph = walk->graph;
	const struct heap_node *it = &graph->nodes.data[node];
	struct heap_class *class = heap.classes.data[it->class];
	bool array = class->kind == HEAP_ARRAY, part;
	uint32_t parent = node, edge = slot->edge;
	if (recipe && it->part) {
		part = array ? !array_has_items(recipe)
			     : !link_has_item(class, recipe, slot->link);
		if (part) {
			edge = array && recipe->shape == SHAPE_TABLE ? edge
								     : it->edge;
			parent = it->parent;
		}
	} else {
		part = !array && !class->link_fields[slot->link]->compared;
		edge = part ? HEAP_NO_EDGE : edge;
	}
	uint32_t new = walk_visit(
		walk,
		heap_decode(graph->bytes.data +
			    (size_t)graph->nodes.data[node].bytes * 8 +
			    slot->offset),
		parent, edge, part);
	if (!new || !class_has_links(heap_class_at(graph, new)))
		return;
	if (part && recipe)
		HEAP_PUSH(&walk->parts, new);
	else
		HEAP_PUSH(&walk->queue, new);
}

static void walk_follow_all(struct heap_walk *walk, uint32_t node,
			    const struct heap_recipe *recipe)
{
	struct heap_slot slot;
	for (size_t at = 0; heap_slot_next(walk->graph, node, &at, &slot);)
		walk_reference(walk, node, &slot, recipe);
}

/* What was met of a container before it is another's turn. */
static void walk_parts(struct heap_walk *walk)
{
	for (size_t i = 0; i < walk->parts.n; i++) {
		uint32_t part = walk->parts.data[i];
		walk_follow_all(walk, part, part_recipe(walk->graph, part));
	}
	walk->parts.n = 0;
}

static const struct heap_recipe *node_recipe(const struct heap_graph *graph,
					     uint32_t node)
{
	const struct heap_class *class = heap_class_at(graph, node);
	if (graph->nodes.data[node].part)
		return part_recipe(graph, node);
	return heap_is_container(class) ? class->recipe : NULL;
}

void walk_slot(struct heap_walk *walk, uint32_t node,
	       const struct heap_slot *slot)
{
	walk_reference(walk, node, slot, node_recipe(walk->graph, node));
	walk_parts(walk);
}

void walk_rest(struct heap_walk *walk)
{
	for (size_t i = 0; i < walk->queue.n; i++) {
		uint32_t node = walk->queue.data[i];
		walk_follow_all(walk, node, node_recipe(walk->graph, node));
		walk_parts(walk);
	}
	walk->queue.n = 0;
}

/*
 * Those that were met before the last classes were learned. One whose class is
 * known now may stand for another one that is not: it is met again.
 */
static void walk_incomplete(struct heap_walk *walk)
{
	struct heap_graph *graph = walk->graph;
	size_t n = walk->incomplete.n;
	walk->late = true;
	for (size_t i = 0; i < n; i++) {
		uint32_t node = walk->incomplete.data[i];
		struct heap_node *it = &graph->nodes.data[node];
		if (!it->class)
			walk_classify(walk, node);
		const struct heap_class *class = heap_class_at(graph, node);
		it->part |= !is_looked_into(class, it->parent, it->edge);
		walk_copy(walk, node);
		if (class_has_links(class))
			HEAP_PUSH(&walk->queue, node);
	}
	if (n)
		memmove(walk->incomplete.data, walk->incomplete.data + n,
			(walk->incomplete.n - n) *
				sizeof(*walk->incomplete.data));
	walk->incomplete.n -= n;
	walk_rest(walk);
}

bool walk_complete(JNIEnv *env, struct heap_walk *walk)
{
	bool learned = true;
	while (walk->incomplete.n && learned) {
		heap_raw_release(env);
		learned = walk_learn_classes(env);
		if (!heap_raw_hold(env) || walk_has_moved())
			return false;
		walk_incomplete(walk);
	}
	unknown.n = 0;
	return true;
}

void heap_walk_free(struct heap_walk *walk)
{
	free(walk->queue.data);
	free(walk->parts.data);
	free(walk->incomplete.data);
	free(walk->adopters.data);
	walk->adopters = (struct heap_ways){};
}

const uint8_t *walk_root_slot(const struct heap_root *root)
{
	return (const uint8_t *)heap_raw_mirror_address(root->class) +
	       root->field.offset;
}

void walk_root(struct heap_walk *walk, size_t i)
{
	const struct heap_root *root = &heap.roots.data[i];
	const uint8_t *slot = walk_root_slot(root);
	memcpy(&walk->graph->roots[i], slot, heap_type_size(root->field.type));
	if (root->field.type != 'L')
		return;
	uint32_t new =
		walk_visit(walk, heap_decode(slot), 0, (uint32_t)i, false);
	if (new &&class_has_links(heap_class_at(walk->graph, new)))
		HEAP_PUSH(&walk->queue, new);
	walk_rest(walk);
}

void walk_new_roots(struct heap_walk *walk)
{
	struct heap_graph *graph = walk->graph;
	size_t had = graph->n_roots;
	if (had == heap.roots.n)
		return;
	uint64_t *roots = heap_zeroed(heap.roots.n, sizeof(*roots));
	if (had)
		memcpy(roots, graph->roots, had * sizeof(*roots));
	free(graph->roots);
	graph->roots = roots;
	graph->n_roots = heap.roots.n;
	for (size_t i = had; i < graph->n_roots; i++)
		walk_root(walk, i);
}

bool heap_walk(JNIEnv *env, struct heap_graph *graph)
{
	for (size_t i = 0; i < WALKS_MAX; i++) {
		struct heap_walk walk = { .graph = graph };
		heap_graph_free(graph);
		if (!heap_raw_hold(env))
			return false;
		graph_collections = heap_raw_collections();
		heap_pages_reset();
		walk_new_roots(&walk);
		/* Then once more: now all is met when it is its turn. */
		bool known = !walk.incomplete.n;
		if (known)
			heap_pages_index(graph);
		else
			walk_complete(env, &walk);
		graph->first_nodes = graph->nodes.n;
		heap_raw_release(env);
		heap_walk_free(&walk);
		if (known)
			return true;
	}
	return true;
}

bool walk_has_moved(void)
{
	return heap_raw_collections() != graph_collections;
}

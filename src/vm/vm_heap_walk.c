/*
 * Graphs out of the heap's memory. While it is read, a held array keeps the
 * collector from moving anything; other threads may go on.
 */
#include <stdlib.h>
#include <string.h>

#include "vm/vm_heap_internal.h"
#include "vm/vm_heap_pages.h"
#include "vm/vm_heap_raw.h"

/* Each time the classes that were met become known. */
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

static void klasses_learn(JNIEnv *env)
{
	for (size_t i = 0; i < unknown.n; i++) {
		struct heap_class *class =
			heap_class_of(env, heap_raw_mirror(unknown.data[i]));
		if (!class)
			continue;
		heap_class_prepare(env, class);
		klass_put(unknown.data[i], class->id);
	}
	unknown.n = 0;
}

/* ---- the walk ---- */

static void walk_visit(struct heap_graph *graph, uint64_t address,
		       uint32_t parent, uint32_t edge)
{
	if (!address || heap_graph_find(graph, address))
		return;
	uint32_t node = heap_graph_add(graph, address);
	uint64_t klass = heap_raw_klass_of(address);
	struct heap_node *it = &graph->nodes.data[node];
	it->parent = parent;
	it->edge = edge;
	it->class = klass_class(klass);
	if (!it->class)
		HEAP_PUSH(&unknown, klass);
}

static void walk_array(struct heap_graph *graph, uint32_t node,
		       const struct heap_class *class)
{
	const uint8_t *object =
		(const uint8_t *)graph->nodes.data[node].address;
	uint32_t length;
	memcpy(&length, object + heap.layout.array - sizeof(length),
	       sizeof(length));
	uint32_t base = heap_array_base(class->element);
	size_t size = base + (size_t)length * heap_type_size(class->element);
	graph->nodes.data[node].length = length;
	memcpy(heap_graph_bytes(graph, node, size), object, size);
	if (class->element != 'L')
		return;
	for (uint32_t i = 0; i < length; i++)
		walk_visit(graph,
			   heap_decode(object + base +
				       (size_t)i * heap.layout.reference),
			   node, i);
}

static void walk_node(struct heap_graph *graph, uint32_t node)
{
	const struct heap_class *class = heap_class_at(graph, node);
	const uint8_t *object =
		(const uint8_t *)graph->nodes.data[node].address;
	if (!class || class->kind == HEAP_SKIP)
		return;
	if (class->kind == HEAP_MIRROR) {
		uint64_t klass =
			heap_raw_mirror_klass(graph->nodes.data[node].address);
		graph->nodes.data[node].length = klass_class(klass);
		if (klass && !klass_class(klass))
			HEAP_PUSH(&unknown, klass);
		return;
	}
	if (class->kind == HEAP_ARRAY) {
		walk_array(graph, node, class);
		return;
	}
	memcpy(heap_graph_bytes(graph, node, class->size), object, class->size);
	for (size_t i = 0; i < class->n_links; i++)
		walk_visit(graph, heap_decode(object + class->links[i]), node,
			   class->links[i]);
}

static const uint8_t *root_slot(const struct heap_root *root)
{
	return (const uint8_t *)heap_raw_mirror_address(root->class) +
	       root->field.offset;
}

/* Those that @graph does not have yet, and what they lead to. */
static void walk_on(struct heap_graph *graph)
{
	size_t had = graph->n_roots, node = graph->nodes.n;
	uint64_t *roots = heap_zeroed(heap.roots.n, sizeof(*roots));
	if (had)
		memcpy(roots, graph->roots, had * sizeof(*roots));
	free(graph->roots);
	graph->roots = roots;
	graph->n_roots = heap.roots.n;
	for (size_t i = had; i < graph->n_roots; i++) {
		const struct heap_root *root = &heap.roots.data[i];
		const uint8_t *slot = root_slot(root);
		memcpy(&graph->roots[i], slot,
		       heap_type_size(root->field.type));
		if (root->field.type == 'L')
			walk_visit(graph, heap_decode(slot), 0, (uint32_t)i);
	}
	for (node = node ? node : 1; node < graph->nodes.n; node++)
		walk_node(graph, (uint32_t)node);
	if (!unknown.n)
		heap_pages_index(graph);
}

bool heap_walk(JNIEnv *env, struct heap_graph *graph)
{
	for (size_t i = 0; i < WALKS_MAX; i++) {
		heap_graph_free(graph);
		if (!heap_raw_hold(env))
			return false;
		graph_collections = heap_raw_collections();
		heap_pages_reset();
		walk_on(graph);
		heap_raw_release(env);
		if (!unknown.n)
			return true;
		klasses_learn(env);
	}
	return true;
}

/* ---- is it as it was? ---- */

bool heap_walk_node_same(const struct heap_graph *graph, uint32_t node)
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
	return true;
}

static bool roots_are_same(const struct heap_graph *graph)
{
	for (size_t i = 0; i < graph->n_roots; i++) {
		const struct heap_root *root = &heap.roots.data[i];
		if (memcmp(&graph->roots[i], root_slot(root),
			   heap_type_size(root->field.type)) != 0)
			return false;
	}
	return true;
}

bool heap_walk_same(JNIEnv *env, struct heap_graph *graph)
{
	if (!heap_raw_hold(env))
		return false;
	bool same = heap_raw_collections() == graph_collections &&
		    roots_are_same(graph) && heap_pages_same(graph);
	size_t had = graph->n_roots;
	if (same && had < heap.roots.n)
		walk_on(graph);
	heap_raw_release(env);
	/* It met classes that are not known: it has to be made anew. */
	if (unknown.n) {
		graph->n_roots = had;
		same = false;
	}
	klasses_learn(env);
	return same;
}

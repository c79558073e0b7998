/*
 * Containers of Abseil and Boost that are not of a common shape. Layouts were read
 * from Abseil 20220623 and Boost 1.74.
 */
#include <string.h>

#include "base/macro.h"
#include "state/containers_internal.h"

#define CONTROL_CHUNK 256
#define TABLE_MAX (1ULL << 32)
/* absl::container_internal::btree_node */
#define BTREE_NODE_SIZE 256
#define BTREE_MIN_SLOTS 4
#define BTREE_DEPTH_MAX 64

/* Elements one after the other, each found by a key. */
struct err *expand_keyed_sequence(struct expansion *x)
{
	const struct container *container = x->container;
	uint64_t first, n, size = container->element_size;
	if (!container_number(x, PLACE_FIRST, &first) ||
	    !container_number(x, PLACE_COUNT, &n) || n > x->max || !size ||
	    !container_fits(x->view, first, n * size))
		return NULL;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = first + i * size;
		TRY(container_push(x, at, at + container->key_offset));
	}
	x->sound = true;
	return NULL;
}

/*
 * raw_hash_set: a byte for each slot says whether it is full (not negative).
 * Slots are elements or, in node_hash_…, their addresses.
 */
static struct err *expand_slots(struct expansion *x, bool nodes)
{
	const struct container *container = x->container;
	uint64_t slots, control, size, capacity;
	uint64_t stride = nodes ? 8 : container->element_size;
	int8_t full[CONTROL_CHUNK];
	if (!container_number(x, PLACE_FIRST, &slots) ||
	    !container_number(x, PLACE_EXTRA, &control) ||
	    !container_number(x, PLACE_COUNT, &size) ||
	    !container_number(x, PLACE_LAST, &capacity) || size > capacity ||
	    capacity > TABLE_MAX || size > x->max || !stride)
		return NULL;
	if (nodes && size)
		TRY(container_structure(x, slots));
	for (uint64_t i = 0; i < capacity && size; i++) {
		uint64_t at = slots + i * stride;
		if (i % CONTROL_CHUNK == 0 &&
		    !view_read(x->view, control + i, full,
			       MIN(capacity - i, (uint64_t)CONTROL_CHUNK)))
			return NULL;
		if (full[i % CONTROL_CHUNK] < 0)
			continue;
		if (x->out->n == size ||
		    (nodes && !container_u64(x->view, at, &at)) ||
		    !container_fits(x->view, at, container->element_size))
			return NULL;
		TRY(container_push(x, at, at + container->key_offset));
	}
	x->sound = x->out->n == size;
	return NULL;
}

struct err *expand_absl_flat(struct expansion *x)
{
	return expand_slots(x, false);
}

struct err *expand_absl_node(struct expansion *x)
{
	return expand_slots(x, true);
}

/* absl::InlinedVector: twice the size, and whether it is in a block. */
struct err *expand_absl_inlined(struct expansion *x)
{
	const struct container *container = x->container;
	uint64_t at, words[2], size = container->element_size;
	if (!place_address(x->view, x->address, &container->places[PLACE_FIRST],
			   &at) ||
	    !view_read(x->view, at, words, sizeof(words)) || !size)
		return NULL;
	uint64_t n = words[0] >> 1;
	uint64_t align =
		type_get(x->containers->pool, container->element)->align;
	uint64_t first =
		words[0] & 1 ? words[1] : at + container_align(8, align);
	if (n > CONTAINER_BYTES_MAX / size ||
	    !container_fits(x->view, first, n * size))
		return NULL;
	TRY(container_push_run(x, first, n, container->element, size));
	x->sound = true;
	return NULL;
}

/* The parent's address, four bytes, slots, and children unless it is a leaf. */
struct btree_shape {
	uint64_t slots_at, children_at, size;
};

static struct btree_shape btree_find_shape(const struct expansion *x)
{
	const struct type *element =
		type_get(x->containers->pool, x->container->element);
	struct btree_shape shape = {
		.slots_at = container_align(12, element->align),
		.size = element->size,
	};
	uint64_t room = BTREE_NODE_SIZE -
			MIN((uint64_t)BTREE_NODE_SIZE, shape.slots_at);
	uint64_t slots = element->size ? room / element->size : 0;
	slots = MAX(slots, (uint64_t)BTREE_MIN_SLOTS);
	shape.children_at =
		container_align(shape.slots_at + slots * shape.size, 8);
	return shape;
}

static struct err *btree_push_node(struct expansion *x,
				   const struct btree_shape *shape,
				   uint64_t node, unsigned depth,
				   bool *ret_sound)
{
	struct {
		uint64_t parent;
		uint8_t position, start, finish, max_count;
	} header;
	*ret_sound = false;
	if (depth == BTREE_DEPTH_MAX ||
	    !view_read(x->view, node, &header, sizeof(header)) ||
	    header.start > header.finish || x->out->n > x->max)
		return NULL;
	*ret_sound = true;
	for (unsigned i = header.start; i <= header.finish && *ret_sound; i++) {
		uint64_t child = 0,
			 at = node + shape->slots_at + i * shape->size;
		if (!header.max_count) {
			*ret_sound = container_u64(
				x->view, node + shape->children_at + i * 8ULL,
				&child);
			if (*ret_sound)
				TRY(btree_push_node(x, shape, child, depth + 1,
						    ret_sound));
		}
		if (*ret_sound && i < header.finish)
			TRY(container_push(x, at,
					   at + x->container->key_offset));
	}
	return NULL;
}

struct err *expand_absl_btree(struct expansion *x)
{
	struct btree_shape shape = btree_find_shape(x);
	uint64_t root, size;
	bool sound = true;
	if (!container_number(x, PLACE_FIRST, &root) ||
	    !container_number(x, PLACE_COUNT, &size) || size > x->max ||
	    !shape.size)
		return NULL;
	if (size)
		TRY(btree_push_node(x, &shape, root, 0, &sound));
	x->sound = sound && x->out->n == size;
	return NULL;
}

/* boost::unordered: after the last bucket is the one that leads to all nodes. */
struct err *expand_boost_unordered(struct expansion *x)
{
	const struct container *container = x->container;
	uint64_t buckets, n_buckets, size, node;
	if (!container_number(x, PLACE_FIRST, &buckets) ||
	    !container_number(x, PLACE_EXTRA, &n_buckets) ||
	    !container_number(x, PLACE_COUNT, &size) || size > x->max ||
	    n_buckets > TABLE_MAX)
		return NULL;
	if (!size) {
		x->sound = true;
		return NULL;
	}
	TRY(container_structure(x, buckets));
	if (!container_u64(x->view, buckets + n_buckets * 8, &node))
		return NULL;
	while (node) {
		uint64_t value = node + container->value;
		if (x->out->n == size || node % 8)
			return NULL;
		TRY(container_push(x, value, value + container->key_offset));
		if (!container_u64(x->view, node, &node))
			return NULL;
	}
	x->sound = x->out->n == size;
	return NULL;
}

/* boost::circular_buffer: from the first one to the end, then from the start. */
struct err *expand_boost_circular(struct expansion *x)
{
	const struct container *container = x->container;
	uint64_t first, end, start, n, size = container->element_size;
	if (!container_number(x, PLACE_FIRST, &first) ||
	    !container_number(x, PLACE_LAST, &end) ||
	    !container_number(x, PLACE_EXTRA, &start) ||
	    !container_number(x, PLACE_COUNT, &n) || !size || end < start ||
	    n > x->max || n > (end - start) / size ||
	    (n && (first < start || first >= end)))
		return NULL;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = first + i * size;
		TRY(container_push(x, at < end ? at : at - (end - start), 0));
	}
	x->sound = container_fits(x->view, start, end - start);
	return NULL;
}

/*
 * Elements by shape. Everything read here may be nonsense: an expansion says
 * that it is sound only after all of it added up, and each loop is bounded by
 * what the memory really holds, or by x->max.
 */
#include <string.h>

#include "base/macro.h"
#include "state/containers_internal.h"

/* Red-black trees are at most twice as deep as the logarithm of their size. */
#define TREE_DEPTH_MAX 128

bool container_u64(const struct view *view, uint64_t address, uint64_t *ret)
{
	return view_read(view, address, ret, sizeof(*ret));
}

bool container_number(const struct expansion *x, enum recipe_place_index index,
		      uint64_t *ret)
{
	return place_read(x->view, x->address, &x->container->places[index],
			  ret);
}

/*
 * Is this memory there? Checks its first and last byte, and that it stays in
 * its heap block; the rest is checked when it is read.
 */
bool container_fits(const struct view *view, uint64_t address, uint64_t size)
{
	uint8_t byte;
	if (!size)
		return true;
	if (size > CONTAINER_BYTES_MAX || address > UINT64_MAX - size ||
	    !view_read(view, address, &byte, 1) ||
	    !view_read(view, address + size - 1, &byte, 1))
		return false;
	struct view_block block;
	if (!view->block || !view->block(view->data, address, &block) ||
	    address < block.start)
		return true;
	uint64_t in = address - block.start;
	/* One past another block's end: not in a known one. */
	return in >= block.size || size <= block.size - in;
}

struct err *container_push(struct expansion *x, uint64_t address, uint64_t key)
{
	struct container_element element = { .address = address,
					     .type = x->container->element,
					     .key = key,
					     .key_type = key ? x->container->key
							     : TYPE_UNKNOWN };
	return vec_push(x->out, element);
}

struct err *container_push_run(struct expansion *x, uint64_t first, uint64_t n,
			       type_id type, uint64_t stride)
{
	if (!n)
		return NULL;
	struct container_element element = { .address = first, .type = type };
	TRY(vec_push(x->out, element));
	x->out->run = n;
	x->out->stride = stride;
	return NULL;
}

void container_word(struct expansion *x, uint64_t word)
{
	BUG_ON(x->out->n_words == ARRAY_SIZE(x->out->words));
	x->out->words[x->out->n_words++] = word;
}

struct err *container_structure(struct expansion *x, uint64_t block)
{
	return vec_push(&x->out->structure, block);
}

static const struct type *first_type(const struct expansion *x)
{
	return type_get(x->containers->pool,
			x->container->places[PLACE_FIRST].type);
}

/* From first to last, or count of them; first may be the array itself. */
static struct err *expand_sequence(struct expansion *x)
{
	const struct container *container = x->container;
	const struct type *held = first_type(x);
	uint64_t first, n, size = container->element_size;
	bool array = held->kind == TYPE_ARRAY;
	if (array ? !place_address(x->view, x->address,
				   &container->places[PLACE_FIRST], &first)
		  : !container_number(x, PLACE_FIRST, &first))
		return NULL;
	if (container->places[PLACE_COUNT].known) {
		if (!container_number(x, PLACE_COUNT, &n))
			return NULL;
	} else {
		uint64_t last;
		if (!container_number(x, PLACE_LAST, &last) || last < first ||
		    (last - first) % size)
			return NULL;
		n = (last - first) / size;
	}
	if (n > CONTAINER_BYTES_MAX / size ||
	    (array && held->count != TYPE_NO_COUNT && n > held->count) ||
	    !container_fits(x->view, first, n * size))
		return NULL;
	TRY(container_push_run(x, first, n, container->element, size));
	x->sound = true;
	return NULL;
}

static uint64_t expansion_key_of(const struct expansion *x, uint64_t element)
{
	return x->container->recipe->keys == KEYS_NONE
		       ? 0
		       : element + x->container->key_offset;
}

/*
 * Nodes, until NULL or the head: lists that go in a circle end at the node that
 * the container itself holds (its link is the place of the first one's
 * address), or at the first node again.
 */
static struct err *expand_chain(struct expansion *x)
{
	const struct container *container = x->container;
	uint64_t place, node, count = UINT64_MAX;
	if (!place_address(x->view, x->address, &container->places[PLACE_FIRST],
			   &place) ||
	    !container_number(x, PLACE_FIRST, &node))
		return NULL;
	if (container->places[PLACE_COUNT].known &&
	    !container_number(x, PLACE_COUNT, &count))
		return NULL;
	uint64_t head = place - container->next;
	/* A circle that the head is not part of is met again here (Brent). */
	uint64_t seen = 0, n = 0, lap = 1;
	const uint64_t first = node;
	while (node && node != head) {
		if (n == count || n == x->max || node % 8 || node == seen)
			return NULL;
		if (n == lap) {
			seen = node;
			lap *= 2;
		}
		uint64_t value = node + container->value, next;
		if (!container_u64(x->view, node + container->next, &next))
			return NULL;
		TRY(container_push(x, value, expansion_key_of(x, value)));
		n++;
		node = next;
		if (node == first && container->recipe->user)
			break;
	}
	x->sound = count == UINT64_MAX || n == count;
	return NULL;
}

/* In order, from the root down, with a stack of what is still to come. */
struct err *container_expand_tree(struct expansion *x)
{
	const struct container *container = x->container;
	struct {
		uint64_t node, right;
	} stack[TREE_DEPTH_MAX];
	uint64_t node, count, links[2]; /* left and right lie together */
	unsigned depth = 0;
	if (!container_number(x, PLACE_FIRST, &node) ||
	    !container_number(x, PLACE_COUNT, &count) || count > x->max)
		return NULL;
	BUG_ON(container->right != container->next + sizeof(links[0]));
	while (node || depth) {
		while (node) {
			if (depth == TREE_DEPTH_MAX || node % 8 ||
			    !view_read(x->view, node + container->next, links,
				       sizeof(links)))
				return NULL;
			stack[depth].node = node;
			stack[depth++].right = links[1];
			node = links[0];
		}
		depth--;
		if (x->out->n == count)
			return NULL;
		uint64_t value = stack[depth].node + container->value;
		TRY(container_push(x, value, expansion_key_of(x, value)));
		node = stack[depth].right;
	}
	x->sound = x->out->n == count;
	return NULL;
}

struct err *container_push_target(struct expansion *x, uint64_t target)
{
	uint8_t byte;
	if (target) {
		if (!view_read(x->view, target, &byte, 1))
			return NULL;
		TRY(container_push(x, target, 0));
	}
	x->sound = true;
	return NULL;
}

/* What it points to; the walk finds the dynamic type and the extent. */
static struct err *expand_pointer(struct expansion *x)
{
	uint64_t target;
	if (!container_number(x, PLACE_FIRST, &target))
		return NULL;
	return container_push_target(x, target);
}

static struct err *expand_optional(struct expansion *x)
{
	uint64_t engaged, value;
	if (!container_number(x, PLACE_COUNT, &engaged) ||
	    (engaged > 1 && !x->container->recipe->user) ||
	    !place_address(x->view, x->address,
			   &x->container->places[PLACE_FIRST], &value))
		return NULL;
	container_word(x, engaged != 0);
	if (engaged)
		TRY(container_push(x, value, 0));
	x->sound = true;
	return NULL;
}

static struct err *expand_variant(struct expansion *x)
{
	const struct container *container = x->container;
	uint64_t index, value;
	if (!container_number(x, PLACE_COUNT, &index) ||
	    !place_address(x->view, x->address, &container->places[PLACE_FIRST],
			   &value))
		return NULL;
	/* All ones, in as many bits as it has: without a value. */
	unsigned size = container->places[PLACE_COUNT].size;
	bool none = index == UINT64_MAX >> (64 - 8 * size);
	container_word(x, none ? UINT64_MAX : index);
	if (!none) {
		type_id type;
		TRY(container_argument(x->containers, container->type,
				       (size_t)index, &type));
		if (type == TYPE_UNKNOWN)
			return NULL;
		TRY(container_push(x, value, 0));
		x->out->data[0].type = type;
	}
	x->sound = true;
	return NULL;
}

struct err *container_expand_shape(struct expansion *x)
{
	const struct container_recipe *recipe = x->container->recipe;
	if (recipe->expand)
		return recipe->expand(x);
	switch (recipe->shape) {
	case CONTAINER_SEQUENCE:
	case CONTAINER_TEXT:
		return expand_sequence(x);
	case CONTAINER_CHAIN:
		return expand_chain(x);
	case CONTAINER_TREE:
		return container_expand_tree(x);
	case CONTAINER_POINTER:
		return expand_pointer(x);
	case CONTAINER_OPTIONAL:
		return expand_optional(x);
	case CONTAINER_VARIANT:
		return expand_variant(x);
	case CONTAINER_SKIP:
		x->sound = true;
		return NULL;
	case CONTAINER_BITS:
	case CONTAINER_BLOCKS:
	case CONTAINER_FUNCTION:
	case CONTAINER_TABLE:
	case CONTAINER_SPECIAL:
		break;
	}
	BUG("the row of '%s' has no code for its shape", recipe->type);
}

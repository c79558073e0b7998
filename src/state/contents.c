/* Comparing containers: by content, not by how they hold it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "state/compare_internal.h"
#include "state/recipes.h"

struct both {
	struct container_contents before, after;
};

static struct err *contents_report_count(struct compare *compare,
					 uint32_t place,
					 const struct leaf *leaf, uint64_t was,
					 uint64_t is, uint32_t stack)
{
	char before[48], after[48];
	snprintf(before, sizeof(before), "%" PRIu64 " element%s", was,
		 was == 1 ? "" : "s");
	snprintf(after, sizeof(after), "%" PRIu64 " element%s", is,
		 is == 1 ? "" : "s");
	struct difference_report told = {
		.leaf = leaf, .before = before, .after = after, .stack = stack
	};
	return compare_report(compare, place, &told);
}

static uint32_t stack_of(const struct compare *compare, uint64_t address)
{
	struct target target;
	walk_target(compare->state, compare->after, TYPE_UNKNOWN, address,
		    &target);
	return target.kind == TARGET_BLOCK ? target.stack : 0;
}

/* Its block, or the one it is in, stands for itself. */
static struct err *contents_keep_block(struct compare *compare, uint32_t place,
				       const struct leaf *leaf,
				       uint64_t address)
{
	struct target target;
	uint64_t known;
	walk_target(compare->state, compare->after, TYPE_UNKNOWN, address,
		    &target);
	if (target.kind != TARGET_BLOCK ||
	    map_u64_get(&compare->forward, target.start, &known) ||
	    map_u64_get(&compare->backward, target.start, &known))
		return NULL;
	TRY(map_u64_put(&compare->forward, target.start, target.start));
	TRY(map_u64_put(&compare->backward, target.start, target.start));
	uint32_t node = nodes_find(&compare->state->nodes, target.start);
	return node == NODE_NONE
		       ? NULL
		       : compare_adopt(compare, node, place, leaf->offset);
}

/* An element on both sides; compared at once where it leads nowhere. */
static struct err *compare_element(struct compare *compare, uint32_t place,
				   const struct leaf *leaf,
				   const struct container_element *was,
				   const struct container_element *is,
				   uint64_t count, uint32_t index)
{
	struct state *state = compare->state;
	const struct compare_place owner = compare->places.data[place];
	uint64_t own = owner.shape.start + leaf->offset;
	bool inside = is->address >= own && is->address < own + leaf->size;
	/* One that stayed where it is: what was written there decides. */
	if (was->address == is->address && !inside)
		return contents_keep_block(compare, place, leaf, is->address);
	if (was->type != is->type)
		return contents_report_count(compare, place, leaf, 1, 1, 0);
	struct target before, after;
	walk_target(state, compare->before, TYPE_UNKNOWN, was->address,
		    &before);
	walk_target(state, compare->after, TYPE_UNKNOWN, is->address, &after);
	bool single = container_recipe_shape(container_recipe(state->containers,
							      leaf->type)) !=
		      CONTAINER_BLOCKS;
	if (before.kind == TARGET_BLOCK && after.kind == TARGET_BLOCK &&
	    !inside && single) {
		bool fresh, equal;
		TRY(compare_pair(compare, place, leaf, before.start,
				 after.start, &fresh, &equal));
		if (!equal)
			return NULL;
	}
	uint64_t size = type_get(state->pool, is->type)->size * count;
	struct compare_place element = {
		.shape = {
			.start = is->address,
			.size = size,
			.count = count,
			.edge = leaf->offset,
			.type = is->type,
			.index = index,
			.root = owner.shape.root,
			.kind = inside ? owner.shape.kind : NODE_BLOCK,
			.flags = NODE_PART,
		},
		.before = was->address,
		.before_size = size,
		.node = NODE_NONE,
		.parent = place,
		.key = is->key,
		.key_type = is->key_type,
	};
	uint32_t id = (uint32_t)compare->places.n;
	TRY(vec_push(&compare->places, element));
	if (layout_has_pointers(&state->layout, is->type))
		return NULL; /* in its turn */
	TRY(compare_place(compare, id));
	if (compare->places.n == (size_t)id + 1)
		compare->places.n = id;
	return NULL;
}

static uint64_t count_of(const struct container_contents *contents)
{
	return contents->run && contents->n ? contents->run : contents->n;
}

/* What the container had and has no more: others may have it now. */
static struct err *drop_elements(struct compare *compare,
				 const struct both *both)
{
	_cleanup_(map_u64_freep) struct map_u64 kept = MAP_INIT;
	struct target target;
	uint64_t known;
	for (size_t i = 0; i < both->after.n; i++) {
		walk_target(compare->state, compare->after, TYPE_UNKNOWN,
			    both->after.data[i].address, &target);
		if (target.kind == TARGET_BLOCK)
			TRY(map_u64_put(&kept, target.start, 1));
	}
	for (size_t i = 0; i < both->before.n; i++) {
		walk_target(compare->state, compare->before, TYPE_UNKNOWN,
			    both->before.data[i].address, &target);
		if (target.kind == TARGET_BLOCK &&
		    !map_u64_get(&kept, target.start, &known))
			TRY(vec_push(&compare->removed, target.start));
	}
	return NULL;
}

static struct err *compare_ordered(struct compare *compare, uint32_t place,
				   const struct leaf *leaf,
				   const struct both *both, bool *ret)
{
	const struct container_contents *was = &both->before,
					*is = &both->after;
	uint64_t n = count_of(was), m = count_of(is);
	if (n != m) {
		*ret = true;
		uint32_t stack =
			m > n ? stack_of(compare, is->data[is->n - 1].address)
			      : 0;
		return contents_report_count(compare, place, leaf, n, m, stack);
	}
	for (size_t i = 0; i < is->n && i < was->n; i++)
		TRY(compare_element(compare, place, leaf, &was->data[i],
				    &is->data[i], is->run ? is->run : 1,
				    (uint32_t)i));
	return NULL;
}

struct keyed_element {
	uint64_t hash;
	size_t element;
	bool used;
};

static int by_hash(const void *a, const void *b)
{
	const struct keyed_element *x = a, *y = b;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->element < y->element ? -1 : x->element > y->element;
}

static uint64_t element_hash(struct compare *compare, const struct view *view,
			     const struct container_element *element)
{
	if (element->key)
		return describe_hash(compare->state, view, element->key_type,
				     element->key, 0);
	return describe_hash(compare->state, view, element->type,
			     element->address, 0);
}

static const struct type_member *value_member(const struct state *state,
					      type_id id)
{
	const struct type *type = type_get(state->pool, id);
	for (uint32_t i = 0; i < type->n_members; i++) {
		if (!strcmp(type->members[i].name, "second"))
			return &type->members[i];
	}
	return NULL;
}

/* Something that only one side has. */
static struct err *report_single(struct compare *compare, uint32_t place,
				 const struct leaf *leaf,
				 const struct container_element *element,
				 bool added)
{
	struct state *state = compare->state;
	const struct view *view = added ? compare->after : compare->before;
	uint64_t size = type_get(state->pool, element->type)->size;
	struct compare_place single = {
		.shape = {
			.start = element->address,
			.size = size,
			.count = 1,
			.edge = leaf->offset,
			.type = element->type,
			.root = compare->places.data[place].shape.root,
			.kind = NODE_BLOCK,
			.flags = NODE_PART,
		},
		.before = element->address,
		.before_size = size,
		.node = NODE_NONE,
		.parent = place,
		.key = element->key ? element->key : element->address,
		.key_type = element->key ? element->key_type : element->type,
		.key_gone = !added,
	};
	uint32_t id = (uint32_t)compare->places.n;
	TRY(vec_push(&compare->places, single));
	_cleanup_(freep) char *value = NULL;
	struct leaf whole = { LEAF_WORDS, element->type, 0, size, 0, 0 };
	/* m["key"] is the second of a pair. */
	const struct type_member *second =
		element->key ? value_member(state, element->type) : NULL;
	if (second) {
		whole.type = second->type;
		whole.offset = second->offset;
		whole.size = type_get(state->pool, second->type)->size;
	}
	TRY(describe_object(state, view, whole.type,
			    element->address + whole.offset, whole.size,
			    &value));
	struct difference_report told = {
		.leaf = &whole,
		.before = added ? "(absent)" : value,
		.after = added ? value : "(absent)",
		.stack = added ? stack_of(compare, element->address) : 0,
	};
	TRY(compare_report(compare, id, &told));
	if (compare->places.n == (size_t)id + 1)
		compare->places.n = id;
	return NULL;
}

/* Nothing was written to the pages of it. */
static bool is_untouched(const struct compare *compare, uint64_t address,
			 uint64_t size)
{
	uint64_t page = address & ~(uint64_t)(VIEW_PAGE - 1);
	for (; page < address + MAX(size, (uint64_t)1); page += VIEW_PAGE) {
		if (compare->before->page(compare->before->data, page) !=
		    compare->after->page(compare->after->data, page))
			return false;
	}
	return true;
}

/* Is it the same element, by its key, that is at this address? */
static bool contents_is_same_element(struct compare *compare,
				     const struct container_element *was,
				     const struct container_element *is)
{
	uint64_t size = type_get(compare->state->pool, is->type)->size;
	if (was->key != is->key || was->type != is->type)
		return false;
	return is_untouched(compare, is->address, size) ||
	       element_hash(compare, compare->before, was) ==
		       element_hash(compare, compare->after, is);
}

/* Elements that stayed where they are need not be searched for. */
static struct err *left_over(struct compare *compare, uint32_t place,
			     const struct leaf *leaf, const struct view *view,
			     const struct container_contents *contents,
			     const struct container_contents *other,
			     const struct map_u64 *others,
			     struct keyed_element **ret, size_t *ret_n)
{
	bool after = view == compare->after;
	VEC(struct keyed_element) left = VEC_INIT;
	for (size_t i = 0; i < contents->n; i++) {
		const struct container_element *element = &contents->data[i];
		uint64_t known;
		if (map_u64_get(others, element->address, &known) &&
		    (after ? contents_is_same_element(
				     compare, &other->data[known], element)
			   : contents_is_same_element(compare, element,
						      &other->data[known]))) {
			struct err *err = contents_keep_block(
				compare, place, leaf, element->address);
			if (err) {
				vec_free(&left);
				return err;
			}
			continue;
		}
		struct keyed_element keyed = {
			element_hash(compare, view, element), i, false
		};
		struct err *err = vec_push(&left, keyed);
		if (err) {
			vec_free(&left);
			return err;
		}
	}
	if (left.n)
		qsort(left.data, left.n, sizeof(struct keyed_element), by_hash);
	*ret = left.data;
	*ret_n = left.n;
	return NULL;
}

static struct err *contents_match_elements(struct compare *compare,
					   uint32_t place,
					   const struct leaf *leaf,
					   const struct both *both,
					   struct keyed_element *was, size_t n,
					   struct keyed_element *is, size_t m)
{
	size_t i = 0, j = 0;
	while (i < n || j < m) {
		bool removed = j == m || (i < n && was[i].hash < is[j].hash);
		bool added = i == n || (j < m && is[j].hash < was[i].hash);
		if (removed) {
			TRY(report_single(compare, place, leaf,
					  &both->before.data[was[i++].element],
					  false));
		} else if (added) {
			TRY(report_single(compare, place, leaf,
					  &both->after.data[is[j++].element],
					  true));
		} else {
			uint32_t index = (uint32_t)is[j].element;
			TRY(compare_element(
				compare, place, leaf,
				&both->before.data[was[i++].element],
				&both->after.data[is[j++].element], 1, index));
		}
	}
	return NULL;
}

static struct err *
contents_map_addresses(const struct container_contents *contents,
		       struct map_u64 *ret)
{
	for (size_t i = 0; i < contents->n; i++)
		TRY(map_u64_put(ret, contents->data[i].address, i));
	return NULL;
}

/* By key, or by value where there are none; the order does not count. */
static struct err *compare_matching(struct compare *compare, uint32_t place,
				    const struct leaf *leaf,
				    const struct both *both)
{
	_cleanup_(map_u64_freep) struct map_u64 befores = MAP_INIT;
	_cleanup_(map_u64_freep) struct map_u64 afters = MAP_INIT;
	_cleanup_(freep) struct keyed_element *was = NULL, *is = NULL;
	size_t n = 0, m = 0;
	TRY(contents_map_addresses(&both->before, &befores));
	TRY(contents_map_addresses(&both->after, &afters));
	TRY(left_over(compare, place, leaf, compare->before, &both->before,
		      &both->after, &afters, &was, &n));
	TRY(left_over(compare, place, leaf, compare->after, &both->after,
		      &both->before, &befores, &is, &m));
	return contents_match_elements(compare, place, leaf, both, was, n, is,
				       m);
}

static struct err *compare_characters(struct compare *compare, uint32_t place,
				      const struct leaf *leaf,
				      const struct both *both)
{
	const struct container_contents *was = &both->before,
					*is = &both->after;
	uint64_t unit = MAX(is->n ? is->stride : was->stride, (uint64_t)1);
	return compare_texts(
		compare, place, leaf, unit, was->n ? was->data[0].address : 0,
		count_of(was) * unit, is->n ? is->data[0].address : 0,
		count_of(is) * unit, 0);
}

static struct err *report_bit(struct compare *compare, uint32_t place,
			      const struct leaf *leaf, uint64_t address,
			      uint64_t bit, bool is)
{
	struct compare_place single = {
		.shape = {
			.start = address,
			.size = 1,
			.count = 1,
			.edge = leaf->offset,
			.type = compare->places.data[place].shape.type,
			.index = (uint32_t)bit,
			.root = compare->places.data[place].shape.root,
			.kind = NODE_BLOCK,
			.flags = NODE_PART | NODE_BIT,
		},
		.before = address,
		.before_size = 1,
		.node = NODE_NONE,
		.parent = place,
	};
	struct leaf whole = { .kind = LEAF_NUMBER,
			      .size = 1,
			      .bit_offset = (uint8_t)(bit % 8) };
	struct difference_report told = { .leaf = &whole,
					  .before = is ? "false" : "true",
					  .after = is ? "true" : "false" };
	uint32_t id = (uint32_t)compare->places.n;
	TRY(vec_push(&compare->places, single));
	TRY(compare_report(compare, id, &told));
	if (compare->places.n == (size_t)id + 1)
		compare->places.n = id;
	return NULL;
}

/* Where the bits of a vector<bool> are; 0: it has none. */
static uint64_t contents_first_bit(const struct container_contents *contents)
{
	if (contents->n)
		return contents->data[0].address;
	return contents->structure.n ? contents->structure.data[0] : 0;
}

/* vector<bool>: words[0] bits in bytes one after the other. */
static struct err *compare_bits(struct compare *compare, uint32_t place,
				const struct leaf *leaf,
				const struct both *both)
{
	uint64_t n = both->after.n_words ? both->after.words[0] : 0;
	uint64_t was = contents_first_bit(&both->before);
	uint64_t is = contents_first_bit(&both->after);
	for (uint64_t i = 0; was && is && i < n; i++) {
		uint8_t a = 0, b = 0;
		uint64_t at = is + i / 8;
		if (!view_read(compare->before, was + i / 8, &a, 1) ||
		    !view_read(compare->after, at, &b, 1))
			return NULL;
		if (a == b) {
			i |= 7; /* the next byte */
			continue;
		}
		if ((a ^ b) >> i % 8 & 1)
			TRY(report_bit(compare, place, leaf, at, i,
				       b >> i % 8 & 1));
	}
	return NULL;
}

static struct err *compare_contents(struct compare *compare, uint32_t place,
				    const struct leaf *leaf,
				    enum container_shape shape,
				    const struct both *both, bool *ret)
{
	const struct container_contents *was = &both->before,
					*is = &both->after;
	struct difference_report told = { .leaf = leaf };
	if (shape == CONTAINER_BITS && was->n_words && is->n_words &&
	    was->words[0] != is->words[0])
		return contents_report_count(compare, place, leaf,
					     was->words[0], is->words[0], 0);
	if (was->n_words != is->n_words ||
	    (shape != CONTAINER_BITS &&
	     memcmp(was->words, is->words, is->n_words * sizeof(uint64_t))))
		return compare_report(compare, place, &told);
	switch (shape) {
	case CONTAINER_SKIP:
		return NULL;
	case CONTAINER_TEXT:
		return compare_characters(compare, place, leaf, both);
	case CONTAINER_BITS:
		return compare_bits(compare, place, leaf, both);
	case CONTAINER_POINTER: {
		if (!was->n && !is->n)
			return NULL;
		type_id type = is->n ? is->data[0].type : was->data[0].type;
		return compare_pointer(compare, place, leaf, type,
				       was->n ? was->data[0].address : 0,
				       is->n ? is->data[0].address : 0);
	}
	default:
		break;
	}
	bool keyed = (was->n && was->data[0].key && !was->run) ||
		     (is->n && is->data[0].key && !is->run);
	if (keyed || was->unordered || is->unordered)
		return compare_matching(compare, place, leaf, both);
	return compare_ordered(compare, place, leaf, both, ret);
}

struct members {
	struct compare *compare;
	uint32_t place;
};

static struct err *compare_member(void *data, const struct leaf *leaf)
{
	struct members *members = data;
	return compare_leaf(members->compare, members->place, leaf);
}

static struct err *contents_compare_plain(struct compare *compare,
					  uint32_t place,
					  const struct leaf *leaf)
{
	struct members members = { compare, place };
	struct layout_object object = {
		.type = leaf->type,
		.offset = leaf->offset,
		.size = leaf->size,
		.view = compare->after,
		.address =
			compare->places.data[place].shape.start + leaf->offset,
	};
	return layout_visit(&compare->state->layout, &object, leaf->offset,
			    leaf->offset + leaf->size, LAYOUT_PLAIN,
			    compare_member, &members);
}

struct err *compare_container(struct compare *compare, uint32_t id,
			      const struct leaf *leaf, bool *ret)
{
	struct state *state = compare->state;
	const struct compare_place place = compare->places.data[id];
	uint64_t is = place.shape.start + leaf->offset;
	uint64_t was = place.before + leaf->offset;
	uint64_t known;
	*ret = false;
	if (was == is && map_u64_get(&compare->containers, is, &known)) {
		*ret = known == CONTAINER_DIFFERENT;
		return NULL;
	}
	struct both both = {};
	bool sound_was = false, sound_is = false;
	enum container_shape shape = container_recipe_shape(
		container_recipe(state->containers, leaf->type));
	struct err *err = NULL;
	if (shape != CONTAINER_SKIP) {
		err = container_expand(state->containers, leaf->type,
				       compare->before, was, ELEMENTS_MAX,
				       &both.before, &sound_was);
		if (!err)
			err = container_expand(state->containers, leaf->type,
					       compare->after, is, ELEMENTS_MAX,
					       &both.after, &sound_is);
		if (!err && sound_was && sound_is)
			err = compare_contents(compare, id, leaf, shape, &both,
					       ret);
		else if (!err)
			err = contents_compare_plain(compare, id, leaf);
	}
	if (!err && sound_was && shape != CONTAINER_POINTER)
		err = drop_elements(compare, &both);
	/* A container in the same place: what an optional holds, say. */
	bool nested = both.after.n && both.after.data[0].address == is;
	container_contents_free(&both.before);
	container_contents_free(&both.after);
	compare_forget_ways(compare);
	if (!err && was == is && (*ret || !nested))
		err = map_u64_put(&compare->containers, is,
				  *ret ? CONTAINER_DIFFERENT : CONTAINER_EQUAL);
	return err;
}

static struct err *compare_stayed_elements(struct compare *compare,
					   const struct touched *touched,
					   const struct both *both)
{
	_cleanup_(map_u64_freep) struct map_u64 befores = MAP_INIT;
	const struct node node =
		*nodes_get(&compare->state->nodes, touched->node);
	TRY(contents_map_addresses(&both->before, &befores));
	for (size_t i = 0; i < both->after.n; i++) {
		const struct container_element *is = &both->after.data[i];
		uint64_t size = type_get(compare->state->pool, is->type)->size;
		uint64_t at = is->address - node.start, was;
		struct touched part = {
			.node = touched->node,
			.from = MAX(touched->from, at),
			.to = MIN(touched->to, at + size),
		};
		if (is->address >= node.start && part.from < part.to &&
		    map_u64_get(&befores, is->address, &was) &&
		    contents_is_same_element(compare, &both->before.data[was],
					     is))
			TRY(compare_written(compare, &part));
	}
	return NULL;
}

struct err *compare_stayed(struct compare *compare,
			   const struct touched *touched,
			   const struct leaf *leaf, bool *ret)
{
	struct state *state = compare->state;
	const struct node *node = nodes_get(&state->nodes, touched->node);
	uint64_t address =
		nodes_get(&state->nodes, node->parent)->start + leaf->offset;
	struct both both = {};
	bool sound_was = false, sound_is = false;
	*ret = true;
	if (!container_recipe(state->containers, leaf->type)->unordered)
		return NULL;
	struct err *err = container_expand(
		state->containers, leaf->type, compare->before, address,
		ELEMENTS_MAX, &both.before, &sound_was);
	if (!err)
		err = container_expand(state->containers, leaf->type,
				       compare->after, address, ELEMENTS_MAX,
				       &both.after, &sound_is);
	*ret = !sound_was || !sound_is;
	if (!err && !*ret)
		err = compare_stayed_elements(compare, touched, &both);
	container_contents_free(&both.before);
	container_contents_free(&both.after);
	return err;
}

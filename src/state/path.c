/* Access paths: from a root to a place, written as C. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "state/compare_internal.h"

/* Steps that are written out at each end of a long path. */
#define STEPS_NEAR 12
#define STEPS_FAR 6
/* Edges that are checked before a long path is believed. */
#define STEPS_MAX 100000

/* One object on the way, and which of its bytes the way leaves by. */
struct path_step {
	struct node shape;
	uint64_t offset;
	uint64_t key;
	type_id key_type;
	bool key_gone;
};

struct steps {
	struct path_step near[STEPS_NEAR]; /* from the leaf upwards */
	struct path_step
		far[STEPS_FAR]; /* a ring: the last ones, at the root */
	size_t n;
	bool cut; /* some were never looked at */
};

static void push_step(struct steps *steps, const struct path_step *step)
{
	if (steps->n < STEPS_NEAR)
		steps->near[steps->n] = *step;
	else
		steps->far[steps->n % STEPS_FAR] = *step;
	steps->n++;
}

static const struct path_step *get_step(const struct steps *steps, size_t i)
{
	return i < STEPS_NEAR ? &steps->near[i] : &steps->far[i % STEPS_FAR];
}

/* ---- inside one object ---- */

const struct type_member *path_member_at(const struct type_pool *pool,
					 const struct type *type,
					 uint64_t offset, uint8_t bit)
{
	const struct type_member *found = NULL;
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *member = &type->members[i];
		uint64_t size = type_get(pool, member->type)->size;
		if (member->virtual_base || offset < member->offset)
			continue;
		if (member->bit_size) {
			if (member->offset == offset &&
			    member->bit_offset == bit)
				return member;
			continue;
		}
		if (offset < member->offset + size ||
		    (!size && offset >= member->offset &&
		     i + 1 == type->n_members))
			found = member;
	}
	return found;
}

/* The virtual base that contains @offset: only the object knows where it is. */
static const struct type_member *
virtual_base_at(const struct state *state, const struct view *view,
		const struct type *type, uint64_t address, uint64_t offset,
		uint64_t *ret_start)
{
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *member = &type->members[i];
		uint64_t vptr = walk_word(view, address);
		if (!member->virtual_base || !vptr)
			continue;
		uint64_t start =
			walk_word(view, vptr + (uint64_t)member->vtable_offset);
		uint64_t size = type_get(state->pool, member->type)->size;
		if (offset < start || offset - start >= size)
			continue;
		*ret_start = start;
		return member;
	}
	return NULL;
}

/* ".name[3].first"; @address: of the object, for its virtual bases. */
static struct err *write_members(const struct state *state,
				 const struct view *view, uint64_t address,
				 struct str *out, type_id id, uint64_t offset,
				 uint8_t bit)
{
	for (unsigned depth = 0; depth < 2 * TYPE_DEPTH_MAX; depth++) {
		const struct type *type = type_get(state->pool, id);
		if (type->kind == TYPE_ARRAY) {
			const struct type *element =
				type_get(state->pool, type->target);
			if (!element->size || element->kind == TYPE_CHAR)
				return NULL;
			TRY(str_appendf(out, "[%" PRIu64 "]",
					offset / element->size));
			address += offset - offset % element->size;
			offset %= element->size;
			id = type->target;
			continue;
		}
		if (container_recipe(state->containers, id))
			return NULL;
		if (type->kind == TYPE_UNION || type->kind == TYPE_OPAQUE) {
			id = walk_class_at((void *)state, view, address,
					   type->size);
			if (id == TYPE_UNKNOWN)
				return NULL;
			continue;
		}
		if (type->kind != TYPE_STRUCT)
			return NULL;
		const struct type_member *member =
			path_member_at(state->pool, type, offset, bit);
		uint64_t start;
		if (!member) {
			member = virtual_base_at(state, view, type, address,
						 offset, &start);
			if (!member)
				return NULL;
			address += start;
			offset -= start;
			id = member->type;
			continue;
		}
		if (*member->name && !member->base && !walk_is_wrapper(type))
			TRY(str_appendf(out, ".%s", member->name));
		if (member->bit_size)
			return NULL;
		address += member->offset;
		offset -= member->offset;
		id = member->type;
	}
	return NULL;
}

static struct err *write_key(struct compare *compare,
			     const struct path_step *step, struct str *out)
{
	const struct view *view =
		step->key_gone ? compare->before : compare->after;
	uint64_t size = type_get(compare->state->pool, step->key_type)->size;
	_cleanup_(freep) char *text = NULL;
	TRY(describe_object(compare->state, view, step->key_type, step->key,
			    size, &text));
	return str_appendf(out, "[%s]", text);
}

bool path_descend(const struct type_pool *pool, type_id *id, uint64_t *offset)
{
	const struct type *type = type_get(pool, *id);
	if (type->kind == TYPE_ARRAY && type_get(pool, type->target)->size) {
		*offset %= type_get(pool, type->target)->size;
		*id = type->target;
		return true;
	}
	if (type->kind != TYPE_STRUCT)
		return false;
	const struct type_member *member =
		path_member_at(pool, type, *offset, 0);
	if (!member || member->bit_size)
		return false;
	*offset -= member->offset;
	*id = member->type;
	return true;
}

/* The container that a step leaves by: its type, and where it begins. */
static bool container_of_step(const struct state *state,
			      const struct path_step *step, type_id *ret,
			      uint64_t *ret_start)
{
	type_id id = step->shape.type;
	uint64_t offset = step->offset - step->shape.typed;
	for (unsigned depth = 0; depth < 2 * TYPE_DEPTH_MAX; depth++) {
		const struct type *type = type_get(state->pool, id);
		if (depth == 0 && type->size)
			offset %= type->size;
		if (container_recipe(state->containers, id)) {
			*ret = id;
			*ret_start = step->shape.start + step->offset - offset;
			return true;
		}
		if (!path_descend(state->pool, &id, &offset))
			return false;
	}
	return false;
}

static enum container_shape shape_of_owner(const struct state *state,
					   const struct path_step *owner)
{
	type_id id;
	uint64_t start;
	return container_of_step(state, owner, &id, &start)
		       ? container_recipe_shape(
				 container_recipe(state->containers, id))
		       : CONTAINER_SPECIAL;
}

/* What the container itself says its part is found by. */
static struct err *find_key(struct compare *compare,
			    const struct path_step *owner,
			    struct path_step *part)
{
	struct state *state = compare->state;
	struct container_contents contents = {};
	type_id id;
	uint64_t start;
	if (!container_of_step(state, owner, &id, &start))
		return NULL;
	bool sound = false;
	struct err *err =
		container_expand(state->containers, id, compare->after, start,
				 ELEMENTS_MAX, &contents, &sound);
	uint64_t at = part->shape.start + part->offset;
	for (size_t i = 0; !err && sound && i < contents.n; i++) {
		const struct container_element *element = &contents.data[i];
		uint64_t size = type_get(state->pool, element->type)->size;
		uint64_t n = contents.run ? contents.run : 1;
		if (at < element->address ||
		    at - element->address >= MAX(size, 1UL) * n)
			continue;
		/* Several are in one block: it counts from this one. */
		if (!contents.run)
			part->shape.typed =
				element->address - part->shape.start;
		part->shape.index = (uint32_t)i;
		part->key = element->key;
		part->key_type = element->key_type;
		break;
	}
	container_contents_free(&contents);
	return err;
}

/*
 * @out names what leads here: a pointer, or a container. On return it names the
 * bytes at step->offset.
 */
static struct err *write_step(struct compare *compare, struct path_step *owner,
			      struct path_step *step, const struct leaf *leaf,
			      struct str *out)
{
	/* NULL: there are steps to come. */
	uint8_t bit = leaf ? leaf->bit_offset : 0;
	const struct state *state = compare->state;
	const struct node *shape = &step->shape;
	const struct type *type = type_get(state->pool, shape->type);
	_cleanup_(str_freep) struct str members = STR_INIT;
	bool part = shape->flags & NODE_PART;
	if (shape->type == TYPE_UNKNOWN && leaf && leaf->kind == LEAF_TEXT)
		return NULL;
	if (shape->type == TYPE_UNKNOWN || !type->size ||
	    (!part && step->offset < shape->typed)) {
		/* Its meaning is unknown: words. */
		_cleanup_(str_freep) struct str inner = STR_INIT;
		TRY(str_append_n(&inner, out->s, out->n));
		out->n = 0;
		return str_appendf(out, "((uint64_t *)%s)[%" PRId64 "]",
				   inner.s,
				   ((int64_t)step->offset -
				    (int64_t)(shape->type ? shape->typed : 0)) /
					   8);
	}
	if (shape->flags & NODE_BIT)
		return str_appendf(out, "[%" PRIu32 "]", shape->index);
	enum container_shape how =
		part ? shape_of_owner(state, owner) : CONTAINER_SPECIAL;
	bool whole = how == CONTAINER_OPTIONAL || how == CONTAINER_VARIANT ||
		     how == CONTAINER_FUNCTION;
	if (part && !step->key && !whole)
		TRY(find_key(compare, owner, step));
	uint64_t inside = step->offset - shape->typed;
	uint64_t element = inside / type->size;
	/* Flexible arrays: beyond the type's size it is still the first. */
	if (shape->count == 1 && !part)
		element = 0;
	uint64_t first = element * type->size;
	TRY(write_members(state, compare->after,
			  shape->start + shape->typed + first, &members,
			  shape->type, inside - first, bit));
	if (part) {
		if (whole) {
			_cleanup_(str_freep) struct str inner = STR_INIT;
			TRY(str_append_n(&inner, out->s, out->n));
			out->n = 0;
			if (members.n && how == CONTAINER_OPTIONAL)
				return str_appendf(out, "%s->%s", inner.s,
						   members.s + 1);
			TRY(str_appendf(
				out, how == CONTAINER_OPTIONAL ? "*%s" : "%s",
				inner.s));
		} else if (step->key) {
			TRY(write_key(compare, step, out));
			/* m["key"] is the value in the pair. */
			if (members.n && str_starts(members.s, ".second"))
				return str_append(out, members.s + 7);
		} else {
			TRY(str_appendf(out, "[%" PRIu64 "]",
					shape->index + element));
		}
		return members.n ? str_append_n(out, members.s, members.n)
				 : NULL;
	}
	bool is_struct = members.n && members.s[0] == '.';
	if (element ||
	    (shape->count > 1 && type->kind != TYPE_CHAR && !is_struct)) {
		TRY(str_appendf(out, "[%" PRIu64 "]", element));
		return members.n ? str_append_n(out, members.s, members.n)
				 : NULL;
	}
	if (members.n && members.s[0] == '.')
		return str_appendf(out, "->%s", members.s + 1);
	/* A string, or what holds what follows: the pointer stands for it. */
	if (type->kind == TYPE_CHAR ||
	    (!leaf && container_recipe(state->containers, shape->type)))
		return NULL;
	_cleanup_(str_freep) struct str inner = STR_INIT;
	TRY(str_append_n(&inner, out->s, out->n));
	out->n = 0;
	return members.n ? str_appendf(out, "(*%s)%s", inner.s, members.s)
			 : str_appendf(out, "*%s", inner.s);
}

static struct err *write_path(struct compare *compare, struct steps *steps,
			      uint32_t root, const struct leaf *leaf,
			      char **ret)
{
	const struct state *state = compare->state;
	_cleanup_(str_freep) struct str out = STR_INIT;
	TRY(str_appendf(&out, "%s", state->options.roots[root].name));
	bool cut = steps->n > STEPS_NEAR + STEPS_FAR;
	for (size_t i = steps->n; i-- > 0;) {
		struct path_step step = *get_step(steps, i);
		const struct leaf *last = i ? NULL : leaf;
		if (cut && i >= STEPS_NEAR && i + STEPS_FAR < steps->n) {
			TRY(str_appendf(&out, "->(%s%zu more)",
					steps->cut ? "over " : "",
					i - STEPS_NEAR + 1));
			i = STEPS_NEAR;
			continue;
		}
		if (step.shape.kind == NODE_ROOT && i + 1 == steps->n) {
			TRY(write_members(state, compare->after,
					  step.shape.start, &out,
					  step.shape.type, step.offset,
					  last ? last->bit_offset : 0));
			continue;
		}
		struct path_step owner =
			i + 1 < steps->n ? *get_step(steps, i + 1) : step;
		TRY(write_step(compare, &owner, &step, last, &out));
	}
	*ret = str_take(&out);
	return *ret ? NULL : err_nomem();
}

/* ---- from the leaf to the root ---- */

/* Does what led to a node still do so, on both sides? */
static bool edge_holds(const struct compare *compare, const struct node *node)
{
	const struct node *parent =
		nodes_get(&compare->state->nodes, node->parent);
	if (parent->flags & NODE_DEAD || node->flags & NODE_ORPHAN)
		return false;
	if (node->flags & NODE_PART)
		return true;
	const struct view *views[] = { compare->before, compare->after };
	/* A smart pointer's own words are somewhere in it. */
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		for (uint64_t at = node->edge;
		     at < node->edge + 32 && at + 8 <= parent->size; at += 8) {
			uint64_t to = walk_word(views[i], parent->start + at);
			if (to >= node->start && to <= node->start + node->size)
				return true;
		}
	}
	return false;
}

/* The first word of it that differs: what another test would read. */
static void find_word(const struct compare *compare, struct path *path)
{
	uint64_t first = path->address & ~(uint64_t)7;
	uint64_t end = path->address + path->size;
	if (path->size <= 8)
		return;
	for (uint64_t at = first; at < end; at += 8) {
		if (walk_word(compare->before, at) ==
		    walk_word(compare->after, at))
			continue;
		path->address = at;
		path->size = 8;
		return;
	}
}

/* Where a way from a leaf to its root has come to: a place, or a node. */
struct cursor {
	uint32_t place; /* PLACE_NONE: at the node */
	uint32_t node;
	uint64_t offset; /* that the way leaves it by */
};

/* One object up; false: there is no way. */
static bool path_go_up(const struct compare *compare, struct cursor *at)
{
	const struct nodes *nodes = &compare->state->nodes;
	if (at->place != PLACE_NONE) {
		const struct compare_place *place =
			&compare->places.data[at->place];
		at->offset = place->shape.edge;
		at->place = place->parent;
		return place->parent != PLACE_NONE;
	}
	const struct node *self = nodes_get(nodes, at->node);
	uint64_t known;
	if (map_u64_get(&compare->adoptions, self->start, &known)) {
		at->place = compare->adopted.data[known].place;
		at->offset = compare->adopted.data[known].edge;
		return true;
	}
	if (self->parent == NODE_NONE || !edge_holds(compare, self))
		return false;
	at->offset = self->edge;
	at->node = self->parent;
	return true;
}

/* The object there; places that stand for a node become that node. */
static struct path_step path_step_at(const struct compare *compare,
				     struct cursor *at)
{
	if (at->place != PLACE_NONE) {
		const struct compare_place *place =
			&compare->places.data[at->place];
		if (place->node == NODE_NONE)
			return (struct path_step){ place->shape, at->offset,
						   place->key, place->key_type,
						   place->key_gone };
		at->node = place->node;
		at->place = PLACE_NONE;
	}
	return (struct path_step){ *nodes_get(&compare->state->nodes, at->node),
				   at->offset, 0, TYPE_UNKNOWN, false };
}

struct err *path_find(struct compare *compare, uint32_t id,
		      const struct leaf *leaf, struct path *ret,
		      bool *ret_valid)
{
	struct steps steps = { .n = 0 };
	struct cursor at = { id, NODE_NONE, leaf->offset };
	uint64_t size = leaf->size;
	*ret_valid = false;
	*ret = (struct path){};
	for (size_t i = 0;; i++) {
		struct path_step step = path_step_at(compare, &at);
		bool part = step.shape.flags & NODE_PART;
		push_step(&steps, &step);
		/* The first object on the way that was there before. */
		if (at.place == PLACE_NONE && !ret->address) {
			ret->address = step.shape.start + step.offset;
			ret->size =
				MIN(size, step.shape.size - MIN(step.shape.size,
								step.offset));
			ret->heap = step.shape.kind != NODE_ROOT;
			find_word(compare, ret);
		}
		if (step.shape.kind == NODE_ROOT && at.place == PLACE_NONE) {
			ret->root = step.shape.index;
			break;
		}
		size = part ? 64 : 8;
		ret->depth += !part;
		if (i >= STEPS_MAX) {
			/* Believed from here on. */
			steps.cut = true;
			at = (struct cursor){ PLACE_NONE, step.shape.root, 0 };
			continue;
		}
		if (!path_go_up(compare, &at))
			return NULL;
	}
	*ret_valid = true;
	return write_path(compare, &steps, ret->root, leaf, &ret->text);
}

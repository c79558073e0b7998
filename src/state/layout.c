#include "state/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "state/view.h"

enum { POINTERS_UNKNOWN, POINTERS_NONE, POINTERS_SOME };

struct err *layout_init(struct layout *layout, const struct type_pool *pool,
			struct containers *containers)
{
	*layout = (struct layout){ .pool = pool, .containers = containers };
	return NULL;
}

void layout_free(struct layout *layout)
{
	free(layout->pointers);
	for (size_t i = 0; i < layout->n_maps; i++)
		free(layout->maps[i]);
	free(layout->maps);
	*layout = (struct layout){};
}

static bool find_pointers(struct layout *layout, type_id id, unsigned depth)
{
	const struct type *type = type_get(layout->pool, id);
	if (depth > TYPE_DEPTH_MAX)
		return false;
	if (id < layout->n_pointers && layout->pointers[id] != POINTERS_UNKNOWN)
		return layout->pointers[id] == POINTERS_SOME;
	switch (type->kind) {
	case TYPE_POINTER:
	case TYPE_REFERENCE:
		return type_get(layout->pool, type->target)->kind != TYPE_CODE;
	case TYPE_OPAQUE:
	case TYPE_UNION:
		return type->size >= sizeof(uint64_t);
	case TYPE_ARRAY:
		return find_pointers(layout, type->target, depth + 1);
	case TYPE_STRUCT:
		if (container_recipe(layout->containers, id))
			return true;
		for (uint32_t i = 0; i < type->n_members; i++) {
			if (find_pointers(layout, type->members[i].type,
					  depth + 1))
				return true;
		}
		return false;
	default:
		return false;
	}
}

bool layout_has_pointers(struct layout *layout, type_id type)
{
	if (type >= layout->n_pointers) {
		/* The pool may have grown since. */
		size_t n = type_count(layout->pool);
		uint8_t *grown = realloc(layout->pointers, n);
		if (!grown || type >= n) {
			layout->pointers = grown ? grown : layout->pointers;
			return find_pointers(layout, type, 0);
		}
		memset(grown + layout->n_pointers, POINTERS_UNKNOWN,
		       n - layout->n_pointers);
		layout->pointers = grown;
		layout->n_pointers = n;
	}
	if (layout->pointers[type] == POINTERS_UNKNOWN) {
		bool some = find_pointers(layout, type, 0);
		layout->pointers[type] = some ? POINTERS_SOME : POINTERS_NONE;
	}
	return layout->pointers[type] == POINTERS_SOME;
}

struct layout_visit {
	struct layout *layout;
	const struct layout_object *object;
	uint64_t from, to;
	unsigned flags;
	leaf_visit *visit;
	void *data;
};

/* An object inside: where it begins, and how many bytes it may have. */
struct layout_part {
	type_id type;
	uint64_t offset;
	uint64_t room;
	unsigned depth;
	bool plain;
};

static struct err *layout_visit_part(const struct layout_visit *visit,
				     const struct layout_part *part);

static struct err *visit_leaf(const struct layout_visit *visit,
			      enum leaf_kind kind,
			      const struct layout_part *part, uint64_t size)
{
	struct leaf leaf = {
		.kind = kind,
		.type = part->type,
		.offset = part->offset,
		.size = MIN(size, part->room),
	};
	bool leads = kind == LEAF_POINTER || kind == LEAF_CONTAINER ||
		     kind == LEAF_WORDS;
	if (!leaf.size || ((visit->flags & LAYOUT_POINTERS) && !leads))
		return NULL;
	return visit->visit(visit->data, &leaf);
}

static struct err *visit_array(const struct layout_visit *visit,
			       const struct layout_part *part,
			       const struct type *type)
{
	const struct type *element =
		type_get(visit->layout->pool, type->target);
	uint64_t size = element->size;
	if (!size)
		return NULL;
	uint64_t count = MIN(type->count, part->room / size);
	if (element->kind == TYPE_CHAR)
		return visit_leaf(visit, LEAF_TEXT, part, count * size);
	if ((visit->flags & LAYOUT_POINTERS) &&
	    !layout_has_pointers(visit->layout, type->target))
		return NULL;
	uint64_t first = visit->from > part->offset
				 ? (visit->from - part->offset) / size
				 : 0;
	for (uint64_t i = first; i < count; i++) {
		struct layout_part item = { type->target,
					    part->offset + i * size, size,
					    part->depth + 1, false };
		if (item.offset >= visit->to)
			break;
		TRY(layout_visit_part(visit, &item));
	}
	return NULL;
}

/* The object's vtable says where a virtual base is. */
static bool virtual_offset(const struct layout_visit *visit,
			   const struct layout_part *part,
			   const struct type_member *member, uint64_t *ret)
{
	const struct layout_object *object = visit->object;
	uint64_t at = object->address + (part->offset - object->offset);
	uint64_t vptr;
	int64_t offset;
	if (!object->view ||
	    !view_read(object->view, at, &vptr, sizeof(vptr)) ||
	    !view_read(object->view, vptr + (uint64_t)member->vtable_offset,
		       &offset, sizeof(offset)))
		return false;
	if (offset < 0 || (uint64_t)offset >= part->room)
		return false;
	*ret = (uint64_t)offset;
	return true;
}

static struct err *visit_member(const struct layout_visit *visit,
				const struct layout_part *part,
				const struct type_member *member, bool last)
{
	struct layout_part inner = { member->type,
				     part->offset + member->offset, 0,
				     part->depth + 1, false };
	uint64_t offset = member->offset;
	if (member->virtual_base) {
		if (!virtual_offset(visit, part, member, &offset))
			return NULL;
		inner.offset = part->offset + offset;
	}
	if (offset >= part->room)
		return NULL;
	const struct type *type = type_get(visit->layout->pool, member->type);
	inner.room = part->room - offset;
	if (!last || type->kind != TYPE_ARRAY)
		inner.room = MIN(inner.room, MAX(type->size, (uint64_t)1));
	if (member->bit_size) {
		struct leaf leaf = {
			.kind = LEAF_NUMBER,
			.type = member->type,
			.offset = inner.offset,
			.size = (member->bit_offset + member->bit_size + 7) / 8,
			.bit_offset = member->bit_offset,
			.bit_size = member->bit_size,
		};
		if ((visit->flags & LAYOUT_POINTERS) ||
		    leaf.size > part->room - offset || leaf.size > 8)
			return NULL;
		if (leaf.offset >= visit->to ||
		    leaf.offset + leaf.size <= visit->from)
			return NULL;
		return visit->visit(visit->data, &leaf);
	}
	/* The vptr: another class of object lives here now. */
	if (member->artificial && type->kind == TYPE_POINTER) {
		if (inner.offset >= visit->to ||
		    inner.offset + 8 <= visit->from)
			return NULL;
		return visit_leaf(visit, LEAF_CODE, &inner, sizeof(uint64_t));
	}
	return layout_visit_part(visit, &inner);
}

static struct err *visit_struct(const struct layout_visit *visit,
				const struct layout_part *part,
				const struct type *type)
{
	for (uint32_t i = 0; i < type->n_members; i++)
		TRY(visit_member(visit, part, &type->members[i],
				 i + 1 == type->n_members));
	return NULL;
}

/* Bytes that an object with a vtable was made in are that object. */
static type_id made_in(const struct layout_visit *visit,
		       const struct layout_part *part, uint64_t size)
{
	const struct layout_object *object = visit->object;
	uint64_t at = object->address + (part->offset - object->offset);
	if (!object->view || !visit->layout->class_at || size < 8 || at % 8)
		return TYPE_UNKNOWN;
	return visit->layout->class_at(visit->layout->data, object->view, at,
				       size);
}

static struct err *visit_union(const struct layout_visit *visit,
			       const struct layout_part *part,
			       const struct type *type)
{
	uint64_t size = type->size ? type->size : part->room;
	struct layout_part made = *part;
	made.type = made_in(visit, part, MIN(size, part->room));
	if (made.type == TYPE_UNKNOWN)
		return visit_leaf(visit, LEAF_WORDS, part, size);
	made.room = type_get(visit->layout->pool, made.type)->size;
	made.depth++;
	return layout_visit_part(visit, &made);
}

static struct err *layout_visit_part(const struct layout_visit *visit,
				     const struct layout_part *part)
{
	const struct type *type = type_get(visit->layout->pool, part->type);
	bool flexible = type->kind == TYPE_ARRAY || type->kind == TYPE_STRUCT;
	uint64_t size = flexible ? part->room : MIN(type->size, part->room);
	if (part->depth > TYPE_DEPTH_MAX || part->offset >= visit->to ||
	    part->offset + size <= visit->from)
		return NULL;
	switch (type->kind) {
	case TYPE_VOID:
	case TYPE_CODE:
		return NULL;
	case TYPE_BOOL:
	case TYPE_SIGNED:
	case TYPE_UNSIGNED:
	case TYPE_CHAR:
	case TYPE_ENUM:
	case TYPE_DATA_MEMBER:
	case TYPE_CODE_MEMBER:
		return visit_leaf(visit, LEAF_NUMBER, part, type->size);
	case TYPE_FLOAT:
	case TYPE_COMPLEX:
		return visit_leaf(visit, LEAF_FLOAT, part, type->size);
	case TYPE_POINTER:
	case TYPE_REFERENCE: {
		struct layout_part pointer = *part;
		pointer.type = type->target;
		bool code = type_get(visit->layout->pool, type->target)->kind ==
			    TYPE_CODE;
		return visit_leaf(visit, code ? LEAF_CODE : LEAF_POINTER,
				  &pointer, sizeof(uint64_t));
	}
	case TYPE_OPAQUE:
		return visit_union(visit, part, type);
	case TYPE_ARRAY:
		return visit_array(visit, part, type);
	case TYPE_UNION:
	case TYPE_STRUCT:
		if (!part->plain &&
		    container_recipe(visit->layout->containers, part->type))
			return visit_leaf(visit, LEAF_CONTAINER, part,
					  type->size);
		if (type->kind == TYPE_UNION)
			return visit_union(visit, part, type);
		if ((visit->flags & LAYOUT_POINTERS) &&
		    !layout_has_pointers(visit->layout, part->type))
			return NULL;
		return visit_struct(visit, part, type);
	}
	return NULL;
}

struct err *layout_visit(struct layout *layout,
			 const struct layout_object *object, uint64_t from,
			 uint64_t to, unsigned flags, leaf_visit *visit,
			 void *data)
{
	struct layout_visit all = {
		layout, object, from, to, flags, visit, data
	};
	struct layout_part part = {
		.type = object->type,
		.offset = object->offset,
		.room = object->size,
		.plain = flags & LAYOUT_PLAIN,
	};
	return layout_visit_part(&all, &part);
}

#define MAP_MAX 64

static struct err *map_leaf(void *data, const struct leaf *leaf)
{
	struct pointer_map *map = data;
	if (leaf->kind != LEAF_POINTER || map->n == MAP_MAX ||
	    leaf->offset > UINT32_MAX) {
		map->simple = false;
		return NULL;
	}
	map->at[map->n].offset = (uint32_t)leaf->offset;
	map->at[map->n++].target = leaf->type;
	return NULL;
}

/* Bases whose place only an object knows. */
static bool has_virtual_bases(const struct type_pool *pool, type_id id,
			      unsigned depth)
{
	const struct type *type = type_get(pool, id);
	if (depth > TYPE_DEPTH_MAX)
		return true;
	if (type->kind == TYPE_ARRAY)
		return has_virtual_bases(pool, type->target, depth + 1);
	for (uint32_t i = 0; type->kind == TYPE_STRUCT && i < type->n_members;
	     i++) {
		if (type->members[i].virtual_base ||
		    has_virtual_bases(pool, type->members[i].type, depth + 1))
			return true;
	}
	return false;
}

static struct pointer_map *make_map(struct layout *layout, type_id id)
{
	const struct type *type = type_get(layout->pool, id);
	struct pointer_map *map =
		calloc(1, sizeof(*map) + MAP_MAX * sizeof(map->at[0]));
	if (!map)
		return NULL;
	map->simple = !has_virtual_bases(layout->pool, id, 0);
	struct layout_object object = { .type = id, .size = type->size };
	struct err *err = layout_visit(layout, &object, 0,
				       MIN(type->size, (uint64_t)65536),
				       LAYOUT_POINTERS, map_leaf, map);
	if (err || type->size > 65536)
		map->simple = false;
	err_ignore(err);
	return map;
}

const struct pointer_map *layout_pointer_map(struct layout *layout,
					     type_id type)
{
	if (type >= layout->n_maps) {
		/* The pool may have grown since. */
		size_t n = type_count(layout->pool);
		struct pointer_map **grown =
			realloc(layout->maps, n * sizeof(struct pointer_map *));
		if (!grown)
			return NULL;
		memset(grown + layout->n_maps, 0,
		       (n - layout->n_maps) * sizeof(struct pointer_map *));
		layout->maps = grown;
		layout->n_maps = n;
	}
	if (!layout->maps[type])
		layout->maps[type] = make_map(layout, type);
	return layout->maps[type];
}

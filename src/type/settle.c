/* Makes the invariants of type.h hold, for types from whatever source. */
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "type/type_internal.h"

#define ALIGN_MAX ((uint32_t)1 << 20)

enum settling_state { NEW, OPEN, DONE };

struct settling_frame {
	type_id id;
	uint32_t next; /* member to look at next */
};

struct settling {
	struct type_pool *pool;
	type_id first;
	uint8_t *state;	 /* enum settling_state of first, first + 1, … */
	uint8_t *height; /* of containment; 0: contains nothing */
	VEC(struct settling_frame) stack;
};

static bool is_record(const struct type *type)
{
	return type->kind == TYPE_STRUCT || type->kind == TYPE_UNION;
}

static bool is_flexible(const struct type *type)
{
	return type->kind == TYPE_ARRAY && type->count == TYPE_NO_COUNT;
}

static bool is_pair(const struct type *type)
{
	return type->kind == TYPE_COMPLEX || type->kind == TYPE_CODE_MEMBER;
}

static void make_opaque(struct type *type, const char *why)
{
	log_debug(LOG_TYPE, "%s: its content is not compared by type: %s",
		  *type->name ? type->name : "a type without a name", why);
	*type = (struct type){
		.kind = TYPE_OPAQUE,
		.name = type->name,
		.size = type->size <= TYPE_SIZE_MAX ? type->size : 0,
		.align = 1,
	};
}

/* The natural alignment that sizes and offsets of @bytes allow. */
static uint32_t align_within(uint32_t align, uint64_t bytes)
{
	while (align > 1 && bytes % align)
		align /= 2;
	return align;
}

static uint32_t scalar_align(uint64_t size)
{
	uint32_t align = 1;
	while (align < 16 && align < size)
		align *= 2;
	return align_within(align, size);
}

static bool scalar_size_fits(const struct type *type)
{
	uint64_t size = type->size;
	switch (type->kind) {
	case TYPE_BOOL:
	case TYPE_SIGNED:
	case TYPE_UNSIGNED:
	case TYPE_ENUM:
		return size && size <= 16 && !(size & (size - 1));
	case TYPE_CHAR:
		return size == 1 || size == 2 || size == 4;
	case TYPE_FLOAT:
		return size && size <= 16 && size % 2 == 0;
	case TYPE_COMPLEX:
		return size && size <= 32 && size % 4 == 0;
	case TYPE_POINTER:
	case TYPE_REFERENCE:
	case TYPE_DATA_MEMBER:
		return size == 8;
	case TYPE_CODE_MEMBER:
		return size == 16;
	default:
		return true;
	}
}

static type_id known_id(const struct settling *settling, type_id id)
{
	return id < settling->pool->n_types ? id : TYPE_UNKNOWN;
}

static uint8_t height_of(const struct settling *settling, type_id id)
{
	return id >= settling->first ? settling->height[id - settling->first]
				     : 0;
}

/*
 * Those of an earlier call are settled, but how high they are is not kept:
 * what we add on top of them stays below half of the limit.
 */
static uint8_t height_on(const struct settling *settling, type_id id)
{
	const struct type *type = type_get(settling->pool, id);
	if (id < settling->first &&
	    (is_record(type) || type->kind == TYPE_ARRAY))
		return TYPE_DEPTH_MAX / 2;
	return height_of(settling, id);
}

static bool member_fits(const struct type *type,
			const struct type_member *member,
			const struct type *what, bool last)
{
	if (member->virtual_base)
		return what->size <= type->size;
	if (member->offset > type->size)
		return false;
	if (member->bit_size)
		return member->bit_offset < 8 &&
		       (uint64_t)member->bit_offset + member->bit_size <=
			       (type->size - member->offset) * 8;
	if (is_flexible(what))
		return last;
	return what->size <= type->size - member->offset;
}

static void settle_arguments(const struct settling *settling, struct type *type)
{
	struct type_argument *arguments =
		(struct type_argument *)type->arguments;
	for (uint32_t i = 0; i < type->n_arguments; i++)
		arguments[i].type = known_id(settling, arguments[i].type);
}

static void settle_record(struct settling *settling, struct type *type)
{
	/* The pool's own memory: only readers see it as constant. */
	struct type_member *members = (struct type_member *)type->members;
	uint32_t align = 1;
	uint32_t n = 0;
	uint64_t last = 0;
	for (uint32_t i = 0; i < type->n_members; i++) {
		struct type_member member = members[i];
		const struct type *what = type_get(settling->pool, member.type);
		if (member.offset < last ||
		    !member_fits(type, &member, what,
				 i + 1 == type->n_members)) {
			log_debug(LOG_TYPE,
				  "%s: member '%s' is left out: it is outside "
				  "the type or out of order",
				  type->name, member.name);
			continue;
		}
		last = member.offset;
		if ((member.base && (what->flags & TYPE_POLYMORPHIC)) ||
		    member.virtual_base ||
		    (member.artificial && !strncmp(member.name, "_vptr", 5)))
			type->flags |= TYPE_POLYMORPHIC;
		/* A member at an odd place: the struct is packed. */
		if (!member.bit_size && !member.virtual_base)
			align = MAX(align,
				    align_within(what->align, member.offset));
		members[n++] = member;
	}
	type->n_members = n;
	settle_arguments(settling, type);
	if (!type->align)
		type->align = align_within(align, type->size);
}

static void settle_array(struct settling *settling, struct type *type)
{
	const struct type *element = type_get(settling->pool, type->target);
	uint64_t size = 0;
	if (type->count != TYPE_NO_COUNT &&
	    (__builtin_mul_overflow(element->size, type->count, &size) ||
	     size > TYPE_SIZE_MAX)) {
		type->size = 0;
		make_opaque(type, "the array is too large");
		return;
	}
	type->size = size;
	type->align = element->align;
}

/* What it contains is settled. */
static void settle_one(struct settling *settling, type_id id, uint8_t height)
{
	struct type *type = type_at(settling->pool, id);
	if (type->align > ALIGN_MAX || (type->align & (type->align - 1)))
		type->align = 0;
	if (type->size > TYPE_SIZE_MAX)
		make_opaque(type, "it is too large");
	else if (height > TYPE_DEPTH_MAX)
		make_opaque(type, "its members are nested too deeply");
	else if (!scalar_size_fits(type))
		make_opaque(type, "its size does not fit its kind");
	if (!is_record(type))
		type->n_members = type->n_arguments = 0;
	if (type->kind != TYPE_ENUM)
		type->n_enumerators = 0;
	if (is_record(type))
		settle_record(settling, type);
	else if (type->kind == TYPE_ARRAY)
		settle_array(settling, type);
	else if (!type->align)
		type->align = is_pair(type) ? scalar_align(type->size / 2)
					    : scalar_align(type->size);
	if (!type->align)
		type->align = 1;
	settling->state[id - settling->first] = DONE;
	settling->height[id - settling->first] =
		is_record(type) || type->kind == TYPE_ARRAY ? height : 0;
}

/* The next type that it contains; false: no more. */
static bool settling_next_part(struct settling *settling,
			       struct settling_frame *frame, type_id *ret)
{
	struct type *type = type_at(settling->pool, frame->id);
	type->target = known_id(settling, type->target);
	if (type->kind == TYPE_ARRAY && !frame->next) {
		frame->next = 1;
		*ret = type->target;
		return true;
	}
	if (!is_record(type) || frame->next >= type->n_members)
		return false;
	struct type_member *member =
		(struct type_member *)&type->members[frame->next++];
	member->type = known_id(settling, member->type);
	*ret = member->type;
	return true;
}

static uint8_t parts_height(const struct settling *settling, type_id id)
{
	const struct type *type = type_at(settling->pool, id);
	uint8_t height = 0;
	if (type->kind == TYPE_ARRAY)
		height = height_on(settling, type->target);
	for (uint32_t i = 0; is_record(type) && i < type->n_members; i++)
		height =
			MAX(height, height_on(settling, type->members[i].type));
	return (uint8_t)(height + 1);
}

static struct err *settle_from(struct settling *settling, type_id id)
{
	if (settling->state[id - settling->first] != NEW)
		return NULL;
	settling->state[id - settling->first] = OPEN;
	TRY(vec_push(&settling->stack, (struct settling_frame){ .id = id }));
	while (settling->stack.n) {
		struct settling_frame *frame =
			&settling->stack.data[settling->stack.n - 1];
		type_id part;
		if (!settling_next_part(settling, frame, &part)) {
			id = frame->id;
			settle_one(settling, id, parts_height(settling, id));
			settling->stack.n--;
			continue;
		}
		if (part < settling->first)
			continue;
		uint8_t *state = &settling->state[part - settling->first];
		if (*state == OPEN) {
			/* It contains itself: no compiler wrote that. */
			make_opaque(type_at(settling->pool, frame->id),
				    "it contains itself");
		} else if (*state == NEW) {
			*state = OPEN;
			TRY(vec_push(&settling->stack,
				     (struct settling_frame){ .id = part }));
		}
	}
	return NULL;
}

struct err *type_settle(struct type_pool *pool, type_id first)
{
	if (first >= pool->n_types)
		return NULL;
	size_t n = pool->n_types - first;
	_cleanup_(freep) uint8_t *state = calloc(n, 1);
	_cleanup_(freep) uint8_t *height = calloc(n, 1);
	if (!state || !height)
		return err_nomem();
	struct settling settling = {
		.pool = pool,
		.first = first,
		.state = state,
		.height = height,
	};
	struct err *err = NULL;
	for (size_t i = 0; i < n && !err; i++)
		err = settle_from(&settling, (type_id)(first + i));
	vec_free(&settling.stack);
	return err;
}

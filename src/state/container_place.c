/*
 * Paths of members, made into offsets, and read.
 *
 * A component is a member's name, searched for in the type, in its base classes
 * and anonymous members; or "@PREFIX": the base class whose name begins so, for
 * where two bases have a member of one name. A pointer in the middle of a path
 * is followed.
 */
#include <string.h>

#include "base/macro.h"
#include "state/containers_internal.h"

/* Members looked at for one component: debug information may be damaged. */
#define LOOK_MAX 4096

struct look {
	const struct type_pool *pool;
	const char *name;
	size_t n; /* characters of the name */
	unsigned left;
	/* Found: */
	uint64_t offset;
	struct type_member member;
};

static const struct type *place_checked_type(const struct type_pool *pool,
					     type_id id)
{
	return id < type_count(pool) ? type_get(pool, id) : NULL;
}

static bool place_is_wanted_member(const struct look *look,
				   const struct type_member *member)
{
	if (look->name[0] != '@')
		return strlen(member->name) == look->n &&
		       !memcmp(member->name, look->name, look->n);
	const struct type *base = place_checked_type(look->pool, member->type);
	return member->base && base &&
	       !strncmp(base->name, look->name + 1, look->n - 1);
}

/* Recursion is as deep as types contain each other, and bounded. */
static bool place_look_in_type(struct look *look, type_id id, uint64_t offset,
			       unsigned depth)
{
	const struct type *type = place_checked_type(look->pool, id);
	if (!type || (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION) ||
	    depth > TYPE_DEPTH_MAX)
		return false;
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *member = &type->members[i];
		if (!member->virtual_base &&
		    place_is_wanted_member(look, member)) {
			look->offset = offset + member->offset;
			look->member = *member;
			return true;
		}
	}
	for (uint32_t i = 0; i < type->n_members && look->left; i++) {
		const struct type_member *member = &type->members[i];
		if (member->virtual_base || (member->name[0] && !member->base))
			continue;
		look->left--;
		if (place_look_in_type(look, member->type,
				       offset + member->offset, depth + 1))
			return true;
	}
	return false;
}

static bool resolve_one(const struct type_pool *pool, type_id type,
			const char *path, size_t n, struct container_place *ret)
{
	struct container_place place = { .known = true, .n = 1, .type = type };
	while (n) {
		const struct type *now = place_checked_type(pool, place.type);
		if (now && (now->kind == TYPE_POINTER ||
			    now->kind == TYPE_REFERENCE)) {
			if (place.n == PLACE_STEPS)
				return false;
			place.n++;
			place.type = now->target;
		}
		const char *dot = memchr(path, '.', n);
		size_t part = dot ? (size_t)(dot - path) : n;
		struct look look = {
			.pool = pool, .name = path, .n = part, .left = LOOK_MAX
		};
		if (!part || place.bit_size ||
		    !place_look_in_type(&look, place.type, 0, 0))
			return false;
		place.offsets[place.n - 1] += look.offset;
		place.type = look.member.type;
		place.bit_size = look.member.bit_size;
		place.bit_offset = look.member.bit_offset;
		path += dot ? part + 1 : part;
		n -= dot ? part + 1 : part;
	}
	const struct type *at = place_checked_type(pool, place.type);
	place.size = at && at->size && at->size < 8 ? (uint8_t)at->size : 8;
	if (place.bit_size)
		place.size = (uint8_t)MIN(
			(place.bit_offset + place.bit_size + 7) / 8, 8);
	*ret = place;
	return true;
}

bool place_resolve(const struct type_pool *pool, type_id type, const char *path,
		   struct container_place *ret)
{
	while (path && *path) {
		size_t n = strcspn(path, "|");
		if (resolve_one(pool, type, path, n, ret))
			return true;
		path += path[n] ? n + 1 : n;
	}
	return false;
}

bool place_address(const struct view *view, uint64_t object,
		   const struct container_place *place, uint64_t *ret)
{
	if (!place->known)
		return false;
	uint64_t at = object + place->offsets[0];
	for (unsigned i = 1; i < place->n; i++) {
		if (!container_u64(view, at, &at) || !at)
			return false;
		at += place->offsets[i];
	}
	*ret = at;
	return true;
}

bool place_read(const struct view *view, uint64_t object,
		const struct container_place *place, uint64_t *ret)
{
	uint64_t at, value = 0;
	if (!place_address(view, object, place, &at) ||
	    !view_read(view, at, &value, place->size))
		return false;
	if (place->bit_size) {
		value >>= place->bit_offset;
		if (place->bit_size < 64)
			value &= (1ULL << place->bit_size) - 1;
	}
	*ret = value;
	return true;
}

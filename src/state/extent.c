/*
 * How much of an array is in use.
 *
 * A block may have room for more than a program has put there: `items` next to
 * `n` and `cap`. What is beyond the length is left over from earlier use and
 * not part of the state. Which variable is the length is not recorded anywhere;
 * it is guessed from names, and only where its value fits:
 *
 *  - a member or variable whose name has the pointer's in it: n_items,
 *    items_len, item_count, nitems;
 *  - next to the only pointer to an array in a struct, also a plain one: n,
 *    len,
 *    count, used, size, …
 *
 * Tables that are filled in no order (hash, map, slots, … in a name) have no
 * such length. The larger of the two lengths, before and after, counts: what
 * came or went is compared.
 */
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "state/compare_internal.h"

#define NAME_MAX_LENGTH 64
#define LENGTH_UNKNOWN UINT32_MAX /* as state->lengths begins */
#define LENGTH_NONE (UINT32_MAX - 1)

/* Names of lengths, the surest first; "size" may be the room. */
static const char *const plain_names[] = {
	"used", "n",	"len",	  "length", "count",  "num",
	"nr",	"fill", "nitems", "nelem",  "nelems", "size",
};

/* After and before a pointer's name. */
static const char *const behind[] = {
	"_n",	 "_len",  "_length", "_count", "_num", "_nr",
	"_used", "_size", "_cnt",    "n",      "len",  "count",
};
static const char *const in_front[] = { "n_",	  "num_", "nr_",  "len_",
					"count_", "n",	  "used_" };

static bool lower_case_name(const char *name, char *out)
{
	size_t n = strlen(name);
	while (n && name[n - 1] == '_')
		n--; /* m_items_, items_ */
	if (str_starts(name, "m_")) {
		name += 2;
		n -= MIN(n, (size_t)2);
	}
	if (!n || n >= NAME_MAX_LENGTH)
		return false;
	for (size_t i = 0; i < n; i++)
		out[i] = (char)(name[i] >= 'A' && name[i] <= 'Z'
					? name[i] - 'A' + 'a'
					: name[i]);
	out[n] = '\0';
	return true;
}

/* Is @name the length of what @pointer points to, by its name? */
static bool name_is_length_of(const char *name, const char *pointer)
{
	char text[2 * NAME_MAX_LENGTH];
	size_t n = strlen(pointer);
	for (size_t i = 0; i < ARRAY_SIZE(behind); i++) {
		snprintf(text, sizeof(text), "%s%s", pointer, behind[i]);
		if (!strcmp(name, text))
			return true;
		/* items → item_count */
		if (n > 2 && pointer[n - 1] == 's') {
			snprintf(text, sizeof(text), "%.*s%s", (int)n - 1,
				 pointer, behind[i]);
			if (!strcmp(name, text))
				return true;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(in_front); i++) {
		snprintf(text, sizeof(text), "%s%s", in_front[i], pointer);
		if (!strcmp(name, text))
			return true;
	}
	return false;
}

/* 0: no name of a length; else the smaller the surer. */
static unsigned rank_of(const char *name, const char *pointer, bool only)
{
	char plain[NAME_MAX_LENGTH], whose[NAME_MAX_LENGTH];
	if (!lower_case_name(name, plain) || !lower_case_name(pointer, whose))
		return 0;
	if (name_is_length_of(plain, whose))
		return 1;
	for (size_t i = 0; only && i < ARRAY_SIZE(plain_names); i++) {
		if (!strcmp(plain, plain_names[i]))
			return 2 + (unsigned)i;
	}
	return 0;
}

/* Hash tables: what is in use may be anywhere in them. */
static bool is_scattered(const char *name)
{
	static const char *const words[] = { "hash", "map",    "table",
					     "slot", "bucket", "entries",
					     "dict", "index",  "set" };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasestr(name, words[i]))
			return true;
	}
	return false;
}

static bool is_number(const struct type *type)
{
	return (type->kind == TYPE_SIGNED || type->kind == TYPE_UNSIGNED) &&
	       (type->size == 2 || type->size == 4 || type->size == 8);
}

/* The struct around a pointer, and which of its members that is. */
struct owner {
	const struct type *type;
	uint64_t offset; /* of the struct in the object */
	const struct type_member *member;
};

static bool find_owner(const struct state *state, const struct node *shape,
		       uint64_t offset, struct owner *ret)
{
	type_id id = shape->type;
	const struct type *type = type_get(state->pool, id);
	if (!type->size || offset < shape->typed)
		return false;
	uint64_t base = shape->typed;
	if (shape->count > 1 || shape->flags & NODE_PART)
		base += (offset - base) / type->size * type->size;
	*ret = (struct owner){};
	for (unsigned depth = 0; depth < 2 * TYPE_DEPTH_MAX; depth++) {
		type = type_get(state->pool, id);
		uint64_t in = offset - base;
		if (type->kind == TYPE_ARRAY) {
			uint64_t size =
				type_get(state->pool, type->target)->size;
			if (!size)
				return false;
			base += in / size * size;
			id = type->target;
			continue;
		}
		if (type->kind != TYPE_STRUCT)
			return ret->type && type->kind == TYPE_POINTER;
		const struct type_member *found = NULL;
		for (uint32_t i = 0; i < type->n_members; i++) {
			const struct type_member *member = &type->members[i];
			uint64_t size =
				type_get(state->pool, member->type)->size;
			if (!member->bit_size && !member->virtual_base &&
			    in >= member->offset && in - member->offset < size)
				found = member;
		}
		if (!found)
			return false;
		*ret = (struct owner){ type, base, found };
		base += found->offset;
		id = found->type;
	}
	return false;
}

/* Pointers to arrays, as far as we know: not to text, not to its own type. */
static unsigned count_arrays(const struct state *state, const struct type *type)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type *member =
			type_get(state->pool, type->members[i].type);
		if (member->kind != TYPE_POINTER)
			continue;
		const struct type *target =
			type_get(state->pool, member->target);
		n += target != type && target->kind != TYPE_CHAR &&
		     target->kind != TYPE_CODE;
	}
	return n;
}

static bool read_length(const struct view *view, const struct type *type,
			uint64_t address, uint64_t *ret)
{
	uint64_t value = 0;
	if (!view_read(view, address, &value, type->size))
		return false;
	/* Negative ones are none. */
	if (type->kind == TYPE_SIGNED && type->size < 8 &&
	    value >> (type->size * 8 - 1))
		return false;
	*ret = value;
	return true;
}

/*
 * The length of the array that the pointer at @offset of an object points to.
 */
static bool member_length(const struct state *state, const struct view *view,
			  const struct node *shape, uint64_t start,
			  uint64_t offset, uint64_t *ret)
{
	struct owner owner;
	if (!find_owner(state, shape, offset, &owner) ||
	    is_scattered(owner.member->name) || is_scattered(owner.type->name))
		return false;
	bool only = count_arrays(state, owner.type) == 1;
	unsigned best = 0;
	const struct type_member *length = NULL;
	for (uint32_t i = 0; i < owner.type->n_members; i++) {
		const struct type_member *member = &owner.type->members[i];
		if (member->bit_size ||
		    !is_number(type_get(state->pool, member->type)))
			continue;
		unsigned rank = rank_of(member->name, owner.member->name, only);
		if (rank && (!best || rank < best)) {
			best = rank;
			length = member;
		}
	}
	return length &&
	       read_length(view, type_get(state->pool, length->type),
			   start + owner.offset + length->offset, ret);
}

/* The same for a variable: another variable of a fitting name. */
static uint32_t find_length(const struct state *state, uint32_t number)
{
	const struct state_options *options = &state->options;
	const struct state_root *pointer = &options->roots[number];
	if (type_get(state->pool, pointer->type)->kind != TYPE_POINTER ||
	    is_scattered(pointer->name))
		return LENGTH_NONE;
	for (size_t i = 0; i < options->n_roots; i++) {
		const struct state_root *root = &options->roots[i];
		const struct type *type = type_get(state->pool, root->type);
		if (root->module == pointer->module && is_number(type) &&
		    rank_of(root->name, pointer->name, false))
			return (uint32_t)i;
	}
	return LENGTH_NONE;
}

static bool root_length(const struct state *state, const struct view *view,
			uint32_t number, uint64_t *ret)
{
	uint32_t *known = &state->lengths[number];
	if (*known == LENGTH_UNKNOWN)
		*known = find_length(state, number);
	if (*known == LENGTH_NONE)
		return false;
	const struct state_root *root = &state->options.roots[*known];
	return read_length(view, type_get(state->pool, root->type),
			   root->address, ret);
}

static bool length_on(const struct state *state, const struct view *view,
		      const struct node *shape, uint64_t start, uint64_t offset,
		      uint64_t *ret)
{
	if (shape->kind == NODE_ROOT && !offset &&
	    root_length(state, view, shape->index, ret))
		return true;
	return member_length(state, view, shape, start, offset, ret);
}

uint64_t extent_used(const struct compare *compare, const struct node *owner,
		     uint64_t owner_before, uint64_t offset, type_id element,
		     uint64_t room)
{
	uint64_t was, is;
	if (!length_on(compare->state, compare->before, owner, owner_before,
		       offset, &was) ||
	    !length_on(compare->state, compare->after, owner, owner->start,
		       offset, &is))
		return room;
	uint64_t used = MAX(was, is);
	/* A matrix of n by n; or no length at all. */
	bool square =
		used && room / used == used && room % used == 0 &&
		type_get(compare->state->pool, element)->kind == TYPE_FLOAT;
	if (used > room || square)
		return room;
	return used;
}

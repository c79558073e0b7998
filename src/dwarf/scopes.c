/*
 * One walk over all units: which scope is in which, where types are defined,
 * and which variables have a fixed place.
 *
 * A DIE does not know its parent. Noting where each scope begins and ends
 * answers that for any DIE directly inside one, in 24 bytes per scope.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/macro.h"
#include "dwarf/index_internal.h"

#define SPLIT_UNITS_MAX 100000
#define SCOPES_MAX (UINT32_MAX - 1)
#define NAME_PARTS_MAX 64
#define ANONYMOUS "(anonymous namespace)"

/* The hash of names in no scope, and of those that are not noted. */
#define HASH_TOP 1
#define HASH_NONE 0

struct scopes_walk {
	struct die_walk walk;
	struct scopes *scopes;
	struct scope_unit *unit;
	uint32_t number; /* the object's; SCOPE_NONE: a unit with types only */
	uint32_t parents[DEPTH_MAX + 2]; /* by depth: scope of DIEs there */
	uint64_t hashes[DEPTH_MAX + 2];	 /* of that scope's name */
	struct err *err;
};

static bool is_record_tag(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type;
}

static uint64_t hash_part(uint64_t scope, const char *name, size_t n)
{
	if (scope == HASH_NONE)
		return HASH_NONE;
	uint64_t hash = XXH3_64bits_withSeed(name, n, scope);
	return hash > HASH_TOP ? hash : 2;
}

/* ---- names ---- */

/* The end of the part of a qualified name that begins at @name. */
static const char *part_end(const char *name)
{
	int depth = 0;
	for (const char *at = name; *at; at++) {
		/* "operator<", "operator->" and the like: no brackets. */
		if (!depth && at == name && !strncmp(at, "operator", 8))
			return at + strlen(at);
		if (*at == '<' || *at == '(')
			depth++;
		else if (*at == '>' || *at == ')')
			depth--;
		else if (depth <= 0 && at[0] == ':' && at[1] == ':')
			return at;
	}
	return name + strlen(name);
}

const char *scope_last_part(const char *name)
{
	for (;;) {
		const char *end = part_end(name);
		if (!*end)
			return name;
		name = end + 2;
	}
}

struct err *scopes_want(struct scopes *scopes, const char *name)
{
	const char *arguments = strchr(name, '<');
	if (!arguments)
		return NULL;
	uint64_t hash = hash_part(HASH_TOP, name, (size_t)(arguments - name));
	return map_u64_put(&scopes->wanted, hash, 1);
}

bool scopes_definition(const struct scopes *scopes, const char *name,
		       Dwarf_Die *ret)
{
	uint64_t hash = HASH_TOP, index;
	for (;;) {
		const char *end = part_end(name);
		hash = hash_part(hash, name, (size_t)(end - name));
		if (!*end)
			break;
		name = end + 2;
	}
	if (!map_u64_get(&scopes->by_name, hash, &index))
		return false;
	*ret = scopes->definitions.data[index];
	return true;
}

void die_origin(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Die found = *die;
	for (int i = 0; i < CHAIN_MAX; i++) {
		Dwarf_Attribute attr;
		Dwarf_Die next;
		if (!dwarf_attr(&found, DW_AT_abstract_origin, &attr) &&
		    !dwarf_attr(&found, DW_AT_specification, &attr) &&
		    /* clang: only a stand-in for what is in a type unit. */
		    (dwarf_hasattr(&found, DW_AT_name) ||
		     !dwarf_attr(&found, DW_AT_signature, &attr)))
			break;
		if (!dwarf_formref_die(&attr, &next))
			break;
		found = next;
	}
	*ret = found;
}

static struct err *read_unit(struct scopes *scopes, Dwarf_Die *die);

/* Units of a file shared by several (dwz) are read when first asked for. */
static struct scope_unit *scopes_unit_of(struct scopes *scopes, Dwarf_CU *cu)
{
	uint64_t index;
	if (!map_u64_get(&scopes->by_cu, (uintptr_t)cu, &index)) {
		Dwarf_Die die;
		if (!dwarf_cu_die(cu, &die, NULL, NULL, NULL, NULL, NULL, NULL))
			return NULL;
		struct err *err = read_unit(scopes, &die);
		if (err) {
			err_ignore(err);
			return NULL;
		}
		if (!map_u64_get(&scopes->by_cu, (uintptr_t)cu, &index))
			return NULL;
	}
	return scopes->units.data[index];
}

void scopes_unit_number(const struct scopes *scopes, const Dwarf_CU *cu,
			uint32_t *ret)
{
	uint64_t number;
	if (map_u64_get(&scopes->numbers, (uintptr_t)cu, &number))
		*ret = (uint32_t)number;
}

/* The innermost scope around @addr, which is not that of @addr itself. */
static uint32_t scope_find_enclosing(const struct scope_unit *unit,
				     const void *addr)
{
	size_t low = 0, high = unit->scopes.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if ((const char *)unit->scopes.data[middle].addr <
		    (const char *)addr)
			low = middle + 1;
		else
			high = middle;
	}
	uint32_t scope = low ? (uint32_t)low - 1 : SCOPE_NONE;
	while (scope != SCOPE_NONE && unit->scopes.data[scope].last &&
	       (const char *)unit->scopes.data[scope].last < (const char *)addr)
		scope = unit->scopes.data[scope].parent;
	return scope;
}

/* What @die is declared in; false: the unit itself. */
static bool parent_die(struct scopes *scopes, Dwarf_Die *die, Dwarf_Die *ret)
{
	const struct scope_unit *unit = scopes_unit_of(scopes, die->cu);
	uint32_t scope =
		unit ? scope_find_enclosing(unit, die->addr) : SCOPE_NONE;
	if (scope == SCOPE_NONE)
		return false;
	*ret = (Dwarf_Die){ .addr = (void *)unit->scopes.data[scope].addr,
			    .cu = die->cu };
	return true;
}

bool scopes_class(struct scopes *scopes, Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Die origin, parent;
	die_origin(die, &origin);
	if (!parent_die(scopes, &origin, &parent) ||
	    !is_record_tag(dwarf_tag(&parent)))
		return false;
	*ret = parent;
	return true;
}

/* Outermost last; 0 where it nests too deep. */
static size_t name_parts(struct scopes *scopes, Dwarf_Die *die,
			 Dwarf_Die *parts)
{
	Dwarf_Die at = *die;
	for (size_t n = 0; n < NAME_PARTS_MAX; n++) {
		die_origin(&at, &parts[n]);
		if (!parent_die(scopes, &parts[n], &at))
			return n + 1;
	}
	return 0;
}

struct err *scopes_name(struct scopes *scopes, Dwarf_Die *die, struct str *out,
			unsigned *ret_flags)
{
	Dwarf_Die parts[NAME_PARTS_MAX];
	unsigned flags = 0;
	size_t n = name_parts(scopes, die, parts);
	for (size_t i = n; i > 0; i--) {
		const char *name = dwarf_diename(&parts[i - 1]);
		int tag = dwarf_tag(&parts[i - 1]);
		bool function = i > 1 && tag == DW_TAG_subprogram;
		if (function)
			flags |= SCOPE_LOCAL | SCOPE_FUNCTION;
		if (!name && tag == DW_TAG_namespace) {
			name = ANONYMOUS;
			flags |= SCOPE_LOCAL;
		}
		if (!name || !*name) {
			/* Structs without a name do not name their parts. */
			flags |= SCOPE_LOCAL | (function ? SCOPE_NAMELESS : 0);
			continue;
		}
		TRY(str_append(out, name));
		if (i > 1)
			TRY(str_append(out, "::"));
	}
	if (ret_flags)
		*ret_flags = flags;
	return NULL;
}

/* The hash of the scope that @die, which has an origin, is declared in. */
static uint64_t declared_hash(struct scopes *scopes, Dwarf_Die *die)
{
	Dwarf_Die parts[NAME_PARTS_MAX];
	size_t n = name_parts(scopes, die, parts);
	uint64_t hash = n ? HASH_TOP : HASH_NONE;
	for (size_t i = n; i > 1; i--) {
		const char *name = dwarf_diename(&parts[i - 1]);
		if (!name || dwarf_tag(&parts[i - 1]) == DW_TAG_subprogram)
			return HASH_NONE;
		hash = hash_part(hash, name, strlen(name));
	}
	return hash;
}

/* ---- the walk ---- */

static struct err *add_scope(struct scopes_walk *walk, Dwarf_Die *die,
			     uint64_t hash)
{
	struct scope scope = {
		.addr = die->addr,
		.parent = walk->parents[walk->walk.depth],
	};
	size_t index = walk->unit->scopes.n;
	if (index >= SCOPES_MAX)
		return err_create(ERR_INTERNAL, "too many scopes");
	TRY(vec_push(&walk->unit->scopes, scope));
	walk->parents[walk->walk.depth + 1] = (uint32_t)index;
	walk->hashes[walk->walk.depth + 1] = hash;
	return NULL;
}

static struct err *add_definition(struct scopes_walk *walk, Dwarf_Die *die,
				  uint64_t hash, const char *name)
{
	struct scopes *scopes = walk->scopes;
	uint64_t known;
	if (hash == HASH_NONE || map_u64_get(&scopes->by_name, hash, &known))
		return NULL;
	TRY(vec_push(&scopes->definitions, *die));
	TRY(map_u64_put(&scopes->by_name, hash, scopes->definitions.n - 1));
	/* Templates are spelled in more than one way: vtables.c compares. */
	const char *arguments = strchr(name, '<');
	if (!arguments)
		return NULL;
	hash = hash_part(HASH_TOP, name, (size_t)(arguments - name));
	if (!map_u64_get(&scopes->wanted, hash, &known))
		return NULL;
	return vec_push(&scopes->templates, *die);
}

static struct err *scopes_note_type(struct scopes_walk *walk, Dwarf_Die *die,
				    bool record)
{
	const char *name = dwarf_diename(die);
	uint64_t scope = walk->hashes[walk->walk.depth];
	if (dwarf_hasattr(die, DW_AT_specification))
		scope = declared_hash(walk->scopes, die);
	uint64_t hash = name ? hash_part(scope, name, strlen(name)) : HASH_NONE;
	if (hash != HASH_NONE && !dwarf_hasattr(die, DW_AT_declaration))
		TRY(add_definition(walk, die, hash, name));
	return record ? add_scope(walk, die, hash) : NULL;
}

static struct err *scopes_note_die(struct scopes_walk *walk, Dwarf_Die *die,
				   bool *ret)
{
	unsigned depth = walk->walk.depth;
	const char *name;
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		*ret = true;
		name = dwarf_diename(die);
		return add_scope(walk, die,
				 name ? hash_part(walk->hashes[depth], name,
						  strlen(name))
				      : HASH_NONE);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		*ret = true;
		return scopes_note_type(walk, die, true);
	case DW_TAG_enumeration_type:
		return scopes_note_type(walk, die, false);
	case DW_TAG_subprogram:
		if (dwarf_hasattr(die, DW_AT_declaration))
			return NULL;
		*ret = true;
		return add_scope(walk, die, HASH_NONE);
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		*ret = true;
		walk->parents[depth + 1] = walk->parents[depth];
		walk->hashes[depth + 1] = HASH_NONE;
		return NULL;
	case DW_TAG_variable:
		if (walk->number != SCOPE_NONE && variable_is_static(die))
			return vec_push(
				&walk->scopes->variables,
				(struct variable_die){ .die = *die,
						       .unit = walk->number });
		return NULL;
	default:
		return NULL;
	}
}

static bool scopes_enter_die(struct die_walk *die_walk, Dwarf_Die *die)
{
	struct scopes_walk *walk = (struct scopes_walk *)die_walk;
	bool go_in = false;
	walk->scopes->dies++;
	walk->err = scopes_note_die(walk, die, &go_in);
	die_walk->stop = walk->err;
	return go_in && !walk->err;
}

static void scopes_leave_die(struct die_walk *die_walk, Dwarf_Die *die)
{
	struct scopes_walk *walk = (struct scopes_walk *)die_walk;
	uint32_t scope = walk->parents[die_walk->depth + 1];
	/* Blocks share the scope of the function around them. */
	if (scope != SCOPE_NONE &&
	    walk->unit->scopes.data[scope].addr == die->addr)
		walk->unit->scopes.data[scope].last = die_walk->last;
}

static struct err *read_unit(struct scopes *scopes, Dwarf_Die *die)
{
	uint64_t known, number = SCOPE_NONE;
	if (map_u64_get(&scopes->by_cu, (uintptr_t)die->cu, &known))
		return NULL;
	_cleanup_(freep) struct scope_unit *unit = calloc(1, sizeof(*unit));
	if (!unit)
		return err_nomem();
	map_u64_get(&scopes->numbers, (uintptr_t)die->cu, &number);
	struct scopes_walk walk = {
		.walk = { .enter = scopes_enter_die,
			  .leave = scopes_leave_die },
		.scopes = scopes,
		.unit = unit,
		.number = (uint32_t)number,
	};
	walk.parents[1] = SCOPE_NONE;
	walk.hashes[1] = HASH_TOP;
	TRY(map_u64_put(&scopes->by_cu, (uintptr_t)die->cu, scopes->units.n));
	TRY(vec_push(&scopes->units, unit));
	take_ptr(unit);
	die_walk(&walk.walk, die);
	return walk.err;
}

/* A split file has type units of its own. */
static struct err *read_split_types(struct scopes *scopes, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die die;
	for (size_t i = 0; i < SPLIT_UNITS_MAX; i++) {
		if (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL))
			break;
		if (die.addr &&
		    (type == DW_UT_type || type == DW_UT_split_type))
			TRY(read_unit(scopes, &die));
	}
	return NULL;
}

struct err *scopes_read(struct scopes *scopes, struct object *object)
{
	scopes->object = object;
	struct units *units = object_units(object);
	const Dwarf *last_split = NULL;
	for (size_t i = 0; i < units->data.n; i++) {
		Dwarf_Die *die = object_unit_die(object, &units->data.data[i]);
		TRY(map_u64_put(&scopes->numbers, (uintptr_t)die->cu, i));
		uint8_t type;
		if (dwarf_cu_info(die->cu, NULL, &type, NULL, NULL, NULL, NULL,
				  NULL) == 0 &&
		    type == DW_UT_skeleton)
			scopes->incomplete = true;
	}
	for (size_t i = 0; i < units->data.n; i++) {
		Dwarf_Die *die = object_unit_die(object, &units->data.data[i]);
		TRY(read_unit(scopes, die));
		Dwarf *dwarf = dwarf_cu_getdwarf(die->cu);
		if (dwarf && dwarf != object->dwarf && dwarf != last_split) {
			last_split = dwarf;
			TRY(read_split_types(scopes, dwarf));
		}
	}
	return NULL;
}

void scopes_free(struct scopes *scopes)
{
	for (size_t i = 0; i < scopes->units.n; i++) {
		vec_free(&scopes->units.data[i]->scopes);
		free(scopes->units.data[i]);
	}
	vec_free(&scopes->units);
	map_u64_free(&scopes->by_cu);
	map_u64_free(&scopes->numbers);
	vec_free(&scopes->definitions);
	map_u64_free(&scopes->by_name);
	vec_free(&scopes->variables);
	vec_free(&scopes->templates);
	map_u64_free(&scopes->wanted);
}

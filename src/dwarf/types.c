/* Structs and classes by qualified name: sizes and where members are. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "dwarf/object_internal.h"

#define MEMBERS_MAX 1000000
#define NAME_MAX_ 8192
#define SPLIT_UNITS_MAX 100000

/* ---- the index ---- */

struct types_walk {
	struct die_walk walk;
	struct types *types;
	struct str scopes[DEPTH_MAX]; /* "a::b::"; buffers are used again */
	size_t depth;		      /* of the scope we are in */
	struct str name;	      /* scratch */
	VEC(char *) declared;	      /* scopes of declared types … */
	struct map_u64 by_die;	      /* … by their DIE's position */
	struct err *err;
};

static bool is_struct(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type;
}

/* A struct anywhere may be declared; only the definition is of use. */
static bool is_defined(Dwarf_Die *die)
{
	return !die_flag(die, DW_AT_declaration) ||
	       dwarf_hasattr(die, DW_AT_signature);
}

static const char *current_scope(const struct types_walk *types)
{
	const char *scope = types->scopes[types->depth].s;
	return scope ? scope : "";
}

static struct err *add_type(struct types_walk *types, const char *scope,
			    const char *name, Dwarf_Die *die)
{
	struct types *index = types->types;
	uint64_t known;
	types->name.n = 0;
	TRY(str_append(&types->name, scope));
	TRY(str_append(&types->name, name));
	if (map_text_get(&index->by_name, types->name.s, &known))
		return NULL;
	TRY(vec_push(&index->dies, *die));
	return map_text_put(&index->by_name, types->name.s, index->dies.n - 1);
}

static struct err *note_declared(struct types_walk *types, Dwarf_Die *die)
{
	_cleanup_(freep) char *scope = strdup(current_scope(types));
	if (!scope)
		return err_nomem();
	TRY(map_u64_put(&types->by_die, (uintptr_t)die->addr,
			types->declared.n));
	TRY(vec_push(&types->declared, scope));
	take_ptr(scope);
	return NULL;
}

/*
 * "struct a::b { … };" written outside a, and everything in gcc's type units:
 * the definition is on its own and refers to the declaration inside a.
 */
static const char *declared_scope(struct types_walk *types, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die declaration;
	uint64_t index;
	if (!dwarf_attr(die, DW_AT_specification, &attr) ||
	    !dwarf_formref_die(&attr, &declaration) ||
	    !map_u64_get(&types->by_die, (uintptr_t)declaration.addr, &index))
		return NULL;
	return types->declared.data[index];
}

static struct err *enter_scope(struct types_walk *types, const char *outer,
			       const char *name, bool *ret)
{
	if (types->depth + 1 >= DEPTH_MAX || strlen(outer) > NAME_MAX_)
		return NULL;
	struct str *scope = &types->scopes[types->depth + 1];
	scope->n = 0;
	TRY(str_append(scope, outer));
	if (name) {
		TRY(str_append(scope, name));
		TRY(str_append(scope, "::"));
	}
	types->depth++;
	*ret = true;
	return NULL;
}

static struct err *enter_struct(struct types_walk *types, Dwarf_Die *die,
				bool *ret)
{
	if (die_flag(die, DW_AT_declaration))
		TRY(note_declared(types, die));
	const char *outer = declared_scope(types, die);
	if (!outer)
		outer = current_scope(types);
	const char *name = dwarf_diename(die);
	Dwarf_Attribute attr;
	Dwarf_Die type;
	/* clang's reference to a type unit leaves the name to that. */
	if (!name && dwarf_attr(die, DW_AT_signature, &attr) &&
	    dwarf_formref_die(&attr, &type))
		name = dwarf_diename(&type);
	if (name && is_defined(die))
		TRY(add_type(types, outer, name, die));
	return enter_scope(types, outer, name, ret);
}

static struct err *types_note_die(struct types_walk *types, Dwarf_Die *die,
				  bool *ret)
{
	const char *name;
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		name = dwarf_diename(die);
		return enter_scope(types, current_scope(types),
				   name ? name : "(anonymous namespace)", ret);
	case DW_TAG_typedef:
		name = dwarf_diename(die);
		return name ? add_type(types, current_scope(types), name, die)
			    : NULL;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return enter_struct(types, die, ret);
	default:
		return NULL;
	}
}

static bool enter_type(struct die_walk *walk, Dwarf_Die *die)
{
	struct types_walk *types = (struct types_walk *)walk;
	bool enter = false;
	types->err = types_note_die(types, die, &enter);
	walk->stop = types->err;
	return enter && !types->err;
}

static void leave_type(struct die_walk *walk, Dwarf_Die *die _unused_)
{
	struct types_walk *types = (struct types_walk *)walk;
	types->depth--;
}

static void index_die(struct types *types, Dwarf_Die *die)
{
	struct types_walk walk = {
		.walk = { .enter = enter_type, .leave = leave_type },
		.types = types,
	};
	die_walk(&walk.walk, die);
	if (walk.err)
		err_ignore(walk.err);
	for (size_t i = 0; i < DEPTH_MAX; i++)
		str_free(&walk.scopes[i]);
	str_free(&walk.name);
	for (size_t i = 0; i < walk.declared.n; i++)
		free(walk.declared.data[i]);
	vec_free(&walk.declared);
	map_u64_free(&walk.by_die);
}

static void index_unit(struct object *object, struct object_unit *unit)
{
	Dwarf_Die *die = object_unit_die(object, unit);
	index_die(&object->types, die);
	Dwarf *dwarf = dwarf_cu_getdwarf(die->cu);
	if (!dwarf || dwarf == object->dwarf)
		return;
	/* A split file has type units of its own. */
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die other;
	for (size_t i = 0; i < SPLIT_UNITS_MAX; i++) {
		if (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &other,
				    NULL) != 0)
			break;
		if (other.addr &&
		    (type == DW_UT_type || type == DW_UT_split_type))
			index_die(&object->types, &other);
	}
}

void types_free(struct types *types)
{
	vec_free(&types->dies);
	map_text_free(&types->by_name);
}

/*
 * The index grows unit by unit until the name is in it: the types of a test
 * framework are in the first unit that uses it.
 */
static bool find_type(struct object *object, const char *name, Dwarf_Die *ret)
{
	struct types *types = &object->types;
	struct units *units = object_units(object);
	uint64_t found;
	for (;;) {
		if (map_text_get(&types->by_name, name, &found) &&
		    found < types->dies.n) {
			Dwarf_Die die;
			if (!die_peel(&types->dies.data[found], &die) ||
			    !is_struct(dwarf_tag(&die)))
				return false;
			*ret = die;
			return true;
		}
		if (types->units >= units->data.n)
			return false;
		index_unit(object, &units->data.data[types->units++]);
	}
}

/*
 * A class that this unit only declares (clang leaves definitions to one unit)
 * is looked up by its name.
 */
static bool find_definition(struct object *object, Dwarf_Die *die,
			    Dwarf_Die *ret)
{
	if (!die_flag(die, DW_AT_declaration)) {
		*ret = *die;
		return true;
	}
	const char *own = dwarf_diename(die);
	_cleanup_(freep) Dwarf_Die *scopes = NULL;
	int n = own ? dwarf_getscopes_die(die, &scopes) : 0;
	_cleanup_(str_freep) struct str name = STR_INIT;
	/* Innermost first: the type itself, its scopes, the unit. */
	for (int i = n - 1; i >= 1; i--) {
		int tag = dwarf_tag(&scopes[i]);
		if (tag != DW_TAG_namespace && !is_struct(tag))
			continue;
		const char *scope = dwarf_diename(&scopes[i]);
		struct err *err = str_appendf(
			&name, "%s::", scope ? scope : "(anonymous namespace)");
		if (err) {
			err_ignore(err);
			return false;
		}
	}
	struct err *err = n > 0 ? str_append(&name, own) : NULL;
	if (err) {
		err_ignore(err);
		return false;
	}
	return name.s && find_type(object, name.s, ret) &&
	       !die_flag(ret, DW_AT_declaration);
}

/* ---- members ---- */

/* False where it is not a plain number: virtual bases. */
static bool member_location(Dwarf_Die *member, uint64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;
	if (dwarf_attr(member, DW_AT_data_member_location, &attr)) {
		if (dwarf_formudata(&attr, &value) == 0) {
			*ret = value;
			return true;
		}
		/* DWARF 2 writes it as an expression. */
		Dwarf_Op *ops;
		size_t n;
		if (dwarf_getlocation(&attr, &ops, &n) == 0 && n == 1 &&
		    (ops[0].atom == DW_OP_plus_uconst ||
		     ops[0].atom == DW_OP_constu)) {
			*ret = ops[0].number;
			return true;
		}
		return false;
	}
	if (dwarf_attr(member, DW_AT_data_bit_offset, &attr)) {
		if (dwarf_formudata(&attr, &value) != 0)
			return false;
		*ret = value / 8;
		return true;
	}
	*ret = 0; /* of a union */
	return true;
}

struct member_search {
	struct object *object;
	const char *name; /* not NUL-terminated */
	size_t name_n;
	unsigned steps; /* over all levels: bases may be shared */
	uint64_t offset;
	Dwarf_Die type; /* of the member found, peeled */
	bool has_type;
};

static bool search_member(struct member_search *search, Dwarf_Die *type,
			  uint64_t offset, unsigned depth);

static bool is_searched(const struct member_search *search, const char *name)
{
	return strlen(name) == search->name_n &&
	       !memcmp(name, search->name, search->name_n);
}

static bool look_at_member(struct member_search *search, Dwarf_Die *member,
			   uint64_t offset, unsigned depth)
{
	int tag = dwarf_tag(member);
	if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
		return false;
	const char *name = tag == DW_TAG_member ? dwarf_diename(member) : NULL;
	/* Static members of DWARF 4 are members without a place. */
	if (die_flag(member, DW_AT_declaration) ||
	    die_flag(member, DW_AT_external))
		return false;
	uint64_t at;
	Dwarf_Die type;
	if (name && !is_searched(search, name))
		return false;
	if (!member_location(member, &at))
		return false;
	bool has_type = die_type(member, &type) && die_peel(&type, &type);
	if (name) {
		search->offset = offset + at;
		search->type = type;
		search->has_type = has_type;
		return true;
	}
	/* Base classes and anonymous structs: their members are ours. */
	return has_type && is_struct(dwarf_tag(&type)) &&
	       search_member(search, &type, offset + at, depth + 1);
}

static bool search_member(struct member_search *search, Dwarf_Die *type,
			  uint64_t offset, unsigned depth)
{
	Dwarf_Die die, member;
	if (depth > CHAIN_MAX || !find_definition(search->object, type, &die))
		return false;
	/* Own members first: they hide those of bases. */
	for (int round = 0; round < 2; round++) {
		if (!die_child(&die, &member))
			return false;
		do {
			if (++search->steps > MEMBERS_MAX)
				return false;
			bool named = dwarf_tag(&member) == DW_TAG_member &&
				     dwarf_diename(&member);
			if (named == !round &&
			    look_at_member(search, &member, offset, depth))
				return true;
		} while (die_next(&member));
	}
	return false;
}

bool object_member_offset(struct object *object, const char *type,
			  const char *member, uint64_t *ret)
{
	struct member_search search = { .object = object };
	uint64_t offset = 0;
	if (!find_type(object, type, &search.type))
		return false;
	search.has_type = true;
	for (;;) {
		const char *dot = strchrnul(member, '.');
		search.name = member;
		search.name_n = (size_t)(dot - member);
		Dwarf_Die outer = search.type;
		if (!search.has_type || !is_struct(dwarf_tag(&outer)) ||
		    !search_member(&search, &outer, offset, 0))
			return false;
		offset = search.offset;
		if (!*dot)
			break;
		member = dot + 1;
	}
	*ret = offset;
	return true;
}

bool object_type_size(struct object *object, const char *type, uint64_t *ret)
{
	Dwarf_Die die;
	Dwarf_Attribute attr;
	Dwarf_Word size;
	if (!find_type(object, type, &die) ||
	    !find_definition(object, &die, &die) ||
	    !dwarf_attr(&die, DW_AT_byte_size, &attr) ||
	    dwarf_formudata(&attr, &size) != 0)
		return false;
	*ret = size;
	return true;
}

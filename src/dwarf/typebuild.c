/* Types out of debug information: everything but the inside of structs. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/macro.h"
#include "dwarf/index_internal.h"

#define DIMENSIONS_MAX 32
#define POINTER_SIZE 8
#define MEMBER_FUNCTION_SIZE 16
/* Longest chain of pointers to pointers and arrays of arrays. */
#define NESTING_MAX 64

/* A type as something refers to it: without typedefs and qualifiers. */
struct peeled {
	Dwarf_Die die;
	Dwarf_Die alias; /* the innermost typedef passed; addr NULL: none */
	bool none;	 /* void */
	bool atomic;
	const char *text; /* C's wchar_t, char16_t, …: a typedef; or NULL */
};

static struct err *type_build_die(struct type_builder *builder, Dwarf_Die *die,
				  unsigned depth, type_id *ret);

static uint64_t hash_more(uint64_t hash, const void *data, size_t n)
{
	return XXH3_64bits_withSeed(data, n, hash);
}

bool die_unsigned(Dwarf_Die *die, unsigned attribute, uint64_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;
	if (!dwarf_attr_integrate(die, attribute, &attr) ||
	    dwarf_formudata(&attr, &value) != 0)
		return false;
	*ret = value;
	return true;
}

static uint64_t byte_size(Dwarf_Die *die)
{
	uint64_t size = 0;
	return die_unsigned(die, DW_AT_byte_size, &size) ? size : 0;
}

/* ---- types without a DIE of their own ---- */

/* The type without a DIE of its own that has this content. */
static struct err *type_intern(struct type_builder *builder,
			       const struct type *type, type_id *ret)
{
	const char *name = type->name ? type->name : "";
	uint64_t key[5] = { type->kind, type->flags, type->size, type->target,
			    type->count };
	uint64_t hash = hash_more(1, key, sizeof(key));
	hash = hash_more(hash, name, strlen(name));
	uint64_t known;
	if (map_u64_get(&builder->interned, hash, &known)) {
		*ret = (type_id)known;
		return NULL;
	}
	type_id id;
	TRY(type_declare(builder->pool, &id));
	TRY(type_set(builder->pool, id, type));
	TRY(map_u64_put(&builder->interned, hash, id));
	*ret = id;
	return NULL;
}

static struct err *intern_void(struct type_builder *builder, type_id *ret)
{
	struct type type = { .kind = TYPE_VOID, .name = "void" };
	return type_intern(builder, &type, ret);
}

static struct err *intern_opaque(struct type_builder *builder, const char *name,
				 uint64_t size, type_id *ret)
{
	struct type type = { .kind = TYPE_OPAQUE, .name = name, .size = size };
	return type_intern(builder, &type, ret);
}

/* ---- looking through ---- */

static bool is_looked_through(int tag)
{
	switch (tag) {
	case DW_TAG_typedef:
	case DW_TAG_template_alias:
	case DW_TAG_atomic_type:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
		return true;
	default:
		return false;
	}
}

static void note_typedef(struct peeled *peeled)
{
	static const char *const texts[] = { "wchar_t", "char8_t", "char16_t",
					     "char32_t" };
	peeled->alias = peeled->die;
	const char *name = dwarf_diename(&peeled->die);
	for (size_t i = 0; name && i < ARRAY_SIZE(texts); i++) {
		if (!strcmp(name, texts[i]))
			peeled->text = texts[i];
	}
}

static bool type_peel_die(Dwarf_Die *die, struct peeled *ret)
{
	*ret = (struct peeled){ .die = *die };
	for (int i = 0; i < CHAIN_MAX; i++) {
		Dwarf_Attribute attr;
		int tag = dwarf_tag(&ret->die);
		if (is_looked_through(tag)) {
			if (tag == DW_TAG_atomic_type)
				ret->atomic = true;
			else if (tag == DW_TAG_typedef)
				note_typedef(ret);
			if (!dwarf_attr_integrate(&ret->die, DW_AT_type,
						  &attr)) {
				ret->none = true;
				return true;
			}
		} else if (!dwarf_attr(&ret->die, DW_AT_signature, &attr)) {
			return true;
		}
		/* A signature: moved to a type unit (-fdebug-types-section). */
		if (!dwarf_formref_die(&attr, &ret->die))
			return false;
	}
	return false;
}

/* ---- base types ---- */

static enum type_kind base_kind(uint64_t encoding, const char *name)
{
	bool wide = !strcmp(name, "wchar_t");
	switch (encoding) {
	case DW_ATE_boolean:
		return TYPE_BOOL;
	case DW_ATE_float:
	case DW_ATE_imaginary_float:
		return TYPE_FLOAT;
	case DW_ATE_complex_float:
		return TYPE_COMPLEX;
	case DW_ATE_UTF:
		return TYPE_CHAR;
	case DW_ATE_signed_char:
		return strcmp(name, "char") ? TYPE_SIGNED : TYPE_CHAR;
	case DW_ATE_unsigned_char:
		return strcmp(name, "char") ? TYPE_UNSIGNED : TYPE_CHAR;
	case DW_ATE_signed:
		return wide ? TYPE_CHAR : TYPE_SIGNED;
	case DW_ATE_unsigned:
		return wide ? TYPE_CHAR : TYPE_UNSIGNED;
	case DW_ATE_address:
		return TYPE_UNSIGNED;
	default:
		return TYPE_OPAQUE;
	}
}

static struct err *build_base(struct type_builder *builder,
			      struct peeled *peeled, type_id *ret)
{
	uint64_t encoding = 0;
	Dwarf_Die *die = &peeled->die;
	const char *name = peeled->text ? peeled->text : dwarf_diename(die);
	if (!name)
		name = "";
	die_unsigned(die, DW_AT_encoding, &encoding);
	struct type type = {
		.kind = peeled->text ? TYPE_CHAR : base_kind(encoding, name),
		.flags = peeled->atomic ? TYPE_ATOMIC : 0,
		.name = name,
		.size = byte_size(die),
	};
	return type_intern(builder, &type, ret);
}

/* std::nullptr_t is the only one in C and C++. */
static struct err *build_unspecified(struct type_builder *builder,
				     Dwarf_Die *die, type_id *ret)
{
	const char *name = dwarf_diename(die);
	if (!name || !strstr(name, "nullptr"))
		return intern_void(builder, ret);
	struct type type = {
		.kind = TYPE_POINTER,
		.name = name,
		.size = POINTER_SIZE,
	};
	TRY(intern_void(builder, &type.target));
	return type_intern(builder, &type, ret);
}

/* ---- derived types ---- */

static struct err *build_target(struct type_builder *builder, Dwarf_Die *die,
				unsigned depth, type_id *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Die target;
	if (!dwarf_attr_integrate(die, DW_AT_type, &attr))
		return intern_void(builder, ret);
	if (!dwarf_formref_die(&attr, &target)) {
		*ret = TYPE_UNKNOWN;
		return NULL;
	}
	return type_build_die(builder, &target, depth + 1, ret);
}

static struct err *build_pointer(struct type_builder *builder, Dwarf_Die *die,
				 enum type_kind kind, bool atomic,
				 unsigned depth, type_id *ret)
{
	struct type type = {
		.kind = kind,
		.flags = atomic ? TYPE_ATOMIC : 0,
		.size = POINTER_SIZE,
	};
	TRY(build_target(builder, die, depth, &type.target));
	return type_intern(builder, &type, ret);
}

static struct err *build_member_pointer(struct type_builder *builder,
					Dwarf_Die *die, unsigned depth,
					type_id *ret)
{
	struct type type = { .kind = TYPE_DATA_MEMBER, .size = POINTER_SIZE };
	TRY(build_target(builder, die, depth, &type.target));
	if (type_get(builder->pool, type.target)->kind == TYPE_CODE) {
		type.kind = TYPE_CODE_MEMBER;
		type.size = MEMBER_FUNCTION_SIZE;
	}
	return type_intern(builder, &type, ret);
}

/* TYPE_NO_COUNT: none is said, it is 0, or only known when it runs. */
static uint64_t dimension_count(Dwarf_Die *subrange)
{
	uint64_t count, upper, lower = 0;
	if (die_unsigned(subrange, DW_AT_count, &count))
		return count ? count : TYPE_NO_COUNT;
	if (!die_unsigned(subrange, DW_AT_upper_bound, &upper))
		return TYPE_NO_COUNT;
	die_unsigned(subrange, DW_AT_lower_bound, &lower);
	/* "[0]" has the bound -1, of any width. */
	if (upper == UINT32_MAX || upper < lower || upper - lower >= INT64_MAX)
		return TYPE_NO_COUNT;
	return upper - lower + 1;
}

static struct err *build_array(struct type_builder *builder, Dwarf_Die *die,
			       unsigned depth, type_id *ret)
{
	uint64_t counts[DIMENSIONS_MAX];
	size_t n = 0;
	Dwarf_Die child;
	if (dwarf_hasattr(die, DW_AT_byte_stride) ||
	    dwarf_hasattr(die, DW_AT_bit_stride))
		return intern_opaque(builder, "", byte_size(die), ret);
	for (bool more = die_child(die, &child); more;
	     more = die_next(&child)) {
		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		if (n == DIMENSIONS_MAX)
			return intern_opaque(builder, "", byte_size(die), ret);
		counts[n++] = dimension_count(&child);
	}
	if (!n)
		counts[n++] = TYPE_NO_COUNT;
	type_id id;
	TRY(build_target(builder, die, depth, &id));
	while (n)
		TRY(type_array_of(builder->pool, id, counts[--n], &id));
	*ret = id;
	return NULL;
}

/* ---- structs and enums ---- */

static const char *type_name(struct type_builder *builder, Dwarf_Die *die,
			     bool *ret_local)
{
	unsigned flags = 0;
	builder->name.n = 0;
	struct err *err =
		scopes_name(builder->scopes, die, &builder->name, &flags);
	if (err) {
		err_ignore(err);
		return NULL;
	}
	*ret_local = flags & SCOPE_LOCAL;
	return type_text(builder->pool, builder->name.n ? builder->name.s : "");
}

/*
 * C has no rule that equal names mean equal structs: there the members'
 * names and places are part of what a struct is known by.
 */
static uint64_t hash_members(struct type_builder *builder, Dwarf_Die *die,
			     uint64_t hash)
{
	Dwarf_Die child;
	for (bool more = die_child(die, &child); more;
	     more = die_next(&child)) {
		if (builder->steps++ > builder->steps_max)
			break;
		const char *name = dwarf_diename(&child);
		uint64_t at = 0;
		if (name)
			hash = hash_more(hash, name, strlen(name));
		die_unsigned(&child, DW_AT_data_member_location, &at);
		hash = hash_more(hash, &at, sizeof(at));
	}
	return hash;
}

static bool written_in_cxx(Dwarf_Die *die)
{
	Dwarf_Die unit;
	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return true;
	default:
		return false;
	}
}

/* One copy of what a thousand units have from the same header. */
static uint64_t named_hash(struct type_builder *builder, Dwarf_Die *die,
			   const char *name, bool local)
{
	uint64_t line = 0;
	die_unsigned(die, DW_AT_decl_line, &line);
	uint64_t key[4] = { (uint64_t)dwarf_tag(die), byte_size(die), line,
			    local ? (uintptr_t)die->cu : 0 };
	uint64_t hash = hash_more(2, key, sizeof(key));
	hash = hash_more(hash, name, strlen(name));
	if (local || !written_in_cxx(die))
		hash = hash_members(builder, die, hash);
	return hash;
}

static struct err *build_named(struct type_builder *builder,
			       struct peeled *peeled, type_id *ret)
{
	Dwarf_Die *die = &peeled->die;
	bool local = false;
	const char *name;
	if (dwarf_hasattr(die, DW_AT_name) ||
	    dwarf_hasattr(die, DW_AT_specification) || !peeled->alias.addr)
		name = type_name(builder, die, &local);
	else
		name = type_name(builder, &peeled->alias, &local);
	if (!name)
		return err_nomem();
	/* Parts of structs without a name have only half of theirs. */
	if (!dwarf_diename(die) && !peeled->alias.addr)
		name = "";

	Dwarf_Die definition = *die;
	uint64_t known;
	if (die_flag(die, DW_AT_declaration)) {
		if (!*name ||
		    !scopes_definition(builder->scopes, name, &definition))
			return intern_opaque(builder, name, 0, ret);
		if (map_u64_get(&builder->by_die, (uintptr_t)definition.addr,
				&known)) {
			*ret = (type_id)known;
			return NULL;
		}
	}
	uint64_t hash =
		*name ? named_hash(builder, &definition, name, local) : 0;
	if (*name && map_u64_get(&builder->interned, hash, &known)) {
		*ret = (type_id)known;
	} else {
		struct type_work work = { .die = definition, .name = name };
		TRY(type_declare(builder->pool, &work.id));
		if (*name)
			TRY(map_u64_put(&builder->interned, hash, work.id));
		TRY(vec_push(&builder->work, work));
		*ret = work.id;
	}
	return map_u64_put(&builder->by_die, (uintptr_t)definition.addr, *ret);
}

static struct err *build_peeled(struct type_builder *builder,
				struct peeled *peeled, unsigned depth,
				type_id *ret)
{
	Dwarf_Die *die = &peeled->die;
	struct type code = { .kind = TYPE_CODE };
	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		return build_base(builder, peeled, ret);
	case DW_TAG_unspecified_type:
		return build_unspecified(builder, die, ret);
	case DW_TAG_pointer_type:
		return build_pointer(builder, die, TYPE_POINTER, peeled->atomic,
				     depth, ret);
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return build_pointer(builder, die, TYPE_REFERENCE, false, depth,
				     ret);
	case DW_TAG_ptr_to_member_type:
		return build_member_pointer(builder, die, depth, ret);
	case DW_TAG_subroutine_type:
	case DW_TAG_subprogram:
		return type_intern(builder, &code, ret);
	case DW_TAG_array_type:
		return build_array(builder, die, depth, ret);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return build_named(builder, peeled, ret);
	default:
		return intern_opaque(builder, "", byte_size(die), ret);
	}
}

static struct err *type_build_die(struct type_builder *builder, Dwarf_Die *die,
				  unsigned depth, type_id *ret)
{
	uint64_t known;
	if (map_u64_get(&builder->by_die, (uintptr_t)die->addr, &known)) {
		*ret = (type_id)known;
		return NULL;
	}
	struct peeled peeled;
	if (depth > NESTING_MAX || !type_peel_die(die, &peeled)) {
		*ret = TYPE_UNKNOWN;
		return NULL;
	}
	if (peeled.none)
		return intern_void(builder, ret);
	/* What it was reached through makes another type of the same DIE. */
	bool plain = !peeled.atomic && !peeled.text;
	if (plain &&
	    map_u64_get(&builder->by_die, (uintptr_t)peeled.die.addr, &known)) {
		*ret = (type_id)known;
		return NULL;
	}
	type_id id;
	TRY(build_peeled(builder, &peeled, depth, &id));
	if (plain)
		TRY(map_u64_put(&builder->by_die, (uintptr_t)peeled.die.addr,
				id));
	*ret = id;
	return map_u64_put(&builder->by_die, (uintptr_t)die->addr, id);
}

struct err *type_build(struct type_builder *builder, Dwarf_Die *die,
		       type_id *ret)
{
	return die ? type_build_die(builder, die, 0, ret)
		   : intern_void(builder, ret);
}

struct err *type_build_rest(struct type_builder *builder)
{
	while (builder->work.n) {
		struct type_work work = builder->work.data[--builder->work.n];
		if (builder->steps > builder->steps_max)
			return NULL; /* made to keep us busy: rest is opaque */
		TRY(record_fill(builder, &work));
	}
	return NULL;
}

void type_builder_free(struct type_builder *builder)
{
	map_u64_free(&builder->by_die);
	map_u64_free(&builder->interned);
	vec_free(&builder->work);
	vec_free(&builder->members);
	vec_free(&builder->enumerators);
	vec_free(&builder->arguments);
	str_free(&builder->name);
}

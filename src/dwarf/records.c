/* The inside of structs, unions and enums. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "dwarf/index_internal.h"

#define PACK_DEPTH 8

/* ---- where members lie ---- */

/*
 * Of a virtual base: "dup, deref, constu N, minus, deref, plus" on the
 * object's address, that is, the word at the vptr's target minus N.
 */
static bool vtable_offset(const Dwarf_Op *ops, size_t n, int64_t *ret)
{
	for (size_t i = 0; i + 1 < n; i++) {
		uint64_t value = ops[i].number;
		switch (ops[i].atom) {
		case DW_OP_const1s:
		case DW_OP_const2s:
		case DW_OP_const4s:
		case DW_OP_const8s:
		case DW_OP_consts:
		case DW_OP_const1u:
		case DW_OP_const2u:
		case DW_OP_const4u:
		case DW_OP_const8u:
		case DW_OP_constu:
			break;
		default:
			if (ops[i].atom < DW_OP_lit0 ||
			    ops[i].atom > DW_OP_lit31)
				continue;
			value = ops[i].atom - DW_OP_lit0;
		}
		if (ops[i + 1].atom != DW_OP_minus &&
		    ops[i + 1].atom != DW_OP_plus)
			continue;
		if (ops[i + 1].atom == DW_OP_minus)
			value = -value;
		*ret = (int64_t)value;
		return true;
	}
	return false;
}

/* False: a place that we do not understand. */
static bool member_place(Dwarf_Die *die, struct type_member *member)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;
	if (!dwarf_attr(die, DW_AT_data_member_location, &attr))
		return true; /* of a union */
	if (dwarf_formudata(&attr, &value) == 0) {
		member->offset = value;
		return true;
	}
	Dwarf_Op *ops;
	size_t n;
	if (dwarf_getlocation(&attr, &ops, &n) != 0)
		return false;
	if (n == 1 &&
	    (ops[0].atom == DW_OP_plus_uconst || ops[0].atom == DW_OP_constu)) {
		member->offset = ops[0].number; /* DWARF 2 */
		return true;
	}
	member->virtual_base = vtable_offset(ops, n, &member->vtable_offset);
	return member->virtual_base;
}

/* Bit-fields: from the first bit of the struct, or the older way round. */
static bool member_bits(const struct type_pool *pool, Dwarf_Die *die,
			struct type_member *member)
{
	uint64_t size, at, unit;
	if (!die_unsigned(die, DW_AT_bit_size, &size))
		return true;
	if (!size || size > 128)
		return false;
	if (die_unsigned(die, DW_AT_data_bit_offset, &at)) {
		if (at > TYPE_SIZE_MAX)
			return false;
	} else if (die_unsigned(die, DW_AT_bit_offset, &at)) {
		/*
		 * Counted from the most significant bit of a unit at the
		 * member's place; negative (as 2^64 - x) if it begins after it.
		 */
		if (!die_unsigned(die, DW_AT_byte_size, &unit))
			unit = type_get(pool, member->type)->size;
		if (unit > 16 || member->offset > TYPE_SIZE_MAX)
			return false;
		if (at >> 31 == 1) /* -x in four bytes */
			at |= ~(uint64_t)UINT32_MAX;
		at = member->offset * 8 + unit * 8 - at - size;
		if (at > TYPE_SIZE_MAX * 8)
			return false;
	} else {
		at = member->offset * 8;
	}
	member->offset = at / 8;
	member->bit_offset = at % 8;
	member->bit_size = (uint8_t)size;
	return true;
}

static struct err *referred_type(struct type_builder *builder, Dwarf_Die *die,
				 type_id *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;
	if (!dwarf_attr_integrate(die, DW_AT_type, &attr))
		return type_build(builder, NULL, ret);
	if (dwarf_formref_die(&attr, &type))
		return type_build(builder, &type, ret);
	*ret = TYPE_UNKNOWN;
	return NULL;
}

static struct err *add_member(struct type_builder *builder, Dwarf_Die *die,
			      bool base)
{
	/* Static members: variables of their own. */
	if (dwarf_hasattr(die, DW_AT_declaration) ||
	    dwarf_hasattr(die, DW_AT_external))
		return NULL;
	const char *name = base ? NULL : dwarf_diename(die);
	struct type_member member = {
		.name = name ? name : "",
		.base = base,
		.artificial = die_flag(die, DW_AT_artificial),
	};
	if (!member_place(die, &member))
		return NULL;
	TRY(referred_type(builder, die, &member.type));
	if (!member_bits(builder->pool, die, &member))
		return NULL;
	return vec_push(&builder->members, member);
}

/* ---- template arguments ---- */

static int64_t signed_value(Dwarf_Attribute *attr)
{
	Dwarf_Sword value;
	Dwarf_Word other;
	/* data1 to data8 say nothing of the sign; compilers write plain ones. */
	switch (dwarf_whatform(attr)) {
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		return dwarf_formsdata(attr, &value) == 0 ? value : 0;
	default:
		return dwarf_formudata(attr, &other) == 0 ? (int64_t)other : 0;
	}
}

static struct err *add_argument(struct type_builder *builder, Dwarf_Die *die,
				unsigned depth)
{
	struct type_argument argument = {};
	Dwarf_Attribute attr;
	Dwarf_Die child;
	switch (dwarf_tag(die)) {
	case DW_TAG_template_value_parameter:
		argument.is_value = true;
		if (dwarf_attr(die, DW_AT_const_value, &attr))
			argument.value = signed_value(&attr);
		break;
	case DW_TAG_template_type_parameter:
		break;
	case DW_TAG_GNU_template_parameter_pack:
		if (depth >= PACK_DEPTH)
			return NULL;
		for (bool more = die_child(die, &child); more;
		     more = die_next(&child)) {
			builder->steps++;
			TRY(add_argument(builder, &child, depth + 1));
		}
		return NULL;
	default:
		return NULL;
	}
	TRY(referred_type(builder, die, &argument.type));
	return vec_push(&builder->arguments, argument);
}

/* ---- filling ---- */

static int member_order(const void *left, const void *right)
{
	const struct type_member *a = left, *b = right;
	if (a->virtual_base != b->virtual_base)
		return a->virtual_base ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->bit_offset != b->bit_offset)
		return a->bit_offset < b->bit_offset ? -1 : 1;
	return 0;
}

/*
 * Stable, and usually nothing is out of order. Not qsort(): glibc's falls back
 * to an order of its own for equal ones when memory is short.
 */
static void sort_members(struct type_member *members, size_t n)
{
	size_t moved = 0;
	for (size_t i = 1; i < n; i++) {
		struct type_member member = members[i];
		size_t at = i;
		while (at && member_order(&members[at - 1], &member) > 0) {
			members[at] = members[at - 1];
			at--;
			/* Made to take long: the rest stays as it is. */
			if (++moved > 1000000)
				break;
		}
		members[at] = member;
		if (moved > 1000000)
			return;
	}
}

static struct err *fill_enum(struct type_builder *builder,
			     const struct type_work *work, struct type *type)
{
	Dwarf_Die die = work->die, child;
	Dwarf_Attribute attr;
	type->kind = TYPE_ENUM;
	if (dwarf_hasattr(&die, DW_AT_type)) {
		TRY(referred_type(builder, &die, &type->target));
		if (!type->size)
			type->size =
				type_get(builder->pool, type->target)->size;
	}
	builder->enumerators.n = 0;
	for (bool more = die_child(&die, &child); more;
	     more = die_next(&child)) {
		if (builder->steps++ > builder->steps_max)
			break;
		const char *name = dwarf_diename(&child);
		if (dwarf_tag(&child) != DW_TAG_enumerator || !name ||
		    !dwarf_attr(&child, DW_AT_const_value, &attr))
			continue;
		struct type_enumerator enumerator = {
			.name = name,
			.value = signed_value(&attr),
		};
		TRY(vec_push(&builder->enumerators, enumerator));
	}
	type->enumerators = builder->enumerators.data;
	type->n_enumerators = (uint32_t)builder->enumerators.n;
	return NULL;
}

static struct err *fill_struct(struct type_builder *builder,
			       const struct type_work *work, struct type *type)
{
	Dwarf_Die die = work->die, child;
	builder->members.n = 0;
	builder->arguments.n = 0;
	type->kind =
		dwarf_tag(&die) == DW_TAG_union_type ? TYPE_UNION : TYPE_STRUCT;
	for (bool more = die_child(&die, &child); more;
	     more = die_next(&child)) {
		if (builder->steps++ > builder->steps_max)
			break;
		switch (dwarf_tag(&child)) {
		case DW_TAG_member:
			TRY(add_member(builder, &child, false));
			break;
		case DW_TAG_inheritance:
			TRY(add_member(builder, &child, true));
			break;
		case DW_TAG_template_type_parameter:
		case DW_TAG_template_value_parameter:
		case DW_TAG_GNU_template_parameter_pack:
			TRY(add_argument(builder, &child, 0));
			break;
		}
	}
	sort_members(builder->members.data, builder->members.n);
	type->members = builder->members.data;
	type->n_members = (uint32_t)builder->members.n;
	type->arguments = builder->arguments.data;
	type->n_arguments = (uint32_t)builder->arguments.n;
	return NULL;
}

struct err *record_fill(struct type_builder *builder,
			const struct type_work *work)
{
	Dwarf_Die die = work->die;
	uint64_t align = 0;
	struct type type = { .name = work->name };
	die_unsigned(&die, DW_AT_byte_size, &type.size);
	die_unsigned(&die, DW_AT_alignment, &align);
	type.align = align <= UINT32_MAX ? (uint32_t)align : 0;
	if (dwarf_tag(&die) == DW_TAG_enumeration_type)
		TRY(fill_enum(builder, work, &type));
	else
		TRY(fill_struct(builder, work, &type));
	return type_set(builder->pool, work->id, &type);
}

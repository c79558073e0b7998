/*
 * Elements of ranges: how large are they, and may their bytes simply be moved to
 * another place? Plain data may, and so may what only points elsewhere
 * (std::unique_ptr, std::vector). What its author copies and destroys in a way of
 * his own may not.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "dwarf/index_internal.h"

/* Types, members and functions that are looked at for one kind of element. */
#define STEPS_MAX 20000
#define NESTING_MAX 16
#define CHILDREN_MAX 10000
/* sizeof(std::string) of libstdc++, and from its pointer to its own room. */
#define OWN_ROOM_SIZE 32

struct elements_search {
	struct object_elements *elements;
	unsigned steps;
};

static bool is_movable(struct elements_search *search, Dwarf_Die *type,
		       unsigned depth);

static bool die_starts(Dwarf_Die *die, const char *start)
{
	const char *name = dwarf_diename(die);
	return name && str_starts(name, start);
}

static Dwarf_Word die_size_of(Dwarf_Die *type)
{
	Dwarf_Word size;
	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

/* In namespace std, or one within it. */
static bool is_in_std(Dwarf_Die *type)
{
	_cleanup_(freep) Dwarf_Die *scopes = NULL;
	int n = dwarf_getscopes_die(type, &scopes);
	/* Innermost first; the last is the unit. */
	const char *outer = n > 2 ? dwarf_diename(&scopes[n - 2]) : NULL;
	return outer && !strcmp(outer, "std") &&
	       dwarf_tag(&scopes[n - 2]) == DW_TAG_namespace;
}

static bool has_member(Dwarf_Die *type, const char *name)
{
	Dwarf_Die child;
	unsigned seen = 0;
	if (!die_child(type, &child))
		return false;
	do {
		const char *own = dwarf_tag(&child) == DW_TAG_member
					  ? dwarf_diename(&child)
					  : NULL;
		if (own && !strcmp(own, name))
			return true;
	} while (++seen < CHILDREN_MAX && die_next(&child));
	return false;
}

/* Those of the standard library that only point elsewhere, by name and size. */
static bool is_known_movable(struct elements_search *search, Dwarf_Die *type)
{
	static const struct {
		const char *start;
		Dwarf_Word size; /* without an allocator or deleter in it */
	} known[] = {
		{ "unique_ptr<", 8 },
		{ "shared_ptr<", 16 },
		{ "weak_ptr<", 16 },
		{ "vector<", 24 },
	};
	Dwarf_Word size = die_size_of(type);
	bool found = false;
	for (size_t i = 0; !found && i < ARRAY_SIZE(known); i++)
		found = size == known[i].size &&
			die_starts(type, known[i].start);
	bool text = !found && die_starts(type, "basic_string<");
	if ((!found && !text) || !is_in_std(type))
		return false;
	search->elements->addresses = true;
	/* libc++'s has none, nor has the one of old that is shared. */
	if (text && size == OWN_ROOM_SIZE && has_member(type, "_M_dataplus"))
		search->elements->inside = true;
	return true;
}

/* What is passed in registers has no such functions: clang says so. */
static bool is_passed_by_value(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word convention;
	return dwarf_attr(type, DW_AT_calling_convention, &attr) &&
	       dwarf_formudata(&attr, &convention) == 0 &&
	       convention == DW_CC_pass_by_value;
}

/* Is it moved as what is in it is? std::pair and std::tuple are. */
static bool is_known_sum(Dwarf_Die *type)
{
	if (is_passed_by_value(type))
		return true;
	return (die_starts(type, "pair<") || die_starts(type, "__pair_base<") ||
		die_starts(type, "tuple<") ||
		die_starts(type, "_Tuple_impl<") ||
		die_starts(type, "_Head_base<")) &&
	       is_in_std(type);
}

/* "box", "box<int>": a constructor of the class "box<int>" has either name. */
static bool is_constructor_of(Dwarf_Die *function, Dwarf_Die *type)
{
	const char *own = dwarf_diename(type), *name = dwarf_diename(function);
	size_t n = own ? strcspn(own, "<") : 0;
	return n && name && !strncmp(own, name, n) &&
	       (!name[n] || name[n] == '<');
}

/* Is its first argument, after the object itself, another one of the class? */
static bool takes_another(Dwarf_Die *function, Dwarf_Die *type)
{
	Dwarf_Die child, other;
	unsigned seen = 0;
	if (!die_child(function, &child))
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    die_flag(&child, DW_AT_artificial))
			continue;
		if (!die_type(&child, &other) || !die_peel(&other, &other))
			return true; /* in doubt */
		int tag = dwarf_tag(&other);
		if (tag != DW_TAG_reference_type &&
		    tag != DW_TAG_rvalue_reference_type)
			return false;
		return !die_type(&other, &other) || !die_peel(&other, &other) ||
		       dwarf_dieoffset(&other) == dwarf_dieoffset(type);
	} while (++seen < CHILDREN_MAX && die_next(&child));
	return false;
}

/* Does its author say how it is copied, moved or destroyed? */
static bool is_authors_own(Dwarf_Die *function, Dwarf_Die *type)
{
	if (die_flag(function, DW_AT_artificial) ||
	    die_flag(function, DW_AT_deleted) ||
	    dwarf_hasattr(function, DW_AT_defaulted))
		return false;
	return die_starts(function, "~") ||
	       (is_constructor_of(function, type) &&
		takes_another(function, type));
}

static bool is_movable_part(struct elements_search *search, Dwarf_Die *part,
			    Dwarf_Die *type, bool sum, unsigned depth)
{
	Dwarf_Die of;
	switch (dwarf_tag(part)) {
	case DW_TAG_inheritance:
		if (dwarf_hasattr(part, DW_AT_virtuality))
			return false;
		break;
	case DW_TAG_member:
		if (die_flag(part, DW_AT_declaration) ||
		    die_flag(part, DW_AT_external))
			return true; /* a static one */
		break;
	case DW_TAG_subprogram:
		return sum || !is_authors_own(part, type);
	default:
		return true;
	}
	return die_type(part, &of) && is_movable(search, &of, depth + 1);
}

static bool is_movable_class(struct elements_search *search, Dwarf_Die *type,
			     unsigned depth)
{
	Dwarf_Die child;
	unsigned seen = 0;
	if (die_flag(type, DW_AT_declaration) || !die_size_of(type))
		return false;
	if (is_known_movable(search, type))
		return true;
	if (!die_child(type, &child))
		return true;
	bool sum = is_known_sum(type);
	do {
		if (++seen > CHILDREN_MAX || ++search->steps > STEPS_MAX ||
		    !is_movable_part(search, &child, type, sum, depth))
			return false;
	} while (die_next(&child));
	return true;
}

static bool is_movable(struct elements_search *search, Dwarf_Die *type,
		       unsigned depth)
{
	Dwarf_Die peeled, of;
	if (depth > NESTING_MAX || ++search->steps > STEPS_MAX ||
	    !die_peel(type, &peeled))
		return false;
	switch (dwarf_tag(&peeled)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
		search->elements->addresses = true;
		return true;
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_ptr_to_member_type:
		return true;
	case DW_TAG_array_type:
		return die_type(&peeled, &of) &&
		       is_movable(search, &of, depth + 1);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return is_movable_class(search, &peeled, depth);
	default:
		return false;
	}
}

/* What a pointer points to, or an iterator that is no more than a pointer. */
static bool elements_target(Dwarf_Die *type, Dwarf_Die *ret)
{
	Dwarf_Die iterator, child;
	unsigned seen = 0;
	if (!die_peel(type, &iterator))
		return false;
	if (dwarf_tag(&iterator) == DW_TAG_pointer_type)
		return die_type(&iterator, ret) && die_peel(ret, ret);
	if ((!die_starts(&iterator, "__normal_iterator<") &&
	     !die_starts(&iterator, "__wrap_iter<")) ||
	    die_size_of(&iterator) != sizeof(uint64_t) ||
	    !die_child(&iterator, &child))
		return false;
	do {
		Dwarf_Die pointer;
		if (dwarf_tag(&child) != DW_TAG_template_type_parameter)
			continue;
		return die_type(&child, &pointer) &&
		       die_peel(&pointer, &pointer) &&
		       dwarf_tag(&pointer) == DW_TAG_pointer_type &&
		       die_type(&pointer, ret) && die_peel(ret, ret);
	} while (++seen < CHILDREN_MAX && die_next(&child));
	return false;
}

static bool find_first_parameter(Dwarf_Die *function, Dwarf_Die *ret)
{
	Dwarf_Die child;
	unsigned seen = 0;
	if (!die_child(function, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			return die_type(&child, ret);
	} while (++seen < CHILDREN_MAX && die_next(&child));
	return false;
}

bool object_range_elements(struct object *object, uint64_t address,
			   struct object_elements *ret)
{
	Dwarf_Die function, origin, type, element;
	struct object_elements elements = {};
	struct elements_search search = { .elements = &elements };
	if (!object_function_die(object, address, &function))
		return false;
	die_origin(&function, &origin);
	if (!find_first_parameter(&origin, &type) ||
	    !elements_target(&type, &element))
		return false;
	elements.size = die_size_of(&element);
	int tag = dwarf_tag(&element);
	elements.scalar = tag == DW_TAG_base_type ||
			  tag == DW_TAG_enumeration_type ||
			  tag == DW_TAG_pointer_type;
	if (!elements.size || !is_movable(&search, &element, 0))
		return false;
	*ret = elements;
	return true;
}

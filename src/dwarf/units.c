/* The units of the debug information, by address, and the functions in them. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "dwarf/object_internal.h"

/* Bounds for damaged files: no real one comes near. */
#define UNITS_MAX 4000000
#define RANGES_MAX 8000000
#define FUNCTION_RANGES_MAX 64
#define FUNCTIONS_MAX 16000000

/* ---- walking ---- */

bool die_child(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Die child;
	if (dwarf_child(die, &child) != 0 || child.cu != die->cu ||
	    child.addr <= die->addr)
		return false;
	*ret = child;
	return true;
}

bool die_next(Dwarf_Die *die)
{
	Dwarf_Die next;
	if (dwarf_siblingof(die, &next) != 0 || next.cu != die->cu ||
	    next.addr <= die->addr)
		return false;
	*die = next;
	return true;
}

static void walk_children(struct die_walk *walk, Dwarf_Die *parent)
{
	Dwarf_Die die;
	if (walk->depth >= DEPTH_MAX || !die_child(parent, &die))
		return;
	walk->depth++;
	do {
		/* Positions only grow; else DW_AT_sibling leads in circles. */
		if ((const char *)die.addr <= (const char *)walk->last)
			break;
		walk->last = die.addr;
		if (walk->enter(walk, &die)) {
			if (!walk->stop)
				walk_children(walk, &die);
			if (walk->leave)
				walk->leave(walk, &die);
		}
	} while (!walk->stop && die_next(&die));
	walk->depth--;
}

void die_walk(struct die_walk *walk, Dwarf_Die *root)
{
	walk->last = root->addr;
	walk->depth = 0;
	walk_children(walk, root);
}

bool die_flag(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute attr;
	bool value;
	return dwarf_attr(die, attribute, &attr) &&
	       dwarf_formflag(&attr, &value) == 0 && value;
}

bool die_type(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;
	return dwarf_attr_integrate(die, DW_AT_type, &attr) &&
	       dwarf_formref_die(&attr, ret);
}

/* Own loop: dwarf_peel_type() of elfutils 0.188 does not end on a circle. */
bool die_peel(Dwarf_Die *type, Dwarf_Die *ret)
{
	Dwarf_Die die = *type;
	for (int i = 0; i < CHAIN_MAX; i++) {
		Dwarf_Attribute attr;
		switch (dwarf_tag(&die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
		case DW_TAG_immutable_type:
		case DW_TAG_packed_type:
		case DW_TAG_shared_type:
		case DW_TAG_template_alias:
			if (!die_type(&die, &die))
				return false; /* of void */
			continue;
		}
		/* Moved to a type unit (-fdebug-types-section). */
		if (dwarf_attr(&die, DW_AT_signature, &attr) &&
		    dwarf_formref_die(&attr, &die))
			continue;
		*ret = die;
		return true;
	}
	return false;
}

/* ---- units ---- */

static bool in_text(const struct object *object, uint64_t address)
{
	uint32_t id;
	return spans_find(&object->text, address + object->dwarf_bias, &id);
}

/*
 * The linker leaves ranges of functions it dropped at 0, 1 or near 2^64 and
 * at offsets from there: only what begins in executable memory counts.
 */
static struct err *unit_add_ranges(struct object *object, Dwarf_Die *die,
				   uint32_t id)
{
	struct spans *ranges = &object->units.ranges;
	Dwarf_Addr base, lo, hi;
	ptrdiff_t offset = 0;
	while (ranges->n < RANGES_MAX &&
	       (offset = dwarf_ranges(die, offset, &base, &lo, &hi)) > 0) {
		if (lo < hi && in_text(object, lo))
			TRY(spans_add(ranges, lo, hi - lo, 0, id));
	}
	return NULL;
}

static struct err *load_units(struct object *object, Dwarf *dwarf)
{
	struct units *units = &object->units;
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	while (units->data.n < UNITS_MAX &&
	       dwarf_get_units(dwarf, cu, &cu, &version, &type, &die, NULL) ==
		       0) {
		if (!die.addr)
			continue;
		struct object_unit unit = { .skeleton = die };
		TRY(vec_push(&units->data, unit));
		TRY(unit_add_ranges(object, &die, (uint32_t)units->data.n - 1));
	}
	spans_seal(&units->ranges);
	log_debug(LOG_DWARF, "%s: %zu units, %zu ranges", object->path,
		  units->data.n, units->ranges.n);
	return NULL;
}

struct units *object_units(struct object *object)
{
	struct units *units = &object->units;
	if (!units->loaded) {
		units->loaded = true;
		Dwarf *dwarf = object_dwarf(object);
		struct err *err = dwarf ? load_units(object, dwarf) : NULL;
		if (err) {
			err_ignore(err);
			units_free(units);
			units->loaded = true;
		}
	}
	return units;
}

void units_free(struct units *units)
{
	for (size_t i = 0; i < units->data.n; i++)
		vec_free(&units->data.data[i].functions);
	vec_free(&units->data);
	spans_free(&units->ranges);
	map_u64_free(&units->skeletons);
	*units = (struct units){};
}

struct object_unit *object_unit_at(struct object *object, uint64_t address)
{
	struct units *units = object_units(object);
	uint32_t id;
	if (!spans_find(&units->ranges, address - object->dwarf_bias, &id))
		return NULL;
	return &units->data.data[id];
}

Dwarf_Die *object_unit_die(struct object *object, struct object_unit *unit)
{
	if (unit->resolved)
		return &unit->die;
	unit->resolved = true;
	unit->die = unit->skeleton;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die split = {};
	if (dwarf_cu_info(unit->skeleton.cu, &version, &type, NULL, &split,
			  NULL, NULL, NULL) != 0 ||
	    type != DW_UT_skeleton || !split.addr)
		return &unit->die;
	unit->die = split;
	struct err *err =
		map_u64_put(&object->units.skeletons, (uintptr_t)split.cu,
			    (size_t)(unit - object->units.data.data));
	if (err)
		err_ignore(err);
	return &unit->die;
}

Dwarf_Die *object_skeleton(struct object *object, Dwarf_CU *cu,
			   Dwarf_Die *buffer)
{
	uint64_t index;
	if (map_u64_get(&object->units.skeletons, (uintptr_t)cu, &index))
		return &object->units.data.data[index].skeleton;
	return dwarf_cu_die(cu, buffer, NULL, NULL, NULL, NULL, NULL, NULL);
}

/* ---- functions ---- */

struct functions_walk {
	struct die_walk walk;
	struct object *object;
	struct object_unit *unit;
	bool deep;
	struct err *err;
};

bool object_die_has_code(struct object *object, Dwarf_Die *die)
{
	Dwarf_Addr base, lo, hi;
	return (dwarf_hasattr(die, DW_AT_low_pc) ||
		dwarf_hasattr(die, DW_AT_ranges)) &&
	       dwarf_ranges(die, 0, &base, &lo, &hi) > 0 && in_text(object, lo);
}

/*
 * Every start of a range: a function split in a hot and a cold part has two,
 * and nothing says which of them is its entry.
 */
static struct err *add_function(struct functions_walk *functions,
				Dwarf_Die *die)
{
	struct object_unit *unit = functions->unit;
	Dwarf_Addr base, lo, hi;
	ptrdiff_t offset = 0;
	for (int i = 0; i < FUNCTION_RANGES_MAX; i++) {
		offset = dwarf_ranges(die, offset, &base, &lo, &hi);
		if (offset <= 0)
			break;
		if (!in_text(functions->object, lo) ||
		    unit->functions.n >= FUNCTIONS_MAX)
			continue;
		struct function function = { .address = lo, .die = *die };
		TRY(vec_push(&unit->functions, function));
	}
	return NULL;
}

static bool enter_function(struct die_walk *walk, Dwarf_Die *die)
{
	struct functions_walk *functions = (struct functions_walk *)walk;
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		if (dwarf_hasattr(die, DW_AT_low_pc) ||
		    dwarf_hasattr(die, DW_AT_ranges)) {
			functions->err = add_function(functions, die);
			walk->stop = functions->err;
		}
		return functions->deep;
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	default:
		return functions->deep;
	}
}

static int function_order(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->die.addr < b->die.addr ? -1 : a->die.addr > b->die.addr;
}

static void read_functions(struct object *object, struct object_unit *unit,
			   bool deep)
{
	struct functions_walk functions = {
		.walk = { .enter = enter_function },
		.object = object,
		.unit = unit,
		.deep = deep,
	};
	unit->functions.n = 0;
	unit->read = deep ? FUNCTIONS_DEEP : FUNCTIONS_SHALLOW;
	die_walk(&functions.walk, object_unit_die(object, unit));
	if (functions.err)
		err_ignore(functions.err);
	if (unit->functions.n)
		qsort(unit->functions.data, unit->functions.n,
		      sizeof(*unit->functions.data), function_order);
}

static bool unit_find_function(const struct object_unit *unit, uint64_t address,
			       Dwarf_Die *ret)
{
	size_t low = 0, high = unit->functions.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (unit->functions.data[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == unit->functions.n ||
	    unit->functions.data[low].address != address)
		return false;
	*ret = unit->functions.data[low].die;
	return true;
}

/*
 * First without going into function bodies, which is three times as fast; those
 * of local classes, lambdas and nested functions are in bodies.
 */
bool object_function_die(struct object *object, uint64_t address,
			 Dwarf_Die *ret)
{
	struct object_unit *unit = object_unit_at(object, address);
	if (!unit)
		return false;
	address -= object->dwarf_bias;
	if (unit->read == FUNCTIONS_NONE)
		read_functions(object, unit, false);
	if (unit_find_function(unit, address, ret))
		return true;
	if (unit->read == FUNCTIONS_SHALLOW)
		read_functions(object, unit, true);
	return unit_find_function(unit, address, ret);
}

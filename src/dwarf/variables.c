/* Variables with a fixed place: where, how much of them, and what they are. */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/path.h"
#include "dwarf/index_internal.h"

#define VARIABLES_MAX ((size_t)1 << 24)
#define OPERATIONS_MAX 64

#define PIECES_MAX 32

struct variable_place {
	uint64_t address; /* of the file, or offset in the TLS block */
	uint64_t size;	  /* 0: all of it */
	uint64_t offset;  /* in the variable: of a piece */
	bool tls;
};

/* ---- places ---- */

bool variable_is_static(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Block block;
	if (!dwarf_attr(die, DW_AT_location, &attr)) {
		/* A copy of one that has it: an inlined function's. */
		if (!dwarf_hasattr(die, DW_AT_abstract_origin) ||
		    !dwarf_attr_integrate(die, DW_AT_location, &attr))
			return false;
	}
	if (dwarf_formblock(&attr, &block) != 0 || !block.length)
		return false;
	switch (block.data[0]) {
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
	case DW_OP_const4u:
	case DW_OP_const8u:
	case DW_OP_constu:
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
	case DW_OP_piece: /* its beginning is gone */
		return true;
	default:
		return false;
	}
}

/* The number that begins the expression; addresses by index included. */
static bool first_number(Dwarf_Attribute *attr, const Dwarf_Op *op,
			 uint64_t *ret)
{
	Dwarf_Attribute by_index;
	Dwarf_Addr address;
	Dwarf_Word number;
	switch (op->atom) {
	case DW_OP_addr:
	case DW_OP_const4u:
	case DW_OP_const8u:
	case DW_OP_constu:
		*ret = op->number;
		return true;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		if (dwarf_getlocation_attr(attr, op, &by_index) != 0 ||
		    dwarf_formaddr(&by_index, &address) != 0)
			return false;
		*ret = address;
		return true;
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		if (dwarf_getlocation_attr(attr, op, &by_index) != 0)
			return false;
		if (dwarf_formaddr(&by_index, &address) == 0)
			*ret = address;
		else if (dwarf_formudata(&by_index, &number) == 0)
			*ret = number;
		else
			return false;
		return true;
	default:
		return false;
	}
}

/*
 * The place that begins with @ops; *@ret_n operations belong to it. What may
 * follow the address: "piece N" (N bytes of the variable are there), "deref_size
 * N, …, stack_value" (kept as N bytes from which the value is worked out).
 */
static bool one_place(struct object *object, Dwarf_Attribute *attr,
		      const Dwarf_Op *ops, size_t n,
		      struct variable_place *place, size_t *ret_n)
{
	size_t i = 1;
	if (!first_number(attr, &ops[0], &place->address))
		return false;
	if (i < n && (ops[i].atom == DW_OP_form_tls_address ||
		      ops[i].atom == DW_OP_GNU_push_tls_address)) {
		place->tls = true;
		i++;
	} else if ((ops[0].atom != DW_OP_addr && ops[0].atom != DW_OP_addrx &&
		    ops[0].atom != DW_OP_GNU_addr_index) ||
		   !place->address) {
		return false; /* a constant, or dropped by the linker */
	} else {
		place->address += object->dwarf_bias;
	}
	if (i < n && ops[i].atom == DW_OP_plus_uconst)
		place->address += ops[i++].number;
	*ret_n = i;
	if (i == n)
		return true;
	switch (ops[i].atom) {
	case DW_OP_piece:
		place->size = ops[i].number;
		*ret_n = i + 1;
		return true;
	case DW_OP_deref_size:
	case DW_OP_deref:
		place->size = ops[i].atom == DW_OP_deref ? 8 : ops[i].number;
		*ret_n = n;
		return ops[n - 1].atom == DW_OP_stack_value;
	default:
		/* "addr, stack_value": the value is an address. */
		return false;
	}
}

/* The places of a variable: usually one; none if it has no fixed one. */
static size_t variable_find_places(struct object *object, Dwarf_Die *die,
				   struct variable_place *places)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t ops_n, n = 0;
	uint64_t offset = 0;
	if (!dwarf_attr_integrate(die, DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &ops_n) != 0 ||
	    ops_n > OPERATIONS_MAX)
		return 0;
	for (size_t at = 0, used; at < ops_n && n < PIECES_MAX; at += used) {
		struct variable_place place = { .offset = offset };
		if (ops[at].atom == DW_OP_piece) {
			/* A part that is gone. */
			offset += ops[at].number;
			used = 1;
		} else if (one_place(object, &attr, ops + at, ops_n - at,
				     &place, &used)) {
			offset += place.size;
			struct variable_place *last = n ? &places[n - 1] : NULL;
			if (last && last->tls == place.tls &&
			    last->offset + last->size == place.offset &&
			    last->address + last->size == place.address)
				last->size += place.size;
			else
				places[n++] = place;
		} else {
			/* A part with a constant value: up to its end. */
			for (used = 1; at + used < ops_n &&
				       ops[at + used - 1].atom != DW_OP_piece;)
				used++;
			offset += ops[at + used - 1].number;
		}
		if (offset > TYPE_SIZE_MAX)
			break;
	}
	return n;
}

bool variable_address(struct object *object, Dwarf_Die *die, uint64_t *ret)
{
	struct variable_place places[PIECES_MAX];
	if (variable_find_places(object, die, places) != 1 || places[0].tls ||
	    places[0].size || places[0].offset)
		return false;
	*ret = places[0].address;
	return true;
}

/*
 * gcc with -gsplit-dwarf gives the address in the TLS block's template instead
 * of the offset (gcc 12).
 */
static bool is_writable(const struct data_symbols *symbols,
			struct variable_place *place)
{
	uint32_t id;
	if (place->tls && place->address >= symbols->tls_size)
		place->address -= symbols->tls_start;
	if (place->tls)
		return place->address < symbols->tls_size;
	return spans_find(&symbols->writable, place->address, &id);
}

/* ---- what it is ---- */

static bool is_constant(Dwarf_Die *die)
{
	Dwarf_Die type;
	if (!die_type(die, &type))
		return false;
	for (int i = 0; i < CHAIN_MAX; i++) {
		switch (dwarf_tag(&type)) {
		case DW_TAG_const_type:
			return true;
		case DW_TAG_typedef:
		case DW_TAG_volatile_type:
		case DW_TAG_array_type:
		case DW_TAG_template_alias:
			if (!die_type(&type, &type))
				return false;
			continue;
		default:
			return false;
		}
	}
	return false;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return NULL;
	return dwarf_formstring(&attr);
}

struct variables {
	struct type_builder *builder;
	const struct data_symbols *symbols;
	struct index_variables *index;
	struct map_u64 by_place[2]; /* [tls] */
	struct map_u64 units;	    /* object's number to the index's */
	struct str name;
};

/* "x", "x.0", "f.x", "f.x.1"; mangled: "_Z…1x…". */
static bool symbol_names(const char *symbol, const char *name)
{
	size_t n = strlen(name);
	char mangled[256];
	if (str_starts(symbol, "_Z")) {
		snprintf(mangled, sizeof(mangled), "%zu%s", n, name);
		return strstr(symbol, mangled);
	}
	for (const char *at = symbol;;) {
		if (!strncmp(at, name, n) && (!at[n] || at[n] == '.'))
			return true;
		at = strchr(at, '.');
		if (!at)
			return false;
		at++;
	}
}

/* Does a symbol at the place say so, too? *@ret_any: is there one? */
static bool symbol_agrees(const struct data_symbols *symbols,
			  const struct variable_place *place,
			  const char *linkage, const char *name, bool *ret_any)
{
	const struct data_symbol *symbol =
		data_symbol_at(symbols, place->tls, place->address);
	*ret_any = symbol;
	if (!symbol)
		return false;
	return linkage ? str_starts(symbol->name, linkage)
		       : symbol_names(symbol->name, name);
}

static struct err *unit_path(struct object *object, uint32_t number, char **ret)
{
	Dwarf_Die *unit = &object->units.data.data[number].skeleton;
	const char *name = dwarf_diename(unit);
	Dwarf_Die *split =
		object_unit_die(object, object->units.data.data + number);
	if (!name)
		name = dwarf_diename(split);
	Dwarf_Attribute attr;
	const char *folder = NULL;
	if (dwarf_attr(unit, DW_AT_comp_dir, &attr))
		folder = dwarf_formstring(&attr);
	if (name && *name && *name != '/' && folder)
		return path_join(folder, name, ret);
	*ret = strdup(name ? name : "");
	return *ret ? NULL : err_nomem();
}

static struct err *unit_number(struct variables *variables, uint32_t number,
			       uint32_t *ret)
{
	struct index_variables *index = variables->index;
	struct type_pool *pool = variables->builder->pool;
	uint64_t known;
	if (map_u64_get(&variables->units, number, &known)) {
		*ret = (uint32_t)known;
		return NULL;
	}
	_cleanup_(freep) char *path = NULL;
	TRY(unit_path(variables->builder->object, number, &path));
	const char *text = type_text(pool, path);
	if (!text)
		return err_nomem();
	TRY(map_u64_put(&variables->units, number, index->units.n));
	TRY(vec_push(&index->units, text));
	*ret = (uint32_t)index->units.n - 1;
	return NULL;
}

static struct err *variable_keep_text(struct type_pool *pool, const char *text,
				      const char **ret)
{
	*ret = text ? type_text(pool, text) : NULL;
	return text && !*ret ? err_nomem() : NULL;
}

/*
 * clang with -O2 leaves out the name of a function that is inlined everywhere,
 * or puts its statics next to it: then the symbol is more precise (C++ "_ZZ…",
 * C "function.name").
 */
static struct err *variable_name(struct variables *variables, Dwarf_Die *origin,
				 const char *linkage, bool *ret_local)
{
	struct str *name = &variables->name;
	const char *plain = dwarf_diename(origin);
	unsigned flags = 0;
	name->n = 0;
	TRY(scopes_name(variables->builder->scopes, origin, name, &flags));
	*ret_local = flags & SCOPE_LOCAL;
	if (!linkage || !plain ||
	    ((flags & SCOPE_FUNCTION) && !(flags & SCOPE_NAMELESS)))
		return NULL;
	if (str_starts(linkage, "_ZZ")) {
		_cleanup_(freep) char *full = demangle_variable(linkage);
		if (!full || !*full)
			return NULL;
		*ret_local = true;
		name->n = 0;
		return str_append(name, full);
	}
	const char *dot = strchr(linkage, '.');
	if (!(flags & SCOPE_NAMELESS) || !dot || !str_starts(dot + 1, plain))
		return NULL;
	name->n = 0;
	TRY(str_append_n(name, linkage, (size_t)(dot - linkage)));
	return str_appendf(name, "::%s", plain);
}

static struct err *fill_variable(struct variables *variables,
				 const struct variable_die *from,
				 const struct variable_place *place,
				 const char *linkage, struct variable *ret)
{
	struct type_builder *builder = variables->builder;
	struct type_pool *pool = builder->pool;
	Dwarf_Die die = from->die, origin, type;
	bool local = false;
	die_origin(&die, &origin);
	struct variable variable = {
		.address = place->address,
		.size = place->size,
	};
	const struct data_symbol *symbol =
		data_symbol_at(variables->symbols, place->tls, place->address);
	if (!linkage && symbol)
		linkage = symbol->name;
	TRY(variable_keep_text(pool, linkage, &variable.symbol));
	TRY(variable_name(variables, &origin, linkage, &local));
	if (!variables->name.n)
		return NULL;
	TRY(variable_keep_text(pool, variables->name.s, &variable.name));
	const char *file = NULL;
	unsigned line = 0;
	if (object_decl_place(builder->object, &die, &file, &line)) {
		TRY(variable_keep_text(pool, file, &variable.file));
		variable.line = line;
	}
	if (die_type(&die, &type))
		TRY(type_build(builder, &type, &variable.type));
	if (local || (!die_flag(&origin, DW_AT_external) &&
		      !dwarf_hasattr(&die, DW_AT_external)))
		variable.flags |= VARIABLE_LOCAL;
	if (place->tls)
		variable.flags |= VARIABLE_TLS;
	if (is_constant(&die))
		variable.flags |= VARIABLE_CONSTANT;
	uint32_t number = from->unit;
	scopes_unit_number(builder->scopes, origin.cu, &number);
	TRY(unit_number(variables, number, &variable.unit));
	*ret = variable;
	return NULL;
}

/* Most variables are local ones: finding their names has its price. */
static void variables_log_left_out(Dwarf_Die *die, const char *why)
{
	if (!log_enabled(LOG_DWARF))
		return;
	const char *name = dwarf_diename(die);
	log_debug(LOG_DWARF, "variable '%s' is left out: %s", name ? name : "",
		  why);
}

static struct err *add_place(struct variables *variables,
			     const struct variable_die *from,
			     struct variable_place *place)
{
	struct index_variables *index = variables->index;
	const struct data_symbols *symbols = variables->symbols;
	Dwarf_Die die = from->die;
	if (!is_writable(symbols, place)) {
		variables_log_left_out(&die, "it is not in writable memory");
		return NULL;
	}
	bool any = false;
	const char *linkage = linkage_name(&die);
	bool agrees = symbol_agrees(symbols, place, linkage,
				    dwarf_diename(&die), &any);
	/* Dropped thread-locals are left at 0, which is a place like any. */
	if (place->tls && any && !agrees) {
		variables_log_left_out(&die,
				       "the linker dropped this thread-local");
		return NULL;
	}
	struct map_u64 *by_place = &variables->by_place[place->tls];
	uint64_t known;
	bool again = map_u64_get(by_place, place->address, &known);
	if (again && !agrees) {
		variables_log_left_out(&die,
				       "another variable is at its address");
		return NULL;
	}
	if (again) {
		/* Every unit has the inline ones: usually they are the same. */
		const struct variable *old = &index->variables.data[known];
		if (!old->symbol || !linkage || !strcmp(old->symbol, linkage))
			return NULL;
	}
	struct variable variable = {};
	TRY(fill_variable(variables, from, place, linkage, &variable));
	if (!variable.name) {
		variables_log_left_out(&die, "it has no qualified name");
		return NULL;
	}
	if (again) {
		index->variables.data[known] = variable;
		return NULL;
	}
	if (index->variables.n >= VARIABLES_MAX) {
		variables_log_left_out(&die, "there are too many variables");
		return NULL;
	}
	if (place->offset)
		TRY(map_u64_put(variables->builder->pieces, index->variables.n,
				place->offset));
	TRY(map_u64_put(by_place, place->address, index->variables.n));
	return vec_push(&index->variables, variable);
}

static struct err *variables_add_die(struct variables *variables,
				     const struct variable_die *from)
{
	struct variable_place places[PIECES_MAX];
	Dwarf_Die die = from->die;
	if (!dwarf_diename(&die))
		return NULL;
	size_t n =
		variable_find_places(variables->builder->object, &die, places);
	if (!n)
		variables_log_left_out(&die, "it has no fixed address");
	for (size_t i = 0; i < n; i++)
		TRY(add_place(variables, from, &places[i]));
	return NULL;
}

struct err *variables_add(struct type_builder *builder,
			  const struct data_symbols *symbols,
			  struct index_variables *index)
{
	struct variables variables = {
		.builder = builder,
		.symbols = symbols,
		.index = index,
	};
	struct err *err = NULL;
	const struct scopes *scopes = builder->scopes;
	for (size_t i = 0; i < scopes->variables.n && !err; i++)
		err = variables_add_die(&variables, &scopes->variables.data[i]);
	map_u64_free(&variables.by_place[0]);
	map_u64_free(&variables.by_place[1]);
	map_u64_free(&variables.units);
	str_free(&variables.name);
	return err;
}

/* ---- what needs all types ---- */

static bool ends_flexible(const struct type_pool *pool, const struct type *type)
{
	for (int i = 0; i < TYPE_DEPTH_MAX; i++) {
		if (type->kind == TYPE_ARRAY)
			return type->count == TYPE_NO_COUNT;
		if (type->kind != TYPE_STRUCT || !type->n_members)
			return false;
		type = type_get(pool, type->members[type->n_members - 1].type);
	}
	return false;
}

/*
 * Thread-locals of one source file that have to be constructed have one guard
 * together. Which of them have to be is not written anywhere: objects do.
 */
static void find_tls_guard(const struct type_pool *pool,
			   const struct data_symbols *symbols,
			   const struct index_variables *index,
			   struct variable *variable)
{
	if (!(variable->flags & VARIABLE_TLS) || variable->guard ||
	    (variable->symbol && str_starts(variable->symbol, "_ZZ")) ||
	    type_get(pool, variable->type)->kind != TYPE_STRUCT ||
	    variable->unit >= index->units.n)
		return;
	const char *file = index->units.data[variable->unit];
	const char *slash = strrchr(file, '/');
	map_text_get(&symbols->tls_guards, slash ? slash + 1 : file,
		     &variable->guard);
}

static void find_guard(const struct data_symbols *symbols, struct str *name,
		       struct variable *variable)
{
	if (!variable->symbol || !str_starts(variable->symbol, "_Z"))
		return;
	name->n = 0;
	struct err *err = str_appendf(name, "_ZGV%s", variable->symbol + 2);
	if (err)
		err_ignore(err);
	else if (map_text_get(&symbols->guards, name->s, &variable->guard))
		variable->guard += variable->flags & VARIABLE_TLS ? 1 : 0;
}

/* "where.y": the part of the variable that this one is, and its type. */
static struct err *variable_find_piece(struct type_pool *pool, uint64_t offset,
				       struct str *path,
				       struct variable *variable)
{
	const struct type *type = type_get(pool, variable->type);
	path->n = 0;
	TRY(str_append(path, variable->name));
	variable->type = TYPE_UNKNOWN;
	for (int i = 0; i < TYPE_DEPTH_MAX; i++) {
		type_id part = TYPE_UNKNOWN;
		if (type->kind == TYPE_ARRAY) {
			part = type->target;
			uint64_t size = type_get(pool, part)->size;
			if (!size)
				break;
			TRY(str_appendf(path, "[%llu]",
					(unsigned long long)(offset / size)));
			offset %= size;
		}
		for (uint32_t j = 0; j < type->n_members && !part; j++) {
			const struct type_member *member = &type->members[j];
			uint64_t size = type_get(pool, member->type)->size;
			if (member->virtual_base || member->bit_size ||
			    offset < member->offset ||
			    offset - member->offset >= size)
				continue;
			part = member->type;
			offset -= member->offset;
			if (*member->name)
				TRY(str_appendf(path, ".%s", member->name));
		}
		type = type_get(pool, part);
		if (!part || (!offset && type->size == variable->size)) {
			variable->type = part;
			break;
		}
	}
	variable->name = type_text(pool, path->s);
	return variable->name ? NULL : err_nomem();
}

struct err *variables_finish(struct type_pool *pool,
			     const struct data_symbols *symbols,
			     const struct map_u64 *pieces,
			     struct index_variables *index)
{
	_cleanup_(str_freep) struct str name = STR_INIT;
	for (size_t i = 0; i < index->variables.n; i++) {
		struct variable *variable = &index->variables.data[i];
		uint64_t offset;
		if (map_u64_get(pieces, i, &offset)) {
			TRY(variable_find_piece(pool, offset, &name, variable));
			continue;
		}
		const struct type *type = type_get(pool, variable->type);
		find_guard(symbols, &name, variable);
		find_tls_guard(pool, symbols, index, variable);
		uint64_t size = type->size;
		if (variable->size) {
			variable->size = size ? MIN(size, variable->size)
					      : variable->size;
			continue;
		}
		const struct data_symbol *symbol =
			data_symbol_at(symbols, variable->flags & VARIABLE_TLS,
				       variable->address);
		if (symbol && (!size || ends_flexible(pool, type)))
			size = MAX(size, MIN(symbol->size, TYPE_SIZE_MAX));
		variable->size = size;
	}
	return NULL;
}

/* Functions that exist only inlined into others. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "dwarf/object_internal.h"

struct candidate {
	Dwarf_Die die;
	const char *name;
	bool unsure; /* nothing says so at the function itself */
};

struct inlined_walk {
	struct die_walk walk;
	struct object *object;
	const char *glob;
	VEC(struct candidate) candidates;
	struct map_u64 with_code; /* positions of origins that have code */
	struct map_u64 copied;	  /* positions of origins inlined somewhere */
	bool unsure;		  /* one of the candidates is */
	struct err *err;
};

static uint64_t die_key(const Dwarf_Die *die)
{
	return (uint64_t)(uintptr_t)die->addr;
}

/* The function, and all it goes back to, is no longer only inlined. */
static struct err *inlined_note_code(struct inlined_walk *inlined,
				     Dwarf_Die *die)
{
	Dwarf_Die at = *die;
	for (int i = 0; i < CHAIN_MAX; i++) {
		Dwarf_Attribute attr;
		TRY(map_u64_put(&inlined->with_code, die_key(&at), 1));
		if (!dwarf_attr(&at, DW_AT_abstract_origin, &attr) ||
		    !dwarf_formref_die(&attr, &at))
			break;
	}
	return NULL;
}

static struct err *see_function(struct inlined_walk *inlined, Dwarf_Die *die)
{
	if (object_die_has_code(inlined->object, die))
		return inlined_note_code(inlined, die);
	if (die_flag(die, DW_AT_declaration) ||
	    dwarf_hasattr(die, DW_AT_abstract_origin))
		return NULL;
	Dwarf_Attribute attr;
	Dwarf_Word kind = DW_INL_not_inlined;
	bool unsure = !dwarf_attr(die, DW_AT_inline, &attr);
	if (!unsure &&
	    (dwarf_formudata(&attr, &kind) != 0 ||
	     (kind != DW_INL_inlined && kind != DW_INL_declared_inlined)))
		return NULL;
	const char *name = dwarf_diename(die);
	if (!name || !str_glob(inlined->glob, name))
		return NULL;
	struct candidate candidate = {
		.die = *die,
		.name = name,
		.unsure = unsure,
	};
	inlined->unsure |= unsure;
	return vec_push(&inlined->candidates, candidate);
}

static bool enter_copies(struct die_walk *walk, Dwarf_Die *die)
{
	struct inlined_walk *inlined = (struct inlined_walk *)walk;
	Dwarf_Attribute attr;
	Dwarf_Die origin;
	if (dwarf_tag(die) == DW_TAG_inlined_subroutine &&
	    dwarf_attr(die, DW_AT_abstract_origin, &attr) &&
	    dwarf_formref_die(&attr, &origin)) {
		inlined->err =
			map_u64_put(&inlined->copied, die_key(&origin), 1);
		walk->stop = inlined->err;
	}
	return true;
}

static void walk_units(struct inlined_walk *inlined,
		       bool (*enter)(struct die_walk *walk, Dwarf_Die *die))
{
	struct units *units = object_units(inlined->object);
	inlined->walk.enter = enter;
	for (size_t i = 0; i < units->data.n && !inlined->err; i++)
		die_walk(&inlined->walk, object_unit_die(inlined->object,
							 &units->data.data[i]));
}

static bool enter_inlined(struct die_walk *walk, Dwarf_Die *die)
{
	struct inlined_walk *inlined = (struct inlined_walk *)walk;
	int tag = dwarf_tag(die);
	if (tag == DW_TAG_subprogram) {
		inlined->err = see_function(inlined, die);
		walk->stop = inlined->err;
	}
	return tag == DW_TAG_namespace || tag == DW_TAG_module;
}

/* An inline function of a header: another unit may have the copy with code. */
static bool has_symbol(const struct object *object, Dwarf_Die *die,
		       const char *name)
{
	Dwarf_Attribute attr;
	bool external;
	if (!dwarf_attr_integrate(die, DW_AT_external, &attr) ||
	    dwarf_formflag(&attr, &external) != 0 || !external)
		return false;
	const char *linkage = NULL;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		linkage = dwarf_formstring(&attr);
	struct object_symbol symbol;
	return object_symbol(object, linkage ? linkage : name, &symbol) &&
	       symbol.function;
}

static struct err *visit_candidates(struct inlined_walk *inlined,
				    bool (*visit)(void *data, const char *name,
						  const char *file,
						  unsigned line),
				    void *data)
{
	_cleanup_(map_text_freep) struct map_text seen = MAP_INIT;
	for (size_t i = 0; i < inlined->candidates.n; i++) {
		struct candidate *candidate = &inlined->candidates.data[i];
		uint64_t value;
		if (map_u64_get(&inlined->with_code, die_key(&candidate->die),
				&value) ||
		    (candidate->unsure &&
		     !map_u64_get(&inlined->copied, die_key(&candidate->die),
				  &value)) ||
		    has_symbol(inlined->object, &candidate->die,
			       candidate->name))
			continue;
		const char *file = NULL;
		unsigned line = 0;
		object_decl_place(inlined->object, &candidate->die, &file,
				  &line);
		_cleanup_(str_freep) struct str key = STR_INIT;
		TRY(str_appendf(&key, "%s:%u:%s", file ? file : "", line,
				candidate->name));
		if (map_text_get(&seen, key.s, &value))
			continue;
		TRY(map_text_put(&seen, key.s, 1));
		if (!visit(data, candidate->name, file, line))
			break;
	}
	return NULL;
}

void object_each_inlined(struct object *object, const char *glob,
			 bool (*visit)(void *data, const char *name,
				       const char *file, unsigned line),
			 void *data)
{
	struct inlined_walk inlined = { .object = object, .glob = glob };
	walk_units(&inlined, enter_inlined);
	/*
	 * Link-time optimisation of gcc writes functions before it decides on
	 * inlining: only the places into which they were copied show it. Those
	 * are in function bodies, so they are read only if needed.
	 */
	if (inlined.unsure && !inlined.err)
		walk_units(&inlined, enter_copies);
	struct err *err = inlined.err;
	if (!err)
		err = visit_candidates(&inlined, visit, data);
	if (err)
		err_ignore(err);
	vec_free(&inlined.candidates);
	map_u64_free(&inlined.with_code);
	map_u64_free(&inlined.copied);
}

struct inlined_calls {
	struct die_walk walk;
	const char *glob;
	struct map_u64 found; /* positions of their origins */
	struct err *err;
};

static bool enter_inlined_calls(struct die_walk *walk, Dwarf_Die *die)
{
	struct inlined_calls *calls = (struct inlined_calls *)walk;
	int tag = dwarf_tag(die);
	if (tag == DW_TAG_namespace || tag == DW_TAG_module ||
	    tag == DW_TAG_lexical_block)
		return true;
	if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
		return false;
	const char *name = dwarf_diename(die);
	if (!name || !str_glob(calls->glob, name))
		return true;
	/* What was inlined into one of them is part of it. */
	Dwarf_Attribute attr;
	Dwarf_Die origin;
	if (tag == DW_TAG_inlined_subroutine &&
	    dwarf_attr(die, DW_AT_abstract_origin, &attr) &&
	    dwarf_formref_die(&attr, &origin)) {
		calls->err = map_u64_put(&calls->found, die_key(&origin), 1);
		walk->stop = calls->err;
	}
	return false;
}

size_t object_count_inlined(struct object *object, const char *glob)
{
	struct inlined_calls calls = { .walk.enter = enter_inlined_calls,
				       .glob = glob };
	struct units *units = object_units(object);
	for (size_t i = 0; i < units->data.n && !calls.err; i++)
		die_walk(&calls.walk,
			 object_unit_die(object, &units->data.data[i]));
	size_t n = calls.found.map.n;
	err_ignore(calls.err);
	map_u64_free(&calls.found);
	return n;
}

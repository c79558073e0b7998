/* Functions that exist only inlined into others. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/globs.h"
#include "base/macro.h"
#include "dwarf/object_internal.h"

/* A function that calls so many tests is a suite. */
#define SUITE_CALLEES 2
#define CALLEES_DEPTH_MAX 8

struct candidate {
	Dwarf_Die die;
	const char *name;
	bool unsure; /* nothing says so at the function itself */
};

struct inlined_walk {
	struct die_walk walk;
	struct object *object;
	const char *const *globs;
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
	if (!name || !globs_match(inlined->globs, name))
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

void object_each_inlined(struct object *object, const char *const *globs,
			 bool (*visit)(void *data, const char *name,
				       const char *file, unsigned line),
			 void *data)
{
	struct inlined_walk inlined = { .object = object, .globs = globs };
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

static bool keep_place(void *data, const char *name, const char *file,
		       unsigned line)
{
	struct inlined_functions *inlined = data;
	const struct inlined_place place = { file, line };
	uint64_t known;
	if (map_text_get(&inlined->by_name, name, &known))
		return true;
	struct err *err =
		map_text_put(&inlined->by_name, name, inlined->places.n);
	if (!err)
		err = vec_push(&inlined->places, place);
	if (!err)
		return true;
	err_ignore(err);
	return false;
}

bool object_inlined_place(struct object *object, const char *name,
			  const char **ret_file, unsigned *ret_line)
{
	static const char *const all[] = { "*", NULL };
	struct inlined_functions *inlined = &object->inlined;
	uint64_t index;
	if (!inlined->read)
		object_each_inlined(object, all, keep_place, inlined);
	inlined->read = true;
	if (!map_text_get(&inlined->by_name, name, &index) ||
	    index >= inlined->places.n)
		return false;
	*ret_file = inlined->places.data[index].file;
	*ret_line = inlined->places.data[index].line;
	return true;
}

void inlined_functions_free(struct inlined_functions *inlined)
{
	vec_free(&inlined->places);
	map_text_free(&inlined->by_name);
}

struct inlined_calls {
	struct die_walk walk;
	const char *const *globs;
	Dwarf_Die function;   /* that the walk is in */
	struct map_u64 found; /* positions of their origins */
	struct err *err;
};

static bool inlined_has_parameters(Dwarf_Die *function)
{
	Dwarf_Die child;
	if (dwarf_child(function, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* @die is a call, or an inlined one: of a function named as a test? */
static struct err *inlined_note_callee(const struct inlined_calls *calls,
				       Dwarf_Die *die, struct map_text *callees)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;
	if (!dwarf_attr(die, DW_AT_abstract_origin, &attr) &&
	    !dwarf_attr(die, DW_AT_call_origin, &attr))
		return NULL;
	if (!dwarf_formref_die(&attr, &origin))
		return NULL;
	const char *name = dwarf_diename(&origin);
	if (!name || !globs_match(calls->globs, name) ||
	    inlined_has_parameters(&origin))
		return NULL;
	return map_text_put(callees, name, 1);
}

/* gcc has calls in the inlined function, others in the one around it. */
static bool inlined_is_call_in(Dwarf_Die *die, Dwarf_Die *inlined)
{
	Dwarf_Attribute attr;
	Dwarf_Addr after;
	int tag = dwarf_tag(die);
	return (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) &&
	       (dwarf_attr(die, DW_AT_call_return_pc, &attr) ||
		dwarf_attr(die, DW_AT_low_pc, &attr)) &&
	       dwarf_formaddr(&attr, &after) == 0 && after &&
	       dwarf_haspc(inlined, after - 1) == 1;
}

static struct err *inlined_find_callees(const struct inlined_calls *calls,
					Dwarf_Die *in, Dwarf_Die *inlined,
					struct map_text *callees, int depth)
{
	Dwarf_Die child;
	if (depth > CALLEES_DEPTH_MAX || dwarf_child(in, &child) != 0)
		return NULL;
	do {
		int tag = dwarf_tag(&child);
		if (inlined_is_call_in(&child, inlined) ||
		    (tag == DW_TAG_inlined_subroutine &&
		     in->addr != calls->function.addr))
			TRY(inlined_note_callee(calls, &child, callees));
		if (tag == DW_TAG_lexical_block &&
		    in->addr != calls->function.addr)
			TRY(inlined_find_callees(calls, &child, inlined,
						 callees, depth + 1));
	} while (dwarf_siblingof(&child, &child) == 0);
	return NULL;
}

/* One that calls tests: a suite, which nobody wants to run as a test. */
static bool inlined_is_suite(const struct inlined_calls *calls,
			     Dwarf_Die *inlined)
{
	_cleanup_(map_text_freep) struct map_text callees = MAP_INIT;
	Dwarf_Die function = calls->function;
	struct err *err =
		inlined_find_callees(calls, inlined, inlined, &callees, 0);
	if (!err && function.addr)
		err = inlined_find_callees(calls, &function, inlined, &callees,
					   0);
	err_ignore(err);
	return callees.map.n >= SUITE_CALLEES;
}

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
	if (tag == DW_TAG_subprogram)
		calls->function = *die;
	if (!name || !globs_match(calls->globs, name))
		return true;
	if (tag == DW_TAG_inlined_subroutine && inlined_is_suite(calls, die))
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

size_t object_count_inlined(struct object *object, const char *const *globs)
{
	struct inlined_calls calls = { .walk.enter = enter_inlined_calls,
				       .globs = globs };
	struct units *units = object_units(object);
	for (size_t i = 0; i < units->data.n && !calls.err; i++)
		die_walk(&calls.walk,
			 object_unit_die(object, &units->data.data[i]));
	size_t n = calls.found.map.n;
	err_ignore(calls.err);
	map_u64_free(&calls.found);
	return n;
}

const char *object_inlined_at(struct object *object, uint64_t address,
			      const char *const *globs)
{
	struct object_unit *unit = object_unit_at(object, address);
	Dwarf_Die *scopes = NULL;
	const char *found = NULL;
	int n = unit ? dwarf_getscopes(&unit->skeleton,
				       address - object->dwarf_bias, &scopes)
		     : 0;
	for (int i = 0; i < n; i++) {
		int tag = dwarf_tag(&scopes[i]);
		const char *name = dwarf_diename(&scopes[i]);
		bool matches = name && globs_match(globs, name);
		if (tag == DW_TAG_inlined_subroutine && matches && !found)
			found = name;
		/* Inlined into a test: that is the test, and has a call. */
		if (tag == DW_TAG_subprogram && matches)
			found = NULL;
	}
	free(scopes);
	return found;
}

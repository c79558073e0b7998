/*
 * Pointers in functions: their parameters and variables, whether or not the
 * optimiser left them a place. What they point to tells what a function makes of
 * an address that it got without a type.
 */
#include <dwarf.h>

#include "base/macro.h"
#include "dwarf/index_internal.h"

/* Of one function. */
#define POINTERS_MAX 1000
#define PARAMETERS_MAX 64

struct pointers_walk {
	struct die_walk walk;
	struct type_builder *builder;
	struct index_pointers *ret;
	size_t function;
	size_t n; /* of this function */
	int parameters;
	struct err *err;
};

static struct err *add_pointer(struct pointers_walk *walk, Dwarf_Die *die,
			       int parameter)
{
	Dwarf_Die origin, type, target;
	die_origin(die, &origin);
	if (!die_type(&origin, &type) || !die_peel(&type, &type) ||
	    dwarf_tag(&type) != DW_TAG_pointer_type)
		return NULL;
	struct index_pointer pointer = {
		.function = walk->function,
		.parameter = parameter,
	};
	const char *name = dwarf_diename(&origin);
	pointer.name = type_text(walk->builder->pool, name ? name : "");
	if (!pointer.name)
		return err_nomem();
	TRY(type_build(walk->builder, die_type(&type, &target) ? &target : NULL,
		       &pointer.target));
	walk->n++;
	return vec_push(walk->ret, pointer);
}

static bool pointers_enter(struct die_walk *of, Dwarf_Die *die)
{
	struct pointers_walk *walk = (struct pointers_walk *)of;
	switch (dwarf_tag(die)) {
	case DW_TAG_formal_parameter:
		walk->err = add_pointer(walk, die, walk->parameters++);
		break;
	case DW_TAG_variable:
		walk->err = add_pointer(walk, die, -1);
		break;
	case DW_TAG_lexical_block:
		return true;
	default:
		break;
	}
	of->stop = walk->err || walk->n >= POINTERS_MAX ||
		   walk->parameters >= PARAMETERS_MAX;
	return false;
}

static struct err *pointers_read(struct type_builder *builder,
				 const uint64_t *functions, size_t n,
				 struct index_pointers *ret)
{
	for (size_t i = 0; i < n; i++) {
		struct pointers_walk walk = {
			.walk = { .enter = pointers_enter },
			.builder = builder,
			.ret = ret,
			.function = i,
		};
		Dwarf_Die die;
		if (!object_function_die(builder->object, functions[i], &die))
			continue;
		die_walk(&walk.walk, &die);
		TRY(walk.err);
	}
	return type_build_rest(builder);
}

struct err *index_pointers_of(struct object *object, const uint64_t *functions,
			      size_t n, struct type_pool *pool,
			      struct index_pointers *ret)
{
	_cleanup_(scopes_freep) struct scopes scopes = {};
	_cleanup_(type_builder_freep) struct type_builder builder = {
		.object = object,
		.scopes = &scopes,
		.pool = pool,
	};
	if (!object_dwarf(object))
		return NULL;
	type_id first = (type_id)type_count(pool);
	TRY(scopes_read(&scopes, object));
	builder.steps_max = scopes.dies * 4 + 10000;
	TRY(pointers_read(&builder, functions, n, ret));
	return type_settle(pool, first);
}

#include "watch/held_roots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tracee/memory.h"

#define NAME_MAX 256
/* What an allocator may give in addition to what was asked for. */
#define SLACK 24
/* Kinds of pointers that are counted for one object. */
#define CANDIDATES_MAX 64
#define OBJECT_MAX ((uint64_t)1 << 20)

struct held_candidate {
	type_id type;
	size_t votes;
	bool parameter; /* a function says so in its own parameter */
};

/* All that get the object at @of, in the list from @first on. */
struct held_group {
	const struct held *first;
	size_t holders;
	uint64_t size; /* of its block; 0: not known */
	bool exact;
	bool stack;
};

void held_roots_free(struct held_roots *held)
{
	vec_free(&held->spans);
	map_u64_free(&held->functions);
	index_pointers_freep(&held->known);
	map_u64_free(&held->pointers);
}

bool held_roots_cover(const struct held_roots *held, uint64_t address)
{
	for (size_t i = 0; i < held->spans.n; i++) {
		if (address >= held->spans.data[i].start &&
		    address < held->spans.data[i].end)
			return true;
	}
	return false;
}

/* ---- what functions say ---- */

static struct err *read_module(struct held_roots *held, struct roots *roots,
			       const struct module *module,
			       const uint64_t *functions, size_t n)
{
	_cleanup_(index_pointers_freep) struct index_pointers found = {};
	TRY(index_pointers_of(module->object, functions, n, roots->pool,
			      &found));
	/* Each function's are together, and end with one without a name. */
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		TRY(map_u64_put(&held->functions, functions[i] + module->bias,
				held->known.n));
		for (; at < found.n && found.data[at].function == i; at++)
			TRY(vec_push(&held->known, found.data[at]));
		TRY(vec_push(&held->known, (struct index_pointer){}));
	}
	return NULL;
}

/* Debug information is read once for all functions of a file. */
static struct err *held_read_functions(struct held_roots *held,
				       const struct held_source *source,
				       struct roots *roots)
{
	const struct held_list *list = held->list;
	_cleanup_(freep) uint64_t *wanted =
		calloc(list->all.n + 1, sizeof(*wanted));
	if (!wanted)
		return err_nomem();
	for (size_t i = 0; i < source->program->modules.n; i++) {
		const struct module *module = &source->program->modules.data[i];
		size_t n = 0;
		for (size_t j = 0; j < list->all.n; j++) {
			uint64_t known, at = list->all.data[j].function;
			if (!at || !list->all.data[j].object ||
			    map_u64_get(&held->functions, at, &known) ||
			    program_module(source->program, RADDR(at)) !=
				    module)
				continue;
			TRY(map_u64_put(&held->functions, at, UINT64_MAX));
			wanted[n++] = at - module->bias;
		}
		if (n && module->object)
			TRY(read_module(held, roots, module, wanted, n));
	}
	return NULL;
}

/* The pointers of a function; the last has no name. NULL: not known. */
static const struct index_pointer *pointers_of(const struct held_roots *held,
					       uint64_t function)
{
	uint64_t at;
	if (!map_u64_get(&held->functions, function, &at) ||
	    at >= held->known.n)
		return NULL;
	return &held->known.data[at];
}

/* ---- the type ---- */

/* A type that says something about the object, and fits in it. */
static bool held_type_fits(const struct type_pool *pool,
			   const struct held_group *group, type_id id)
{
	const struct type *type = type_get(pool, id);
	switch (type->kind) {
	case TYPE_OPAQUE:
	case TYPE_VOID:
	case TYPE_CODE:
		return false;
	default:
		break;
	}
	if (!type->size || type->size > OBJECT_MAX ||
	    group->first->object % MAX(type->align, 1U))
		return false;
	if (!group->size)
		return true;
	if (group->exact)
		return group->size % type->size == 0;
	return type->size <= group->size && group->size - type->size < SLACK;
}

/* The same type may be in several files. */
static type_id held_type_known(const struct type_pool *pool, type_id id)
{
	const struct type *type = type_get(pool, id);
	if (type->kind != TYPE_STRUCT || !*type->name)
		return id;
	type_id other = type_by_name(pool, type->name);
	return type_get(pool, other)->kind == TYPE_STRUCT &&
			       type_get(pool, other)->size == type->size
		       ? other
		       : id;
}

static void held_vote(struct held_candidate *candidates, size_t *n,
		      type_id type, bool parameter)
{
	size_t i = 0;
	while (i < *n && candidates[i].type != type)
		i++;
	if (i == *n) {
		if (*n == CANDIDATES_MAX)
			return;
		candidates[(*n)++] = (struct held_candidate){ .type = type };
	}
	candidates[i].votes++;
	candidates[i].parameter |= parameter;
}

static void held_vote_function(const struct held_roots *held,
			       const struct type_pool *pool,
			       const struct held_group *group,
			       const struct held *holder,
			       struct held_candidate *candidates, size_t *n)
{
	const struct index_pointer *at = pointers_of(held, holder->function);
	for (; at && at->name; at++) {
		bool same = at->parameter == (int)holder->parameter;
		type_id type = at->target;
		if (at->parameter >= 0 && !same)
			continue;
		if (same && holder->indirect) {
			if (type_get(pool, type)->kind != TYPE_POINTER)
				continue;
			type = type_get(pool, type)->target;
		}
		type = held_type_known(pool, type);
		if (held_type_fits(pool, group, type))
			held_vote(candidates, n, type, same);
	}
}

/* Better first: the parameter itself, the whole block, most votes. */
static bool candidate_is_better(const struct type_pool *pool,
				const struct held_group *group,
				const struct held_candidate *a,
				const struct held_candidate *b)
{
	bool whole_a = type_get(pool, a->type)->size == group->size;
	bool whole_b = type_get(pool, b->type)->size == group->size;
	bool struct_a = type_get(pool, a->type)->kind == TYPE_STRUCT;
	bool struct_b = type_get(pool, b->type)->kind == TYPE_STRUCT;
	if (a->parameter != b->parameter)
		return a->parameter;
	if (whole_a != whole_b)
		return whole_a;
	if (struct_a != struct_b)
		return struct_a;
	return a->votes > b->votes;
}

/* TYPE_UNKNOWN: nothing says so, or not clearly. */
static type_id held_type_of_functions(const struct held_roots *held,
				      const struct type_pool *pool,
				      const struct held_group *group)
{
	struct held_candidate candidates[CANDIDATES_MAX];
	size_t n = 0, best = 0;
	const struct held_list *list = held->list;
	for (size_t i = 0; i < list->all.n; i++) {
		if (list->all.data[i].object == group->first->object)
			held_vote_function(held, pool, group,
					   &list->all.data[i], candidates, &n);
	}
	for (size_t i = 1; i < n; i++) {
		if (candidate_is_better(pool, group, &candidates[i],
					&candidates[best]))
			best = i;
	}
	for (size_t i = 0; i < n; i++) {
		if (i != best &&
		    !candidate_is_better(pool, group, &candidates[best],
					 &candidates[i]))
			return TYPE_UNKNOWN;
	}
	/* Of what lies on a stack no size is known: only what is sure. */
	if (n > 1 && !group->size && !candidates[best].parameter)
		return TYPE_UNKNOWN;
	return n ? candidates[best].type : TYPE_UNKNOWN;
}

static type_id held_type_of_vtable(const struct roots *roots,
				   struct tracee *tracee, uint64_t object)
{
	uint64_t vptr;
	if (memory_read_some(tracee, RADDR(object), &vptr, sizeof(vptr)) !=
	    sizeof(vptr))
		return TYPE_UNKNOWN;
	for (size_t i = 0; i < roots->vtables.n; i++) {
		const struct state_vtable *vtable = &roots->vtables.data[i];
		/* Before it: offset to the top, type information. */
		if (vptr == vtable->start + 16)
			return vtable->type;
	}
	return TYPE_UNKNOWN;
}

static struct err *held_pointer_to(struct held_roots *held,
				   struct type_pool *pool, type_id target,
				   type_id *ret)
{
	uint64_t known;
	if (map_u64_get(&held->pointers, target, &known)) {
		*ret = (type_id)known;
		return NULL;
	}
	type_id first = (type_id)type_count(pool);
	struct type type = { .kind = TYPE_POINTER,
			     .size = 8,
			     .target = target };
	if (target == TYPE_UNKNOWN) {
		const struct type nothing = { .kind = TYPE_VOID,
					      .name = "void" };
		TRY(type_declare(pool, &type.target));
		TRY(type_set(pool, type.target, &nothing));
	}
	TRY(type_declare(pool, ret));
	TRY(type_set(pool, *ret, &type));
	TRY(type_settle(pool, first));
	return map_u64_put(&held->pointers, target, *ret);
}

/* ---- roots ---- */

/* "*state", "data": as the first function that gets it calls it. */
static struct err *held_name(const struct held_roots *held,
			     struct type_pool *pool, const struct held *holder,
			     const char **ret)
{
	const struct index_pointer *at = pointers_of(held, holder->function);
	const char *name = holder->name;
	for (; at && at->name; at++) {
		if (at->parameter == (int)holder->parameter && *at->name)
			name = at->name;
	}
	char text[NAME_MAX];
	snprintf(text, sizeof(text), "%s%s", holder->indirect ? "*" : "",
		 name ? name : "data");
	*ret = type_text(pool, text);
	return *ret ? NULL : err_nomem();
}

static bool held_is_variable(const struct roots *roots, uint64_t object)
{
	for (size_t i = 0; i < roots->all.n; i++) {
		const struct state_root *root = &roots->all.data[i];
		if (object >= root->address &&
		    object - root->address < root->size)
			return true;
	}
	return false;
}

/* Is it state that tests share, and that nothing else is known of? */
static bool held_is_root(const struct held_source *source,
			 const struct roots *roots, struct held_group *group)
{
	uint64_t object = group->first->object;
	struct image_block block;
	if (group->first->function && group->holders < 2)
		return false;
	if (held_is_variable(roots, object))
		return false;
	if (image_block(source->image, IMAGE_AFTER, object, &block)) {
		group->size = block.start == object ? block.size : 0;
		group->exact = block.exact;
		return true;
	}
	switch (areas_find(source->areas, object)) {
	case STATE_DATA:
		return true;
	case STATE_FOREIGN:
		group->stack = true;
		return !program_module(source->program, RADDR(object));
	default:
		return false; /* freed, constant, code, or no address */
	}
}

static struct err *held_add_root(struct held_roots *held,
				 const struct held_source *source,
				 struct roots *roots,
				 const struct held_group *group)
{
	const struct held *first = group->first;
	type_id target =
		held_type_of_vtable(roots, source->tracee, first->object);
	if (target == TYPE_UNKNOWN)
		target = held_type_of_functions(held, roots->pool, group);
	uint64_t size = type_get(roots->pool, target)->size;
	if (group->stack && (target == TYPE_UNKNOWN || !size))
		return NULL;
	struct state_root root = {
		.address = HELD_START + held->n * 8,
		.size = 8,
		.module = source->program->modules.data[0].bias,
	};
	struct root_place place = {};
	TRY(held_name(held, roots->pool, first, &root.name));
	TRY(held_pointer_to(held, roots->pool, target, &root.type));
	if (first->function)
		program_function_place(source->program, RADDR(first->function),
				       &place.file, &place.line);
	else if (first->caller)
		program_line(source->program, RADDR(first->caller), &place.file,
			     &place.line);
	if (regexes_match(&roots->exclude, root.name) ||
	    (roots->include.n && !regexes_match(&roots->include, root.name)))
		return NULL;
	if (group->stack) {
		const struct held_span span = { first->object,
						first->object + size };
		TRY(image_follow(source->image, first->object, size));
		TRY(vec_push(&held->spans, span));
	}
	TRY(vec_push(&roots->all, root));
	TRY(vec_push(&roots->places, place));
	held->cells[held->n++] = first->object;
	log_debug(LOG_WATCH, "root '%s': what the framework gives to %zu tests",
		  root.name, group->holders);
	return NULL;
}

static struct err *held_find_group(const struct held_list *list,
				   struct map_u64 *seen, size_t at,
				   struct held_group *ret)
{
	uint64_t known, object = list->all.data[at].object;
	*ret = (struct held_group){};
	if (!object || map_u64_get(seen, object, &known))
		return NULL;
	TRY(map_u64_put(seen, object, 1));
	ret->first = &list->all.data[at];
	for (size_t i = at; i < list->all.n; i++)
		ret->holders += list->all.data[i].object == object;
	return NULL;
}

struct err *held_roots_add(struct held_roots *held,
			   const struct held_source *source,
			   struct roots *roots)
{
	_cleanup_(map_u64_freep) struct map_u64 seen = MAP_INIT;
	memset(held->cells, 0, sizeof(held->cells));
	held->n = held->spans.n = 0;
	if (!held->list || !source->program->modules.n)
		return NULL;
	held->version = held->list->version;
	TRY(held_read_functions(held, source, roots));
	for (size_t i = 0;
	     i < held->list->all.n && held->n < ARRAY_SIZE(held->cells); i++) {
		struct held_group group;
		TRY(held_find_group(held->list, &seen, i, &group));
		if (group.first && held_is_root(source, roots, &group))
			TRY(held_add_root(held, source, roots, &group));
	}
	return NULL;
}

#include "watch/scalars.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "program/own.h"
#include "tracee/memory.h"
#include "watch/roots.h"

#define SCALARS_MAX 20000
/* Of one variable: tables are no place for a verdict. */
#define SCALARS_OF_ROOT 64
#define ELEMENTS_MAX 16
#define LIST_MAX 100000
#define STRING_SIZE 32 /* libstdc++'s std::string */

struct scalars {
	struct type_pool *pool;
	struct roots roots;
	VEC(struct scalar) all;
};

/* One variable, or what it points to, on the way through its parts. */
struct scalar_walk {
	struct scalars *scalars;
	struct tracee *tracee;
	const struct state_root *root;
	struct str name;
	uint64_t address;
	bool through;
	size_t left;
};

static struct err *scalar_walk_type(struct scalar_walk *walk, type_id id,
				    uint64_t offset, unsigned depth);

static void scalar_cut_name(struct scalar_walk *walk, size_t n)
{
	walk->name.n = n;
	walk->name.s[n] = '\0';
}

static struct err *scalar_add(struct scalar_walk *walk, struct scalar scalar,
			      uint64_t offset)
{
	struct scalars *scalars = walk->scalars;
	if (!walk->left || scalars->all.n >= SCALARS_MAX)
		return NULL;
	walk->left--;
	scalar.address = walk->address + (walk->through ? 0 : offset);
	scalar.through = walk->through;
	scalar.offset = walk->through ? offset : 0;
	scalar.variable = walk->root->address;
	scalar.variable_size = walk->root->size;
	scalar.name = strdup(walk->name.s);
	if (!scalar.name)
		return err_nomem();
	struct err *err = vec_push(&scalars->all, scalar);
	if (err)
		free(scalar.name);
	return err;
}

static struct err *scalar_add_number(struct scalar_walk *walk,
				     const struct type *type, uint64_t offset)
{
	struct scalar scalar = {
		.kind = SCALAR_NUMBER,
		.size = (unsigned)type->size,
		.is_signed = type->kind == TYPE_SIGNED,
	};
	if (type->size != 1 && type->size != 2 && type->size != 4 &&
	    type->size != 8)
		return NULL;
	if (type->kind == TYPE_BOOL) {
		scalar.enumerators[0] = 0;
		scalar.enumerators[1] = 1;
		scalar.n_enumerators = 2;
	}
	for (uint32_t i = 0; i < type->n_enumerators &&
			     scalar.n_enumerators < SCALAR_ENUMERATORS;
	     i++)
		scalar.enumerators[scalar.n_enumerators++] =
			type->enumerators[i].value;
	return scalar_add(walk, scalar, offset);
}

/* In a structure that is linked to others of its type: where the link is. */
static bool scalar_find_link(const struct type_pool *pool, type_id id,
			     uint64_t *ret)
{
	const struct type *type = type_get(pool, id);
	if (type->kind != TYPE_STRUCT)
		return false;
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *member = &type->members[i];
		const struct type *to = type_get(pool, member->type);
		if (to->kind == TYPE_POINTER && to->target == id) {
			*ret = member->offset;
			return true;
		}
	}
	return false;
}

static struct err *scalar_add_pointer(struct scalar_walk *walk,
				      const struct type *type, uint64_t offset)
{
	const struct type_pool *pool = walk->scalars->pool;
	const struct type *target = type_get(pool, type->target);
	struct scalar scalar = { .kind = SCALAR_POINTER, .size = 8 };
	if (type->size != 8 || target->kind == TYPE_CODE)
		return NULL;
	if (scalar_find_link(pool, type->target, &scalar.step))
		scalar.kind = SCALAR_LIST;
	TRY(scalar_add(walk, scalar, offset));
	uint64_t to = 0;
	if (walk->through || target->kind != TYPE_STRUCT ||
	    memory_read_some(walk->tracee, RADDR(walk->address + offset), &to,
			     sizeof(to)) != sizeof(to) ||
	    !to)
		return NULL;
	size_t n = walk->name.n;
	TRY(str_append(&walk->name, "->"));
	struct scalar_walk inner = *walk;
	inner.through = true;
	inner.address = walk->address + offset;
	struct err *err = scalar_walk_type(&inner, type->target, 0, 0);
	walk->name = inner.name;
	walk->left = inner.left;
	scalar_cut_name(walk, n);
	return err;
}

static struct err *scalar_walk_members(struct scalar_walk *walk,
				       const struct type *type, uint64_t offset,
				       unsigned depth)
{
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *member = &type->members[i];
		size_t n = walk->name.n;
		if (member->bit_size || member->virtual_base ||
		    member->artificial)
			continue;
		bool arrow = n > 2 && !strcmp(walk->name.s + n - 2, "->");
		if (*member->name)
			TRY(str_appendf(&walk->name, "%s%s", arrow ? "" : ".",
					member->name));
		TRY(scalar_walk_type(walk, member->type,
				     offset + member->offset, depth + 1));
		scalar_cut_name(walk, n);
	}
	return NULL;
}

static struct err *scalar_walk_elements(struct scalar_walk *walk,
					const struct type *type,
					uint64_t offset, unsigned depth)
{
	const struct type *element =
		type_get(walk->scalars->pool, type->target);
	/* A text: whether there is one. */
	uint64_t count = element->kind == TYPE_CHAR ? 1 : type->count;
	if (type->count == TYPE_NO_COUNT || count > ELEMENTS_MAX)
		return NULL;
	for (uint64_t i = 0; i < count; i++) {
		size_t n = walk->name.n;
		TRY(str_appendf(&walk->name, "[%llu]", (unsigned long long)i));
		TRY(scalar_walk_type(walk, type->target,
				     offset + i * element->size, depth + 1));
		scalar_cut_name(walk, n);
	}
	return NULL;
}

/* clang leaves the definition of std::string to the C++ library. */
static struct err *scalar_add_vector(struct scalar_walk *walk,
				     const struct type *type, uint64_t offset)
{
	const struct type *element =
		type_get(walk->scalars->pool, type->arguments[0].type);
	struct scalar scalar = {
		.kind = SCALAR_VECTOR,
		.size = 8,
		.step = element->size,
	};
	if (!scalar.step && strstr(type->name, "basic_string<char"))
		scalar.step = STRING_SIZE;
	return scalar.step ? scalar_add(walk, scalar, offset) : NULL;
}

static struct err *scalar_walk_type(struct scalar_walk *walk, type_id id,
				    uint64_t offset, unsigned depth)
{
	const struct type *type = type_get(walk->scalars->pool, id);
	switch (type->kind) {
	case TYPE_BOOL:
	case TYPE_SIGNED:
	case TYPE_UNSIGNED:
	case TYPE_CHAR:
	case TYPE_ENUM:
		return scalar_add_number(walk, type, offset);
	case TYPE_POINTER:
		return scalar_add_pointer(walk, type, offset);
	case TYPE_ARRAY:
		return depth < TYPE_DEPTH_MAX
			       ? scalar_walk_elements(walk, type, offset, depth)
			       : NULL;
	case TYPE_STRUCT:
		if (str_starts(type->name, "std::vector<") && type->n_arguments)
			return scalar_add_vector(walk, type, offset);
		return depth < TYPE_DEPTH_MAX
			       ? scalar_walk_members(walk, type, offset, depth)
			       : NULL;
	default:
		return NULL;
	}
}

static struct err *scalars_walk_root(struct scalars *scalars,
				     struct tracee *tracee, size_t i)
{
	const struct state_root *root = &scalars->roots.all.data[i];
	struct scalar_walk walk = {
		.scalars = scalars,
		.tracee = tracee,
		.root = root,
		.name = STR_INIT,
		.address = root->address,
		.left = SCALARS_OF_ROOT,
	};
	struct err *err = str_append(&walk.name, root->name);
	/* Without debug information: a number by its size. */
	const struct type number = { .kind = TYPE_UNSIGNED,
				     .size = root->size };
	if (!err)
		err = root->type ? scalar_walk_type(&walk, root->type, 0, 0)
				 : scalar_add_number(&walk, &number, 0);
	str_free(&walk.name);
	return err;
}

struct err *scalars_create(const struct program *program, struct thread *thread,
			   const char *cache, struct scalars **ret)
{
	_cleanup_(scalars_destroyp) struct scalars *scalars =
		calloc(1, sizeof(*scalars));
	if (!scalars)
		return err_nomem();
	const struct suite_watch options = { .cache = cache };
	TRY(type_pool_create(&scalars->pool));
	TRY(roots_init(&scalars->roots, scalars->pool, &options));
	TRY(roots_load(&scalars->roots, program, thread));
	for (size_t i = 0; i < scalars->roots.all.n; i++)
		TRY(scalars_walk_root(scalars, thread->tracee, i));
	*ret = take_ptr(scalars);
	return NULL;
}

void scalars_destroy(struct scalars *scalars)
{
	if (!scalars)
		return;
	for (size_t i = 0; i < scalars->all.n; i++)
		free(scalars->all.data[i].name);
	vec_free(&scalars->all);
	roots_free(&scalars->roots);
	type_pool_destroy(scalars->pool);
	free(scalars);
}

const struct scalar *scalars_all(const struct scalars *scalars, size_t *ret_n)
{
	*ret_n = scalars->all.n;
	return scalars->all.data;
}

bool scalar_place(const struct scalar *scalar, struct tracee *tracee,
		  struct raddr *ret)
{
	uint64_t at = scalar->address;
	if (scalar->through) {
		if (memory_read_some(tracee, RADDR(at), &at, sizeof(at)) !=
			    sizeof(at) ||
		    !at)
			return false;
		at += scalar->offset;
	}
	*ret = RADDR(at);
	return true;
}

/* A list that comes back to its beginning has an end, too. */
static bool scalar_count_list(const struct scalar *scalar,
			      struct tracee *tracee, uint64_t head,
			      uint64_t *ret, uint64_t *ret_last)
{
	uint64_t n = 0;
	for (uint64_t at = head; at && n < LIST_MAX; n++) {
		*ret_last = at + scalar->step;
		if (memory_read_some(tracee, RADDR(*ret_last), &at,
				     sizeof(at)) != sizeof(at))
			return false;
		if (at == head)
			break;
	}
	*ret = n;
	return true;
}

bool scalar_list_end(const struct scalar *scalar, struct tracee *tracee,
		     struct raddr *ret)
{
	struct raddr at;
	uint64_t head, n;
	*ret = RADDR(0);
	return scalar->kind == SCALAR_LIST &&
	       scalar_place(scalar, tracee, &at) &&
	       memory_read_some(tracee, at, &head, sizeof(head)) ==
		       sizeof(head) &&
	       scalar_count_list(scalar, tracee, head, &n, &ret->v) && n;
}

bool scalar_measure(const struct scalar *scalar, struct tracee *tracee,
		    uint64_t *ret)
{
	struct raddr at;
	uint64_t words[2] = {};
	size_t n = scalar->kind == SCALAR_VECTOR ? sizeof(words) : scalar->size;
	if (!scalar_place(scalar, tracee, &at) ||
	    memory_read_some(tracee, at, words, n) != n)
		return false;
	switch (scalar->kind) {
	case SCALAR_LIST:
		return scalar_count_list(scalar, tracee, words[0], ret,
					 &words[1]);
	case SCALAR_VECTOR:
		*ret = words[1] - words[0];
		return words[1] >= words[0];
	default:
		*ret = words[0];
		return true;
	}
}

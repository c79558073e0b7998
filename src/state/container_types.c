/*
 * Types of elements: from template arguments, by name, or made where debug
 * information has none.
 */
#include <ctype.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "state/containers_internal.h"

/* Base types that a row may need and a program may never mention. */
static const struct {
	const char *name;
	enum type_kind kind;
	uint32_t size;
} basics[] = {
	{ "char", TYPE_CHAR, 1 },
	{ "wchar_t", TYPE_CHAR, 4 },
	{ "char8_t", TYPE_CHAR, 1 },
	{ "char16_t", TYPE_CHAR, 2 },
	{ "char32_t", TYPE_CHAR, 4 },
	{ "unsigned char", TYPE_UNSIGNED, 1 },
	{ "unsigned int", TYPE_UNSIGNED, 4 },
};

static struct err *container_make_type(struct containers *containers,
				       const struct type *type, type_id *ret)
{
	TRY(type_declare(containers->pool, ret));
	return type_set(containers->pool, *ret, type);
}

static struct err *container_type_by_name(struct containers *containers,
					  const char *name, type_id *ret)
{
	*ret = type_by_name(containers->pool, name);
	if (*ret != TYPE_UNKNOWN)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(basics); i++) {
		if (strcmp(basics[i].name, name))
			continue;
		struct type type = { .kind = basics[i].kind,
				     .name = basics[i].name,
				     .size = basics[i].size,
				     .align = basics[i].size };
		return container_make_type(containers, &type, ret);
	}
	if (str_ends(name, "*"))
		return container_void_pointer(containers, ret);
	return NULL;
}

struct err *container_void_pointer(struct containers *containers, type_id *ret)
{
	if (containers->void_pointer == TYPE_UNKNOWN) {
		type_id nothing = TYPE_UNKNOWN;
		struct type type = { .kind = TYPE_VOID,
				     .name = "",
				     .align = 1 };
		TRY(container_make_type(containers, &type, &nothing));
		type = (struct type){ .kind = TYPE_POINTER,
				      .name = "",
				      .size = 8,
				      .align = 8,
				      .target = nothing };
		TRY(container_make_type(containers, &type,
					&containers->void_pointer));
	}
	*ret = containers->void_pointer;
	return NULL;
}

struct err *containers_structure_type(struct containers *containers,
				      type_id *ret)
{
	/* A byte of it, so that what is written elsewhere is not its own. */
	struct type type = { .kind = TYPE_STRUCT,
			     .name = CONTAINER_STRUCTURE,
			     .size = 1,
			     .align = 1 };
	if (containers->structure == TYPE_UNKNOWN)
		TRY(container_make_type(containers, &type,
					&containers->structure));
	*ret = containers->structure;
	return NULL;
}

struct err *container_opaque(struct containers *containers, uint64_t size,
			     type_id *ret)
{
	uint64_t known;
	if (map_u64_get(&containers->opaque, size, &known)) {
		*ret = (type_id)known;
		return NULL;
	}
	struct type type = { .kind = TYPE_OPAQUE,
			     .name = "",
			     .size = size,
			     .align = size % 8 ? 1 : 8 };
	type_id id = TYPE_UNKNOWN;
	TRY(container_make_type(containers, &type, &id));
	TRY(map_u64_put(&containers->opaque, size, id));
	*ret = id;
	return NULL;
}

/* std::pair<first, second> as compilers lay it out. */
struct err *container_pair(struct containers *containers, type_id first,
			   type_id second, type_id *ret)
{
	const struct type *a = type_get(containers->pool, first);
	const struct type *b = type_get(containers->pool, second);
	uint32_t align = MAX(MAX(a->align, b->align), 1U);
	uint64_t second_at = container_align(a->size, b->align);
	struct type_member members[2] = {
		{ .name = "first", .type = first },
		{ .name = "second", .type = second, .offset = second_at },
	};
	struct type pair = { .kind = TYPE_STRUCT,
			     .name = "",
			     .size = container_align(second_at + b->size,
						     align),
			     .align = align,
			     .members = members,
			     .n_members = ARRAY_SIZE(members) };
	return container_make_type(containers, &pair, ret);
}

/* The @n-th argument in the text of a name: where it begins and its length. */
static const char *argument_text(const char *name, size_t n, size_t *ret_n)
{
	const char *p = strchr(name, '<');
	if (!p)
		return NULL;
	const char *start = ++p;
	for (unsigned depth = 0; *p; p++) {
		if (strchr("<([{", *p)) {
			depth++;
		} else if (depth && strchr(">)]}", *p)) {
			depth--;
		} else if (!depth && (*p == ',' || *p == '>')) {
			if (n--) {
				if (*p == '>')
					return NULL;
				start = p + 1;
				continue;
			}
			while (start < p && isspace((unsigned char)*start))
				start++;
			while (p > start && isspace((unsigned char)p[-1]))
				p--;
			*ret_n = (size_t)(p - start);
			return start;
		}
	}
	return NULL;
}

struct err *container_argument(struct containers *containers, type_id type,
			       size_t n, type_id *ret)
{
	const struct type *t = type_get(containers->pool, type);
	*ret = TYPE_UNKNOWN;
	if (n < t->n_arguments) {
		if (!t->arguments[n].is_value)
			*ret = t->arguments[n].type;
		return NULL;
	}
	/* Declarations have none, but their names say it. */
	size_t length = 0;
	const char *text = argument_text(t->name, n, &length);
	if (!text)
		return NULL;
	_cleanup_(freep) char *name = strndup(text, length);
	if (!name)
		return err_nomem();
	return container_type_by_name(containers, name, ret);
}

struct err *container_named(struct containers *containers, type_id type,
			    const char *spec, type_id *ret)
{
	*ret = TYPE_UNKNOWN;
	if (!strcmp(spec, "void *"))
		return container_void_pointer(containers, ret);
	if (spec[0] != '#')
		return container_type_by_name(containers, spec, ret);
	type_id at = type;
	while (spec[0] == '#') {
		size_t n = 0;
		for (spec++; isdigit((unsigned char)*spec); spec++)
			n = n * 10 + (size_t)(*spec - '0');
		TRY(container_argument(containers, at, n, &at));
		if (at == TYPE_UNKNOWN)
			return NULL;
		if (*spec == '.')
			spec++;
	}
	*ret = at;
	return NULL;
}

#define OLD_STRING                                                             \
	"std::basic_string<char, std::char_traits<char>, "                     \
	"std::allocator<char> >"

/* Code that is made for one type, and which of its arguments that is. */
static const struct {
	const char *name;
	size_t argument;
	enum held_where where;
} handlers[] = {
	{ "any::_Manager_internal<", 0, HELD_IN_PLACE },
	{ "any::_Manager_external<", 0, HELD_IN_BLOCK },
	{ "__any_imp::_SmallHandler<", 0, HELD_IN_PLACE },
	{ "__any_imp::_LargeHandler<", 0, HELD_IN_BLOCK },
	{ "_Function_base::_Base_manager<", 0, HELD_UNKNOWN },
	{ "_Function_handler<", 1, HELD_UNKNOWN },
};

static struct err *find_held(struct containers *containers, const char *symbol,
			     type_id *ret, enum held_where *ret_where)
{
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		const char *at = strstr(symbol, handlers[i].name);
		size_t n = 0;
		const char *text =
			at ? argument_text(at, handlers[i].argument, &n) : NULL;
		if (!text)
			continue;
		_cleanup_(freep) char *name = strndup(text, n);
		if (!name)
			return err_nomem();
		*ret_where = handlers[i].where;
		/* The mangling of the old ABI's has a short form. */
		return container_type_by_name(
			containers,
			strcmp(name, "std::string") ? name : OLD_STRING, ret);
	}
	return NULL;
}

struct err *container_held(struct containers *containers, uint64_t code,
			   type_id *ret, enum held_where *ret_where)
{
	char symbol[2048];
	uint64_t known;
	*ret = TYPE_UNKNOWN;
	*ret_where = HELD_UNKNOWN;
	if (!containers->symbol)
		return NULL;
	if (map_u64_get(&containers->held, code, &known)) {
		*ret = (type_id)known;
		*ret_where = (enum held_where)(known >> 32);
		return NULL;
	}
	if (containers->symbol(containers->symbol_data, code, symbol,
			       sizeof(symbol)))
		TRY(find_held(containers, symbol, ret, ret_where));
	return map_u64_put(&containers->held, code,
			   (uint64_t)*ret_where << 32 | *ret);
}

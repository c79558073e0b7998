#include "type/type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/macro.h"
#include "type/type_internal.h"

#define MEMORY_PIECE ((size_t)1 << 16)
#define TYPES_MAX ((size_t)1 << 31)
/* Longest name that is kept; those of templates can be longer than a page. */
#define TEXT_MAX 4096
#define DESCRIBE_DEPTH 16

/* ---- memory ---- */

static void *take_memory(struct type_pool *pool, size_t n)
{
	n = (n + 15) & ~(size_t)15;
	if (pool->memory_size - pool->memory_used < n) {
		size_t size = MAX(n, MEMORY_PIECE);
		_cleanup_(freep) char *piece = malloc(size);
		if (!piece)
			return NULL;
		struct err *err = vec_push(&pool->memory, piece);
		if (err) {
			err_destroy(err);
			return NULL;
		}
		take_ptr(piece);
		pool->memory_size = size;
		pool->memory_used = 0;
	}
	char *memory =
		pool->memory.data[pool->memory.n - 1] + pool->memory_used;
	pool->memory_used += n;
	return memory;
}

static struct err *copy_items(struct type_pool *pool, const void *items,
			      size_t n, size_t size, void *ret)
{
	void *copy = NULL;
	if (n) {
		copy = take_memory(pool, n * size);
		if (!copy)
			return err_nomem();
		memcpy(copy, items, n * size);
	}
	*(void **)ret = copy;
	return NULL;
}

/* ---- texts ---- */

static struct err *texts_room(struct type_pool *pool)
{
	if (pool->texts_n * 2 < pool->texts_cap)
		return NULL;
	size_t cap = pool->texts_cap ? pool->texts_cap * 2 : 256;
	struct text_slot *slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return err_nomem();
	for (size_t i = 0; i < pool->texts_cap; i++) {
		if (!pool->texts[i].hash)
			continue;
		size_t at = pool->texts[i].hash & (cap - 1);
		while (slots[at].hash)
			at = (at + 1) & (cap - 1);
		slots[at] = pool->texts[i];
	}
	free(pool->texts);
	pool->texts = slots;
	pool->texts_cap = cap;
	return NULL;
}

/* The slot of the text, or the empty one where it belongs. */
static struct text_slot *type_find_text(const struct type_pool *pool,
					const char *text, size_t n,
					uint64_t hash)
{
	size_t mask = pool->texts_cap - 1;
	for (size_t at = hash & mask;; at = (at + 1) & mask) {
		struct text_slot *slot = &pool->texts[at];
		if (!slot->hash ||
		    (slot->hash == hash && !strncmp(slot->text, text, n) &&
		     !slot->text[n]))
			return slot;
	}
}

static uint64_t type_hash_text(const char *text, size_t n)
{
	uint64_t hash = XXH3_64bits(text, n);
	return hash ? hash : 1;
}

/* Not in the middle of a UTF-8 character. */
static size_t type_name_length(const char *text)
{
	size_t n = strnlen(text, TEXT_MAX + 1);
	if (n <= TEXT_MAX)
		return n;
	n = TEXT_MAX;
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

const char *type_text(struct type_pool *pool, const char *text)
{
	struct err *err = texts_room(pool);
	if (err) {
		err_destroy(err);
		return NULL;
	}
	size_t n = type_name_length(text);
	uint64_t hash = type_hash_text(text, n);
	struct text_slot *slot = type_find_text(pool, text, n, hash);
	if (slot->hash)
		return slot->text;
	char *copy = take_memory(pool, n + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, n);
	copy[n] = '\0';
	*slot = (struct text_slot){ .hash = hash, .text = copy };
	pool->texts_n++;
	return copy;
}

/* ---- the pool ---- */

struct err *type_pool_create(struct type_pool **ret)
{
	_cleanup_(type_pool_destroyp) struct type_pool *pool =
		calloc(1, sizeof(*pool));
	if (!pool)
		return err_nomem();
	type_id unknown;
	TRY(type_declare(pool, &unknown));
	BUG_ON(unknown != TYPE_UNKNOWN);
	*ret = take_ptr(pool);
	return NULL;
}

void type_pool_destroy(struct type_pool *pool)
{
	if (!pool)
		return;
	for (size_t i = 0; i < pool->pieces.n; i++)
		free(pool->pieces.data[i]);
	vec_free(&pool->pieces);
	for (size_t i = 0; i < pool->memory.n; i++)
		free(pool->memory.data[i]);
	vec_free(&pool->memory);
	free(pool->texts);
	map_u64_free(&pool->by_name);
	map_u64_free(&pool->arrays);
	free(pool);
}

const struct type *type_get(const struct type_pool *pool, type_id id)
{
	return type_at(pool, id < pool->n_types ? id : TYPE_UNKNOWN);
}

size_t type_count(const struct type_pool *pool)
{
	return pool->n_types;
}

type_id type_by_name(const struct type_pool *pool, const char *name)
{
	size_t n = type_name_length(name);
	if (!pool->texts_cap)
		return TYPE_UNKNOWN;
	const struct text_slot *slot =
		type_find_text(pool, name, n, type_hash_text(name, n));
	uint64_t id;
	if (!slot->hash ||
	    !map_u64_get(&pool->by_name, (uintptr_t)slot->text, &id))
		return TYPE_UNKNOWN;
	return (type_id)id;
}

struct err *type_declare(struct type_pool *pool, type_id *ret)
{
	if (pool->n_types >= TYPES_MAX)
		return err_create(ERR_INTERNAL, "too many types");
	if (pool->n_types == pool->pieces.n * TYPES_PIECE) {
		_cleanup_(freep) struct type *piece =
			calloc(TYPES_PIECE, sizeof(*piece));
		if (!piece)
			return err_nomem();
		TRY(vec_push(&pool->pieces, piece));
		take_ptr(piece);
	}
	type_id id = (type_id)pool->n_types++;
	*type_at(pool, id) =
		(struct type){ .kind = TYPE_OPAQUE, .name = "", .align = 1 };
	*ret = id;
	return NULL;
}

/* Found by name: what has a definition, the first one of equals. */
static struct err *note_name(struct type_pool *pool, type_id id,
			     const struct type *type)
{
	uint64_t known;
	switch (type->kind) {
	case TYPE_BOOL:
	case TYPE_SIGNED:
	case TYPE_UNSIGNED:
	case TYPE_CHAR:
	case TYPE_FLOAT:
	case TYPE_COMPLEX:
	case TYPE_ENUM:
	case TYPE_STRUCT:
	case TYPE_UNION:
		break;
	default:
		return NULL;
	}
	if (!*type->name || (type->flags & TYPE_ATOMIC) ||
	    map_u64_get(&pool->by_name, (uintptr_t)type->name, &known))
		return NULL;
	return map_u64_put(&pool->by_name, (uintptr_t)type->name, id);
}

static struct err *type_keep_text(struct type_pool *pool, const char **text)
{
	*text = type_text(pool, *text ? *text : "");
	return *text ? NULL : err_nomem();
}

/* The key of an equal array, which is then *ret, or of the place for it. */
static bool type_find_array(const struct type_pool *pool, type_id element,
			    uint64_t count, uint64_t *ret_key, type_id *ret)
{
	uint64_t both[2] = { element, count };
	uint64_t key = XXH3_64bits(both, sizeof(both)), known;
	for (; map_u64_get(&pool->arrays, key, &known); key++) {
		const struct type *other = type_at(pool, (type_id)known);
		if (other->kind == TYPE_ARRAY && other->target == element &&
		    other->count == count) {
			*ret = (type_id)known;
			return true;
		}
	}
	*ret_key = key;
	return false;
}

static struct err *note_array(struct type_pool *pool, type_id id,
			      const struct type *type)
{
	uint64_t key;
	type_id known;
	if (type_find_array(pool, type->target, type->count, &key, &known))
		return NULL;
	return map_u64_put(&pool->arrays, key, id);
}

struct err *type_set(struct type_pool *pool, type_id id,
		     const struct type *type)
{
	BUG_ON(id >= pool->n_types);
	struct type copy = *type;
	struct type_member *members = NULL;
	struct type_enumerator *enumerators = NULL;
	struct type_argument *arguments = NULL;
	TRY(type_keep_text(pool, &copy.name));
	TRY(copy_items(pool, type->members, type->n_members, sizeof(*members),
		       &members));
	for (uint32_t i = 0; members && i < type->n_members; i++)
		TRY(type_keep_text(pool, &members[i].name));
	TRY(copy_items(pool, type->enumerators, type->n_enumerators,
		       sizeof(*enumerators), &enumerators));
	for (uint32_t i = 0; enumerators && i < type->n_enumerators; i++)
		TRY(type_keep_text(pool, &enumerators[i].name));
	TRY(copy_items(pool, type->arguments, type->n_arguments,
		       sizeof(*arguments), &arguments));
	copy.members = members;
	copy.enumerators = enumerators;
	copy.arguments = arguments;
	*type_at(pool, id) = copy;
	if (copy.kind == TYPE_ARRAY)
		return note_array(pool, id, &copy);
	return note_name(pool, id, &copy);
}

struct err *type_array_of(struct type_pool *pool, type_id element,
			  uint64_t count, type_id *ret)
{
	uint64_t size = type_get(pool, element)->size;
	if (count == TYPE_NO_COUNT)
		size = 0;
	else if (__builtin_mul_overflow(size, count, &size) ||
		 size > TYPE_SIZE_MAX) {
		*ret = TYPE_UNKNOWN;
		return NULL;
	}
	uint64_t key;
	if (type_find_array(pool, element, count, &key, ret))
		return NULL;
	type_id id;
	TRY(type_declare(pool, &id));
	*type_at(pool, id) = (struct type){
		.kind = TYPE_ARRAY,
		.name = "",
		.size = size,
		.align = type_get(pool, element)->align,
		.target = element,
		.count = count,
	};
	TRY(map_u64_put(&pool->arrays, key, id));
	*ret = id;
	return NULL;
}

/* ---- for people ---- */

struct type_writer {
	char *out;
	size_t n, used;
};

static void type_write_text(struct type_writer *writer, const char *text)
{
	size_t room = writer->n - writer->used;
	int n = snprintf(writer->out + writer->used, room, "%s", text);
	if (n > 0)
		writer->used += MIN((size_t)n, room - 1);
}

static const char *type_kind_text(const struct type *type)
{
	switch (type->kind) {
	case TYPE_VOID:
		return "void";
	case TYPE_STRUCT:
		return "struct {…}";
	case TYPE_UNION:
		return "union {…}";
	case TYPE_ENUM:
		return "enum {…}";
	case TYPE_CODE:
		return "code";
	case TYPE_DATA_MEMBER:
		return "member *";
	case TYPE_CODE_MEMBER:
		return "member function *";
	default:
		return "?";
	}
}

/* "char *[8][2]": what it is in the end, then the stars, then the bounds. */
void type_describe(const struct type_pool *pool, type_id id, char *out,
		   size_t n)
{
	if (!n)
		return;
	*out = '\0';
	struct type_writer writer = { .out = out, .n = n };
	const struct type *type = type_get(pool, id);
	const struct type *chain[DESCRIBE_DEPTH];
	size_t depth = 0;
	while (depth < DESCRIBE_DEPTH && !*type->name &&
	       (type->kind == TYPE_POINTER || type->kind == TYPE_REFERENCE ||
		type->kind == TYPE_ARRAY)) {
		chain[depth++] = type;
		type = type_get(pool, type->target);
	}
	if (type->flags & TYPE_ATOMIC)
		type_write_text(&writer, "_Atomic ");
	type_write_text(&writer,
			*type->name ? type->name : type_kind_text(type));
	/* Bounds that follow each other are written in their own order. */
	for (size_t i = depth; i > 0; i--) {
		if (chain[i - 1]->kind != TYPE_ARRAY) {
			bool star = chain[i - 1]->kind == TYPE_POINTER;
			if (writer.used && out[writer.used - 1] != '*')
				type_write_text(&writer, " ");
			type_write_text(&writer, star ? "*" : "&");
			continue;
		}
		size_t first = i - 1;
		while (first > 0 && chain[first - 1]->kind == TYPE_ARRAY)
			first--;
		for (size_t j = first; j < i; j++) {
			char bound[32] = "[]";
			if (chain[j]->count != TYPE_NO_COUNT)
				snprintf(bound, sizeof(bound), "[%llu]",
					 (unsigned long long)chain[j]->count);
			type_write_text(&writer, bound);
		}
		i = first + 1;
	}
}

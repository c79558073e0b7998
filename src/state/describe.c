/* Values for people, and numbers for values. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/macro.h"
#include "base/str.h"
#include "state/state_internal.h"

/* A value is shown with about this many characters. */
#define VALUE_MAX 72
#define MEMBERS_MAX 6
#define HASH_DEPTH 4
#define HASH_ELEMENTS 1024

struct value_writer {
	struct state *state;
	const struct view *view;
	struct str *out;
	unsigned depth;
};

static struct err *write_object(struct value_writer *writer, type_id id,
				uint64_t address, uint64_t size);

static struct err *write_quoted(struct value_writer *writer, uint64_t address,
				uint64_t n)
{
	char text[VALUE_MAX / 2 + 4];
	size_t part = MIN(n, sizeof(text) - 4);
	if (!view_read(writer->view, address, text, part))
		return str_append(writer->out, "(not readable)");
	TRY(str_append(writer->out, "\""));
	TRY(str_append_escaped(writer->out, text, part));
	TRY(str_append(writer->out, "\""));
	return part < n ? str_append(writer->out, "…") : NULL;
}

static struct err *write_wide(struct value_writer *writer, uint64_t address,
			      uint64_t n, uint64_t unit)
{
	TRY(str_append(writer->out, unit == 2 ? "u\"" : "L\""));
	for (uint64_t i = 0; i < MIN(n / unit, (uint64_t)VALUE_MAX / 2); i++) {
		uint32_t value = 0;
		if (!view_read(writer->view, address + i * unit, &value, unit))
			break;
		if (value >= 0x20 && value < 0x7f)
			TRY(str_appendf(writer->out, "%c", (char)value));
		else
			TRY(str_appendf(writer->out, "\\x%x", value));
	}
	return str_append(writer->out, "\"");
}

static struct err *value_write_text(struct value_writer *writer,
				    uint64_t address, uint64_t unit, uint64_t n)
{
	return unit == 1 ? write_quoted(writer, address, n)
			 : write_wide(writer, address, n, unit);
}

static const char *find_enumerator(const struct type *type, int64_t value)
{
	for (uint32_t i = 0; i < type->n_enumerators; i++) {
		if (type->enumerators[i].value == value)
			return type->enumerators[i].name;
	}
	return NULL;
}

static struct err *write_number(struct value_writer *writer,
				const struct type *type, uint64_t address,
				const struct leaf *leaf)
{
	uint64_t value = 0;
	size_t size = leaf ? leaf->size : type->size;
	uint8_t bytes[16] = {};
	size_t n = MIN(size, sizeof(bytes));
	if (!view_read(writer->view, address, bytes, n))
		return str_append(writer->out, "(not readable)");
	memcpy(&value, bytes, MIN(n, sizeof(value)));
	unsigned bits = (unsigned)MIN(n, sizeof(value)) * 8;
	if (leaf && leaf->bit_size) {
		value >>= leaf->bit_offset;
		bits = leaf->bit_size;
		if (bits < 64)
			value &= ((uint64_t)1 << bits) - 1;
	}
	int64_t number = (int64_t)value;
	if (bits < 64 && value >> (bits - 1) & 1)
		number = (int64_t)(value | ~(uint64_t)0 << bits);
	const char *name;
	switch (type->kind) {
	case TYPE_BOOL:
		if (value <= 1)
			return str_append(writer->out,
					  value ? "true" : "false");
		return str_appendf(writer->out, "%" PRIu64, value);
	case TYPE_ENUM:
		name = find_enumerator(type, number);
		if (!name)
			name = find_enumerator(type, (int64_t)value);
		if (name)
			return str_append_escaped(writer->out, name,
						  strlen(name));
		return str_appendf(writer->out, "%" PRId64, number);
	case TYPE_CHAR:
		if (value >= 0x20 && value < 0x7f)
			return str_appendf(writer->out, "'%c'", (char)value);
		return str_appendf(writer->out, "%" PRId64, number);
	case TYPE_SIGNED:
		if (n == 16)
			break;
		return str_appendf(writer->out, "%" PRId64, number);
	default:
		if (n == 16)
			break;
		return str_appendf(writer->out, "%" PRIu64, value);
	}
	uint64_t high;
	memcpy(&high, bytes + 8, sizeof(high));
	if (!high)
		return str_appendf(writer->out, "%" PRIu64, value);
	return str_appendf(writer->out, "0x%" PRIx64 "%016" PRIx64, high,
			   value);
}

static struct err *write_float(struct value_writer *writer, uint64_t address,
			       uint64_t size)
{
	uint8_t bytes[16] = {};
	if (size > sizeof(bytes) ||
	    !view_read(writer->view, address, bytes, size))
		return str_append(writer->out, "(not readable)");
	if (size == sizeof(float)) {
		float value;
		memcpy(&value, bytes, sizeof(value));
		return str_appendf(writer->out, "%.9g", (double)value);
	}
	if (size == sizeof(double)) {
		double value;
		memcpy(&value, bytes, sizeof(value));
		return str_appendf(writer->out, "%.17g", value);
	}
	if (size == sizeof(long double)) {
		long double value;
		memcpy(&value, bytes, sizeof(value));
		return str_appendf(writer->out, "%.20Lg", value);
	}
	return str_append(writer->out, "a number");
}

static struct err *write_symbol(struct value_writer *writer, uint64_t address)
{
	const struct state_options *options = &writer->state->options;
	char name[128];
	if (options->symbol &&
	    options->symbol(options->data, address, name, sizeof(name)))
		return str_append_escaped(writer->out, name, strlen(name));
	/* Addresses say nothing to people and differ from run to run. */
	return str_append(writer->out, "an address");
}

static struct err *write_pointer(struct value_writer *writer, type_id id,
				 uint64_t value)
{
	struct state *state = writer->state;
	const struct type *type = type_get(state->pool, id);
	struct target target;
	walk_target(state, writer->view, id, value, &target);
	switch (target.kind) {
	case TARGET_NULL:
		return str_append(writer->out, "NULL");
	case TARGET_ROOT: {
		const char *name = state->options.roots[target.root].name;
		TRY(str_appendf(writer->out, "&%s", name));
		return target.offset ? str_appendf(writer->out, "+%" PRIu64,
						   target.offset)
				     : NULL;
	}
	case TARGET_CODE:
	case TARGET_FOREIGN:
		return write_symbol(writer, value);
	case TARGET_DANGLING:
		return str_append(writer->out, "(freed memory)");
	case TARGET_DEAD:
		return str_append(writer->out, "(dead local variable)");
	default:
		break;
	}
	uint64_t room = target.size - target.offset;
	if (type->kind == TYPE_CHAR)
		return value_write_text(writer, value, type->size,
					walk_text(writer->view, value,
						  type->size,
						  MIN(room, TEXT_MAX)));
	bool unknown = id == TYPE_UNKNOWN || type->kind == TYPE_VOID ||
		       type->kind == TYPE_OPAQUE || !type->size;
	if (unknown && walk_is_text(writer->view, value, room))
		return write_quoted(writer, value,
				    walk_text(writer->view, value, 1, room));
	if (unknown)
		return str_appendf(writer->out, "a block of %" PRIu64 " bytes",
				   target.size);
	uint64_t start;
	type_id actual = walk_dynamic(state, writer->view, id, value, &start);
	if (writer->depth >= 2)
		return str_append(writer->out, "{…}");
	TRY(str_append(writer->out, "&"));
	uint64_t size = type_get(state->pool, actual)->size;
	return write_object(writer, actual, start, size);
}

static struct err *write_elements(struct value_writer *writer,
				  const struct container_contents *contents)
{
	uint64_t n = contents->run && contents->n ? contents->run : contents->n;
	struct state *state = writer->state;
	TRY(str_appendf(writer->out, "%" PRIu64 " element%s", n,
			n == 1 ? "" : "s"));
	if (!n || writer->depth >= 2)
		return NULL;
	TRY(str_append(writer->out, " {"));
	for (uint64_t i = 0; i < MIN(n, (uint64_t)MEMBERS_MAX); i++) {
		struct container_element element =
			contents->data[contents->run ? 0 : i];
		if (contents->run)
			element.address += i * contents->stride;
		if (writer->out->n > VALUE_MAX) {
			TRY(str_append(writer->out, ", …"));
			return str_append(writer->out, "}");
		}
		TRY(str_append(writer->out, i ? ", " : ""));
		writer->depth++;
		struct err *err =
			write_object(writer, element.type, element.address,
				     type_get(state->pool, element.type)->size);
		writer->depth--;
		TRY(err);
	}
	return str_append(writer->out, n > MEMBERS_MAX ? ", …}" : "}");
}

static struct err *write_contents(struct value_writer *writer,
				  enum container_shape shape,
				  const struct container_contents *contents)
{
	switch (shape) {
	case CONTAINER_TEXT:
		if (!contents->n)
			return str_append(writer->out, "\"\"");
		return value_write_text(
			writer, contents->data[0].address,
			MAX(contents->stride, (uint64_t)1),
			contents->run * MAX(contents->stride, (uint64_t)1));
	case CONTAINER_POINTER:
		return write_pointer(
			writer, contents->n ? contents->data[0].type : 0,
			contents->n ? contents->data[0].address : 0);
	case CONTAINER_FUNCTION:
		if (contents->n_words && contents->words[0])
			return write_symbol(writer, contents->words[0]);
		return str_append(writer->out, "empty");
	case CONTAINER_OPTIONAL:
	case CONTAINER_VARIANT:
		if (!contents->n)
			return str_append(writer->out, "empty");
		return write_object(
			writer, contents->data[0].type,
			contents->data[0].address,
			type_get(writer->state->pool, contents->data[0].type)
				->size);
	case CONTAINER_SKIP:
		return str_append(writer->out, "…");
	default:
		return write_elements(writer, contents);
	}
}

static struct err *write_container(struct value_writer *writer, type_id id,
				   uint64_t address, bool *ret_sound)
{
	struct container_contents contents = {};
	struct state *state = writer->state;
	struct err *err =
		container_expand(state->containers, id, writer->view, address,
				 ELEMENTS_MAX, &contents, ret_sound);
	if (!err && *ret_sound)
		err = write_contents(writer,
				     container_recipe_shape(container_recipe(
					     state->containers, id)),
				     &contents);
	container_contents_free(&contents);
	return err;
}

static struct err *write_struct(struct value_writer *writer,
				const struct type *type, uint64_t address)
{
	bool first = true;
	if (writer->depth > 3)
		return str_append(writer->out, "{…}");
	if (walk_is_wrapper(type)) {
		const struct type_member *only = &type->members[0];
		uint64_t size = type_get(writer->state->pool, only->type)->size;
		writer->depth++;
		struct err *err = write_object(writer, only->type,
					       address + only->offset, size);
		writer->depth--;
		return err;
	}
	TRY(str_append(writer->out, "{"));
	writer->depth++;
	unsigned shown = 0;
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct type_member *member = &type->members[i];
		if (member->artificial || member->virtual_base ||
		    (member->base &&
		     !type_get(writer->state->pool, member->type)->n_members))
			continue;
		if (writer->out->n > VALUE_MAX || shown++ >= MEMBERS_MAX) {
			TRY(str_append(writer->out, ", …"));
			break;
		}
		TRY(str_append(writer->out, first ? "" : ", "));
		first = false;
		if (*member->name && !member->base)
			TRY(str_appendf(writer->out, "%s = ", member->name));
		const struct type *inner =
			type_get(writer->state->pool, member->type);
		if (member->bit_size) {
			struct leaf leaf = {
				.size = (member->bit_offset + member->bit_size +
					 7) /
					8,
				.bit_offset = member->bit_offset,
				.bit_size = member->bit_size,
			};
			TRY(write_number(writer, inner,
					 address + member->offset, &leaf));
			continue;
		}
		TRY(write_object(writer, member->type, address + member->offset,
				 inner->size));
	}
	writer->depth--;
	return str_append(writer->out, "}");
}

static struct err *write_array(struct value_writer *writer,
			       const struct type *type, uint64_t address,
			       uint64_t size)
{
	const struct type *element =
		type_get(writer->state->pool, type->target);
	if (element->kind == TYPE_CHAR)
		return value_write_text(writer, address, element->size,
					walk_text(writer->view, address,
						  element->size,
						  MIN(size, TEXT_MAX)));
	uint64_t n = element->size ? size / element->size : 0;
	if (type->count != TYPE_NO_COUNT)
		n = MIN(n, type->count);
	if (writer->depth > 3)
		return str_append(writer->out, "{…}");
	writer->depth++;
	TRY(str_append(writer->out, "{"));
	for (uint64_t i = 0; i < n; i++) {
		if (i >= MEMBERS_MAX || writer->out->n > VALUE_MAX) {
			TRY(str_append(writer->out, ", …"));
			break;
		}
		TRY(str_append(writer->out, i ? ", " : ""));
		TRY(write_object(writer, type->target,
				 address + i * element->size, element->size));
	}
	writer->depth--;
	return str_append(writer->out, "}");
}

static struct err *write_bytes(struct value_writer *writer, uint64_t address,
			       uint64_t size)
{
	uint8_t bytes[16];
	size_t n = MIN(size, sizeof(bytes));
	if (!view_read(writer->view, address, bytes, n))
		return str_append(writer->out, "(not readable)");
	if (size <= 8) {
		uint64_t value = 0;
		memcpy(&value, bytes, n);
		struct target target;
		walk_target(writer->state, writer->view, TYPE_UNKNOWN, value,
			    &target);
		if (target.kind == TARGET_BLOCK || target.kind == TARGET_ROOT)
			return write_pointer(writer, TYPE_UNKNOWN, value);
		return str_appendf(
			writer->out,
			value <= INT32_MAX ? "%" PRIu64 : "0x%" PRIx64, value);
	}
	for (size_t i = 0; i < n; i++)
		TRY(str_appendf(writer->out, "%s%02x", i ? " " : "", bytes[i]));
	return size > n ? str_append(writer->out, " …") : NULL;
}

static struct err *write_object(struct value_writer *writer, type_id id,
				uint64_t address, uint64_t size)
{
	const struct type *type = type_get(writer->state->pool, id);
	bool sound = false;
	if (writer->depth > 6)
		return str_append(writer->out, "…");
	if ((type->kind == TYPE_STRUCT || type->kind == TYPE_UNION) &&
	    container_recipe(writer->state->containers, id))
		TRY(write_container(writer, id, address, &sound));
	if (sound)
		return NULL;
	switch (type->kind) {
	case TYPE_POINTER:
	case TYPE_REFERENCE: {
		uint64_t value = walk_word(writer->view, address);
		if (type_get(writer->state->pool, type->target)->kind ==
		    TYPE_CODE)
			return value ? write_symbol(writer, value)
				     : str_append(writer->out, "NULL");
		writer->depth++;
		struct err *err = write_pointer(writer, type->target, value);
		writer->depth--;
		return err;
	}
	case TYPE_FLOAT:
		return write_float(writer, address, type->size);
	case TYPE_COMPLEX:
		TRY(write_float(writer, address, type->size / 2));
		TRY(str_append(writer->out, " + "));
		TRY(write_float(writer, address + type->size / 2,
				type->size / 2));
		return str_append(writer->out, "i");
	case TYPE_STRUCT:
		return write_struct(writer, type, address);
	case TYPE_ARRAY:
		return write_array(writer, type, address, size);
	case TYPE_OPAQUE:
	case TYPE_UNION:
	case TYPE_VOID:
	case TYPE_CODE:
		return write_bytes(writer, address, size);
	default:
		return write_number(writer, type, address, NULL);
	}
}

static struct err *describe_finish_text(struct str *out, char **ret)
{
	*ret = str_take(out);
	return *ret ? NULL : err_nomem();
}

struct err *describe_object(struct state *state, const struct view *view,
			    type_id type, uint64_t address, uint64_t size,
			    char **ret)
{
	_cleanup_(str_freep) struct str out = STR_INIT;
	struct value_writer writer = { state, view, &out, 0 };
	TRY(write_object(&writer, type, address, size));
	return describe_finish_text(&out, ret);
}

struct err *describe_leaf(struct state *state, const struct view *view,
			  const struct leaf *leaf, uint64_t address, char **ret)
{
	_cleanup_(str_freep) struct str out = STR_INIT;
	struct value_writer writer = { state, view, &out, 0 };
	const struct type *type = type_get(state->pool, leaf->type);
	uint64_t value;
	switch (leaf->kind) {
	case LEAF_POINTER:
		value = walk_word(view, address);
		TRY(write_pointer(&writer, leaf->type, value));
		break;
	case LEAF_CODE:
		value = walk_word(view, address);
		TRY(value ? write_symbol(&writer, value)
			  : str_append(&out, "NULL"));
		break;
	case LEAF_TEXT:
		if (type->kind == TYPE_ARRAY)
			type = type_get(state->pool, type->target);
		TRY(value_write_text(&writer, address, type->size,
				     walk_text(view, address, type->size,
					       MIN(leaf->size, TEXT_MAX))));
		break;
	case LEAF_NUMBER:
		TRY(write_number(&writer, type, address, leaf));
		break;
	case LEAF_WORDS:
		TRY(write_bytes(&writer, address, leaf->size));
		break;
	default:
		TRY(write_object(&writer, leaf->type, address, leaf->size));
	}
	return describe_finish_text(&out, ret);
}

/* Texts up to it are shown from their beginning. */
#define TEXT_CONTEXT 24

struct err *describe_text(struct state *state, const struct view *view,
			  uint64_t address, uint64_t unit, uint64_t n,
			  uint64_t differs, char **ret)
{
	_cleanup_(str_freep) struct str out = STR_INIT;
	struct value_writer writer = { state, view, &out, 0 };
	uint64_t skip = 0;
	if (differs > TEXT_CONTEXT * unit)
		skip = (differs / unit - TEXT_CONTEXT / 2) * unit;
	if (skip)
		TRY(str_append(&out, "…"));
	skip = MIN(skip, n);
	TRY(value_write_text(&writer, address + skip, unit, n - skip));
	return describe_finish_text(&out, ret);
}

/* ---- numbers for values ---- */

struct hash {
	struct state *state;
	const struct view *view;
	uint64_t start;
	uint64_t value;
	unsigned depth;
};

static void hash_mix_bytes(struct hash *hash, const void *data, size_t n)
{
	hash->value = XXH3_64bits_withSeed(data, n, hash->value);
}

static void mix_bytes(struct hash *hash, uint64_t address, uint64_t n)
{
	uint8_t bytes[256];
	for (uint64_t at = 0; at < MIN(n, TEXT_MAX); at += sizeof(bytes)) {
		size_t part = MIN(n - at, sizeof(bytes));
		if (!view_read(hash->view, address + at, bytes, part))
			return;
		hash_mix_bytes(hash, bytes, part);
	}
}

static void mix_object(struct hash *hash, type_id type, uint64_t address)
{
	uint64_t inner = describe_hash(hash->state, hash->view, type, address,
				       hash->depth + 1);
	hash_mix_bytes(hash, &inner, sizeof(inner));
}

/* Words of unknown meaning, except those that are addresses. */
static void mix_words(struct hash *hash, uint64_t address, uint64_t n)
{
	for (uint64_t at = 0; at < n; at += 8) {
		uint64_t word = 0;
		struct target target;
		if (!view_read(hash->view, address + at, &word,
			       MIN(n - at, (uint64_t)8)))
			return;
		walk_target(hash->state, hash->view, TYPE_UNKNOWN, word,
			    &target);
		if (target.kind != TARGET_BLOCK)
			hash_mix_bytes(hash, &word, sizeof(word));
	}
}

static void mix_pointer(struct hash *hash, type_id id, uint64_t value)
{
	const struct type *type = type_get(hash->state->pool, id);
	struct target target;
	walk_target(hash->state, hash->view, id, value, &target);
	uint8_t kind = (uint8_t)target.kind;
	if (target.kind == TARGET_LOOSE)
		kind = TARGET_BLOCK;
	hash_mix_bytes(hash, &kind, sizeof(kind));
	if (target.kind == TARGET_ROOT || target.kind == TARGET_CODE ||
	    target.kind == TARGET_FOREIGN || target.kind == TARGET_DEAD)
		hash_mix_bytes(hash, &value, sizeof(value));
	if (target.kind != TARGET_BLOCK && target.kind != TARGET_LOOSE)
		return;
	uint64_t room = target.size - target.offset;
	if (type->kind == TYPE_CHAR ||
	    (!type->size && walk_is_text(hash->view, value, room)))
		mix_bytes(hash, value,
			  walk_text(hash->view, value,
				    MAX(type->size, (uint64_t)1), room));
	else if (!type->size)
		mix_words(hash, value, MIN(room, (uint64_t)256));
	else if (hash->depth < HASH_DEPTH && type->size &&
		 type->size <= target.size - target.offset)
		mix_object(hash, id, value);
}

static void mix_container(struct hash *hash, const struct leaf *leaf)
{
	struct container_contents contents = {};
	bool sound = false;
	enum container_shape shape = container_recipe_shape(
		container_recipe(hash->state->containers, leaf->type));
	if (hash->depth >= HASH_DEPTH || shape == CONTAINER_SKIP)
		return;
	struct err *err = container_expand(
		hash->state->containers, leaf->type, hash->view,
		hash->start + leaf->offset, ELEMENTS_MAX, &contents, &sound);
	if (err || !sound) {
		err_ignore(err);
		container_contents_free(&contents);
		return;
	}
	uint64_t n = contents.run && contents.n ? contents.run : contents.n;
	hash_mix_bytes(hash, &n, sizeof(n));
	hash_mix_bytes(hash, contents.words,
		       contents.n_words * sizeof(uint64_t));
	if (shape == CONTAINER_TEXT && contents.n) {
		mix_bytes(hash, contents.data[0].address,
			  n * MAX(contents.stride, (uint64_t)1));
	} else if (shape == CONTAINER_POINTER) {
		mix_pointer(hash, contents.n ? contents.data[0].type : 0,
			    contents.n ? contents.data[0].address : 0);
	} else {
		/* Without an order of their own they are added up, or none. */
		uint64_t sum = 0, max = HASH_ELEMENTS;
		if (contents.unordered && n > max)
			max = 0;
		for (uint64_t i = 0; i < MIN(n, max); i++) {
			const struct container_element *one =
				&contents.data[contents.run ? 0 : i];
			uint64_t more = contents.run ? i * contents.stride : 0;
			uint64_t inner = describe_hash(
				hash->state, hash->view, one->type,
				one->address + more, hash->depth + 1);
			if (contents.unordered)
				sum += inner;
			else
				hash_mix_bytes(hash, &inner, sizeof(inner));
		}
		hash_mix_bytes(hash, &sum, sizeof(sum));
	}
	container_contents_free(&contents);
}

static struct err *mix_leaf(void *data, const struct leaf *leaf)
{
	struct hash *hash = data;
	uint64_t address = hash->start + leaf->offset;
	const struct type *type = type_get(hash->state->pool, leaf->type);
	switch (leaf->kind) {
	case LEAF_NUMBER: {
		uint64_t value = 0;
		if (!leaf->bit_size) {
			mix_bytes(hash, address, leaf->size);
			break;
		}
		if (!view_read(hash->view, address, &value,
			       MIN(leaf->size, (uint64_t)8)))
			break;
		value = value >> leaf->bit_offset &
			(((uint64_t)1 << leaf->bit_size % 64) - 1);
		hash_mix_bytes(hash, &value, sizeof(value));
		break;
	}
	case LEAF_FLOAT:
		mix_bytes(hash, address, MIN(leaf->size, (uint64_t)10));
		break;
	case LEAF_CODE:
		mix_bytes(hash, address, 8);
		break;
	case LEAF_TEXT:
		if (type->kind == TYPE_ARRAY)
			type = type_get(hash->state->pool, type->target);
		mix_bytes(
			hash, address,
			walk_text(hash->view, address, type->size, leaf->size));
		break;
	case LEAF_POINTER:
		mix_pointer(hash, leaf->type, walk_word(hash->view, address));
		break;
	case LEAF_CONTAINER:
		mix_container(hash, leaf);
		break;
	case LEAF_WORDS:
		/* May be pointers: their values mean nothing. */
		break;
	}
	return NULL;
}

uint64_t describe_hash(struct state *state, const struct view *view,
		       type_id type, uint64_t address, unsigned depth)
{
	uint64_t size = type_get(state->pool, type)->size;
	struct hash hash = { state, view, address, type, depth };
	struct layout_object object = {
		.type = type, .size = size, .view = view, .address = address
	};
	err_ignore(layout_visit(&state->layout, &object, 0, MIN(size, TEXT_MAX),
				0, mix_leaf, &hash));
	return hash.value;
}

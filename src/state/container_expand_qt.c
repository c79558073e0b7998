/*
 * Qt's containers that are not of a common shape. Those of Qt 5 are a pointer to a
 * block that is shared until it is written; most of Qt 6 know the first element and
 * their size, as rows of recipes.c say. Layouts were read from 5.15 and 6.4.
 */
#include <ctype.h>
#include <string.h>

#include "base/macro.h"
#include "base/str.h"
#include "state/containers_internal.h"

#define SPAN_SIZE 128
#define SPAN_UNUSED 0xff
#define BUCKETS_MAX (1U << 31)
#define NAME_MAX_READ 128

/* Qt 5: QArrayData, of QString, QByteArray and QVector. */
struct qt_array {
	int32_t references;
	int32_t size;
	uint64_t capacity;
	int64_t offset;
};

/* Qt 5: QListData::Data, without its array of pointers. */
struct qt_list {
	int32_t references;
	int32_t capacity;
	int32_t begin, end;
};

/* Qt 5: QHashData. */
struct qt_hash_chained {
	uint64_t fake_next, buckets;
	int32_t references, size, node_size;
	int16_t user_bits, bits;
	int32_t n_buckets;
};

/* Qt 6: QHashPrivate::Data and its Span. */
struct qt_hash_spans {
	int32_t references;
	uint64_t size, n_buckets, seed, spans;
};
struct qt_span {
	uint8_t offsets[SPAN_SIZE];
	uint64_t entries;
	uint8_t allocated, next_free;
};

/* What nodes hold, and where. */
struct qt_pair {
	type_id key, value;
	uint64_t key_at, value_at;
	bool known;
};

struct err *expand_qt_array(struct expansion *x)
{
	struct qt_array array;
	uint64_t at, size = x->container->element_size;
	if (!container_number(x, PLACE_FIRST, &at) ||
	    !view_read(x->view, at, &array, sizeof(array)) || array.size < 0)
		return NULL;
	uint64_t first = at + (uint64_t)array.offset;
	uint64_t n = (uint64_t)array.size;
	if (!container_fits(x->view, first, n * size))
		return NULL;
	if (!n)
		TRY(container_structure(x, at));
	TRY(container_push_run(x, first, n, x->container->element, size));
	x->sound = true;
	return NULL;
}

/* QMap: a tree in a block that the object points to. */
struct err *expand_qt_map(struct expansion *x)
{
	uint64_t at;
	if (!container_number(x, PLACE_EXTRA, &at))
		return NULL;
	TRY(container_structure(x, at));
	return container_expand_tree(x);
}

/*
 * QList<T> of Qt 5 has small values in its array, but only of types that can be
 * moved as bytes: those of the language and Qt's own. Others it points to.
 */
static bool qt_list_points(const struct expansion *x)
{
	const struct type *element =
		type_get(x->containers->pool, x->container->element);
	if (element->size > 8)
		return true;
	if (element->kind != TYPE_STRUCT && element->kind != TYPE_UNION)
		return false;
	return element->name[0] != 'Q' ||
	       !isupper((unsigned char)element->name[1]);
}

struct err *expand_qt_list(struct expansion *x)
{
	struct qt_list list;
	uint64_t at, target;
	if (!container_number(x, PLACE_FIRST, &at) ||
	    !view_read(x->view, at, &list, sizeof(list)) || list.begin < 0 ||
	    list.end < list.begin || list.capacity < list.end ||
	    (uint64_t)list.end - (uint64_t)list.begin > x->max)
		return NULL;
	bool points = qt_list_points(x);
	if (points || list.begin == list.end)
		TRY(container_structure(x, at));
	for (int32_t i = list.begin; i < list.end; i++) {
		uint64_t slot = at + sizeof(list) + (uint64_t)i * 8;
		if (!container_u64(x->view, slot, &target) ||
		    (points && !container_fits(x->view, target,
					       x->container->element_size)))
			return NULL;
		TRY(container_push(x, points ? target : slot, 0));
	}
	x->sound = true;
	return NULL;
}

/*
 * A key and a value behind each other, from @at on. A set has keys only: its
 * recipe says that elements are their own keys.
 */
static struct err *qt_find_pair(const struct expansion *x, uint64_t at,
				struct qt_pair *ret)
{
	const struct container *container = x->container;
	struct containers *containers = x->containers;
	bool set = container->recipe->keys == KEYS_SELF;
	*ret = (struct qt_pair){};
	TRY(container_argument(containers, container->type, 0, &ret->key));
	if (!set)
		TRY(container_argument(containers, container->type, 1,
				       &ret->value));
	const struct type *key = type_get(containers->pool, ret->key);
	const struct type *value =
		type_get(containers->pool, set ? ret->key : ret->value);
	ret->known = key->size && value->size;
	ret->key_at = container_align(at, key->align);
	ret->value_at =
		set ? ret->key_at
		    : container_align(ret->key_at + key->size, value->align);
	return NULL;
}

static struct err *qt_push_pair(struct expansion *x, const struct qt_pair *pair,
				uint64_t key, uint64_t value)
{
	struct container_element element = {
		.address = value,
		.type = pair->value == TYPE_UNKNOWN ? pair->key : pair->value,
		.key = key,
		.key_type = pair->key,
	};
	return vec_push(x->out, element);
}

/* Chains of nodes; each ends with the address of the table itself. */
struct err *expand_qt_hash_chained(struct expansion *x)
{
	struct qt_hash_chained table;
	struct qt_pair pair;
	uint64_t at, node;
	/* A node begins with the next one's address and the hash. */
	TRY(qt_find_pair(x, 12, &pair));
	if (!container_number(x, PLACE_FIRST, &at) || !pair.known ||
	    !view_read(x->view, at, &table, sizeof(table)) || table.size < 0 ||
	    table.n_buckets < 0 || (uint64_t)table.size > x->max)
		return NULL;
	TRY(container_structure(x, at));
	TRY(container_structure(x, table.buckets));
	for (int32_t i = 0; i < table.n_buckets && table.size; i++) {
		if (!container_u64(x->view, table.buckets + (uint64_t)i * 8,
				   &node))
			return NULL;
		while (node != at) {
			if (x->out->n == (uint64_t)table.size)
				return NULL;
			TRY(qt_push_pair(x, &pair, node + pair.key_at,
					 node + pair.value_at));
			if (!container_u64(x->view, node, &node))
				return NULL;
		}
	}
	x->sound = x->out->n == (uint64_t)table.size;
	return NULL;
}

/* QMultiHash of Qt 6: the values of a key are a chain. */
static struct err *qt_push_chain(struct expansion *x,
				 const struct qt_pair *pair, uint64_t key,
				 uint64_t link, bool *ret_sound)
{
	const struct type *value = type_get(x->containers->pool, pair->value);
	uint64_t next_at = container_align(value->size, 8);
	*ret_sound = false;
	while (link) {
		if (x->out->n == x->max)
			return NULL;
		TRY(qt_push_pair(x, pair, key, link));
		if (!container_u64(x->view, link + next_at, &link))
			return NULL;
	}
	*ret_sound = true;
	return NULL;
}

/* Nodes that are keys, or keys and values behind each other. */
static struct err *qt_push_span(struct expansion *x, const struct qt_span *span,
				bool *ret_sound)
{
	uint64_t size = x->container->element_size;
	*ret_sound = false;
	for (unsigned i = 0; i < SPAN_SIZE; i++) {
		uint64_t node = span->entries + span->offsets[i] * size;
		if (span->offsets[i] == SPAN_UNUSED)
			continue;
		if (span->offsets[i] >= span->allocated ||
		    x->out->n == x->max || !container_fits(x->view, node, size))
			return NULL;
		TRY(container_push(x, node, node + x->container->key_offset));
	}
	*ret_sound = true;
	return NULL;
}

/* Nodes that are a key and the first of a chain of values. */
static struct err *qt_push_chains(struct expansion *x,
				  const struct qt_pair *pair,
				  const struct qt_span *span, bool *ret_sound)
{
	uint64_t chain_at = container_align(
		type_get(x->containers->pool, pair->key)->size, 8);
	TRY(container_structure(x, span->entries));
	*ret_sound = true;
	for (unsigned i = 0; i < SPAN_SIZE && *ret_sound; i++) {
		uint64_t link, node = span->entries +
				      span->offsets[i] * (chain_at + 8);
		if (span->offsets[i] == SPAN_UNUSED)
			continue;
		*ret_sound = span->offsets[i] < span->allocated &&
			     container_u64(x->view, node + chain_at, &link);
		if (*ret_sound)
			TRY(qt_push_chain(x, pair, node, link, ret_sound));
	}
	return NULL;
}

static struct err *qt_expand_spans(struct expansion *x,
				   const struct qt_pair *chains)
{
	struct qt_hash_spans table;
	struct qt_span span;
	uint64_t at, total;
	bool sound = true;
	if (!container_number(x, PLACE_FIRST, &at))
		return NULL;
	if (!at) {
		x->sound = true;
		return NULL;
	}
	if (!view_read(x->view, at, &table, sizeof(table)) ||
	    table.n_buckets > BUCKETS_MAX || table.size > x->max)
		return NULL;
	total = table.size;
	if (chains && !container_number(x, PLACE_COUNT, &total))
		return NULL;
	TRY(container_structure(x, at));
	TRY(container_structure(x, table.spans));
	uint64_t n = (table.n_buckets + SPAN_SIZE - 1) / SPAN_SIZE;
	for (uint64_t i = 0; i < n && sound; i++) {
		if (!view_read(x->view, table.spans + i * sizeof(span), &span,
			       sizeof(span)))
			return NULL;
		TRY(chains ? qt_push_chains(x, chains, &span, &sound)
			   : qt_push_span(x, &span, &sound));
	}
	x->sound = sound && x->out->n == total;
	return NULL;
}

struct err *expand_qt_hash_spans(struct expansion *x)
{
	return qt_expand_spans(x, NULL);
}

struct err *expand_qt_hash_multi(struct expansion *x)
{
	struct qt_pair pair;
	TRY(qt_find_pair(x, 0, &pair));
	return pair.known ? qt_expand_spans(x, &pair) : NULL;
}

/*
 * QtSharedPointer::ExternalRefCountData: the number of references, then that of
 * owners, which is -1 for a QObject that nobody owns.
 */
static bool qt_read_owners(const struct expansion *x, uint64_t control,
			   int32_t *ret)
{
	return view_read(x->view, control + 4, ret, sizeof(*ret));
}

struct err *expand_qt_shared(struct expansion *x)
{
	uint64_t target, control;
	int32_t owners;
	if (!container_number(x, PLACE_FIRST, &target) ||
	    !container_number(x, PLACE_EXTRA, &control) ||
	    (control && (!qt_read_owners(x, control, &owners) || owners < 1)))
		return NULL;
	return container_push_target(x, target);
}

struct err *expand_qt_weak(struct expansion *x)
{
	uint64_t target, control;
	int32_t owners = 0;
	if (!container_number(x, PLACE_FIRST, &target) ||
	    !container_number(x, PLACE_EXTRA, &control) ||
	    (control && !qt_read_owners(x, control, &owners)))
		return NULL;
	return container_push_target(x, owners ? target : 0);
}

/* A value at @at of the type of that name; in a block where it is unknown. */
static struct err *qt_push_value(struct expansion *x, uint64_t at,
				 const char *name, bool block)
{
	type_id type = TYPE_UNKNOWN;
	if (name && *name)
		TRY(container_named(x->containers, x->container->type, name,
				    &type));
	uint64_t size = type_get(x->containers->pool, type)->size;
	if (!size && block)
		TRY(container_void_pointer(x->containers, &type));
	else if (!size)
		TRY(container_opaque(x->containers, 8, &type));
	if (!container_fits(x->view, at, size ? size : 8))
		return NULL;
	TRY(container_push(x, at, 0));
	x->out->data[0].type = type;
	x->sound = true;
	return NULL;
}

/* Qt 5: the numbers of types that programs use most. */
struct err *expand_qt_variant_number(struct expansion *x)
{
	static const char *const names[] = {
		[1] = "bool",
		[2] = "int",
		[3] = "unsigned int",
		[4] = "long long int",
		[5] = "unsigned long long int",
		[6] = "double",
		[7] = "QChar",
		[8] = "QMap<QString, QVariant>",
		[9] = "QList<QVariant>",
		[10] = "QString",
		[11] = "QStringList",
		[12] = "QByteArray",
		[28] = "QHash<QString, QVariant>",
	};
	struct {
		uint64_t data;
		uint32_t type : 30, is_shared : 1, is_null : 1;
	} variant;
	if (!view_read(x->view, x->address, &variant, sizeof(variant)))
		return NULL;
	const char *name =
		variant.type < ARRAY_SIZE(names) ? names[variant.type] : NULL;
	container_word(x, variant.type);
	container_word(x, variant.is_null);
	x->sound = !variant.type;
	if (!variant.type)
		return NULL;
	/* A block that is shared begins with the value's address. */
	if (variant.is_shared && name &&
	    !container_u64(x->view, variant.data, &variant.data))
		return NULL;
	return qt_push_value(
		x, variant.is_shared && name ? variant.data : x->address, name,
		variant.is_shared);
}

/* Qt 6: a QMetaTypeInterface, which has the size of the type and its name. */
struct err *expand_qt_variant(struct expansion *x)
{
	uint64_t words[4], name_at;
	char name[NAME_MAX_READ] = "";
	int32_t offset;
	if (!view_read(x->view, x->address, words, sizeof(words)))
		return NULL;
	uint64_t interface = words[3] & ~UINT64_C(3);
	bool shared = words[3] & 1;
	container_word(x, interface);
	container_word(x, words[3] >> 1 & 1);
	x->sound = !interface;
	if (!interface)
		return NULL;
	if (!container_u64(x->view, interface + 24, &name_at))
		return NULL;
	for (size_t i = 0; i < sizeof(name) - 1; i++) {
		if (!view_read(x->view, name_at + i, &name[i], 1))
			return NULL;
		if (!name[i])
			break;
	}
	uint64_t at = x->address;
	if (shared) {
		if (!view_read(x->view, words[0] + 4, &offset, sizeof(offset)))
			return NULL;
		at = words[0] + (uint64_t)offset;
	}
	return qt_push_value(x, at, name, false);
}

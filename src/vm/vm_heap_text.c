/* Objects as short texts, and as numbers by which they are known again. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm/vm_heap_internal.h"

#define STRING_MAX 40
#define FIELDS_MAX 3
#define DIGEST_NODES 256
#define DIGEST_DEPTH 6

/* ---- names ---- */

void heap_class_shown(const struct heap_class *class, struct heap_string *ret)
{
	const char *name = class->name;
	const char *lambda = strstr(name, "$$Lambda");
	size_t n = lambda ? (size_t)(lambda - name) : strcspn(name, "/");
	for (size_t i = 0; i < n; i++) {
		/* Local and anonymous classes keep their numbers. */
		bool inner = name[i] == '$' && i && i + 1 < n &&
			     isalpha((unsigned char)name[i + 1]);
		heap_append(ret, inner ? "." : &name[i], 1);
	}
	if (lambda)
		heap_appendf(ret, "%s", " lambda");
}

/* Without the package and the classes around it. */
static void class_shown_short(const struct heap_class *class,
			      struct heap_string *ret)
{
	struct heap_string name = {};
	heap_class_shown(class, &name);
	const char *dot = name.data ? strrchr(name.data, '.') : NULL;
	heap_appendf(ret, "%s", dot ? dot + 1 : name.data ? name.data : "?");
	free(name.data);
}

/* ---- values ---- */

static void append_java_text(struct heap_string *ret, const char *text,
			     size_t n)
{
	size_t shown = 0, i = 0;
	heap_append(ret, "\"", 1);
	for (; i < n && shown < STRING_MAX; i++, shown++) {
		unsigned char c = (unsigned char)text[i];
		if (c == '"' || c == '\\')
			heap_appendf(ret, "\\%c", c);
		else if (c == '\n')
			heap_append(ret, "\\n", 2);
		else if (c == '\t')
			heap_append(ret, "\\t", 2);
		else if (c < ' ' || c == 0x7f)
			heap_appendf(ret, "\\u%04x", c);
		else
			heap_append(ret, text + i, 1);
		/* A character as a whole. */
		while (c >= 0xC0 && i + 1 < n &&
		       ((unsigned char)text[i + 1] & 0xC0) == 0x80)
			heap_append(ret, text + ++i, 1);
	}
	heap_append(ret, "\"", 1);
	if (i < n)
		heap_append(ret, "…", strlen("…"));
}

static void append_double(struct heap_string *ret, double value, int digits)
{
	if (isnan(value))
		heap_append(ret, "NaN", 3);
	else if (isinf(value))
		heap_appendf(ret, "%sInfinity", value < 0 ? "-" : "");
	else
		heap_appendf(ret, "%.*g", digits, value);
}

void heap_slot_value(char type, const uint8_t *slot, struct heap_string *ret)
{
	int64_t number = heap_integer(type, slot);
	float single;
	double wide;
	switch (type) {
	case 'Z':
		heap_appendf(ret, "%s", number ? "true" : "false");
		break;
	case 'C':
		if (number >= ' ' && number < 0x7f)
			heap_appendf(ret, "'%c'", (char)number);
		else
			heap_appendf(ret, "'\\u%04x'", (unsigned)number);
		break;
	case 'F':
		memcpy(&single, slot, sizeof(single));
		append_double(ret, (double)single, 9);
		break;
	case 'D':
		memcpy(&wide, slot, sizeof(wide));
		append_double(ret, wide, 17);
		break;
	default:
		heap_appendf(ret, "%lld", (long long)number);
	}
}

static void append_string(const struct heap_graph *graph, uint32_t node,
			  struct heap_string *ret)
{
	struct heap_string text = {};
	if (heap_string_text(graph, node, &text))
		append_java_text(ret, text.data, text.n);
	else
		heap_append(ret, "\"\"", 2);
	free(text.data);
}

static void append_enum(const struct heap_graph *graph, uint32_t node,
			struct heap_string *ret)
{
	struct heap_string text = {};
	heap_string_text(graph, heap_ref(graph, node, "name"), &text);
	heap_appendf(ret, "%s", text.data ? text.data : "?");
	free(text.data);
}

static void append_array(const struct heap_graph *graph, uint32_t node,
			 const struct heap_class *class,
			 struct heap_string *ret)
{
	uint32_t n = graph->nodes.data[node].length;
	unsigned size = heap_type_size(class->element);
	if (class->element == 'L') {
		heap_appendf(ret, "%u element%s", n, n == 1 ? "" : "s");
		return;
	}
	heap_append(ret, "{", 1);
	for (uint32_t i = 0; i < n && i < 8; i++) {
		heap_appendf(ret, "%s", i ? ", " : "");
		heap_slot_value(class->element,
				heap_bytes(graph, node) +
					heap_array_base(class->element) +
					(size_t)i * size,
				ret);
	}
	heap_appendf(ret, "%s}", n > 8 ? ", …" : "");
}

static bool class_is_value(const struct heap_class *class)
{
	return class->kind == HEAP_STRING || class->kind == HEAP_BOX ||
	       class->kind == HEAP_ENUM;
}

/* Its class, and the first few of its own values. */
static void append_object(const struct heap_graph *graph, uint32_t node,
			  const struct heap_class *class,
			  struct heap_string *ret)
{
	class_shown_short(class, ret);
	size_t shown = 0;
	for (size_t i = 0; i < class->n_fields && shown < FIELDS_MAX; i++) {
		const struct heap_field *field = &class->fields[i];
		const uint8_t *slot = heap_bytes(graph, node) + field->offset;
		uint32_t to = field->type == 'L' ? heap_follow(graph, slot) : 0;
		const struct heap_class *its =
			to ? heap_class_at(graph, to) : NULL;
		if (!field->compared ||
		    (field->type == 'L' && (!its || !class_is_value(its))))
			continue;
		heap_appendf(ret, "%s%s=", shown++ ? ", " : "{", field->name);
		if (to)
			heap_value(graph, to, ret);
		else
			heap_slot_value(field->type, slot, ret);
	}
	if (shown)
		heap_append(ret, "}", 1);
}

/* "de_DE", as Locale.toString() has it. */
static bool append_locale(const struct heap_graph *graph, uint32_t node,
			  struct heap_string *ret)
{
	uint32_t base = heap_ref(graph, node, "baseLocale");
	static const char *const parts[] = { "language", "region", "variant" };
	for (size_t i = 0; base && i < sizeof(parts) / sizeof(*parts); i++) {
		struct heap_string part = {};
		heap_string_text(graph, heap_ref(graph, base, parts[i]), &part);
		if (part.n)
			heap_appendf(ret, "%s%s", i ? "_" : "", part.data);
		free(part.data);
	}
	return base != 0;
}

static void append_container(const struct heap_graph *graph, uint32_t node,
			     struct heap_string *ret)
{
	struct heap_items items = {};
	heap_items_of(graph, node, &items);
	heap_appendf(ret, "%zu element%s", items.n, items.n == 1 ? "" : "s");
	free(items.data);
}

void heap_value(const struct heap_graph *graph, uint32_t node,
		struct heap_string *ret)
{
	const struct heap_class *class =
		node ? heap_class_at(graph, node) : NULL;
	if (!node) {
		heap_append(ret, "null", 4);
		return;
	}
	if (!class) {
		heap_append(ret, "an object", strlen("an object"));
		return;
	}
	const struct heap_field *value;
	switch (class->kind) {
	case HEAP_STRING:
	case HEAP_BUILDER:
		append_string(graph, node, ret);
		return;
	case HEAP_BOX:
		value = heap_field_named(class, "value");
		if (value)
			heap_slot_value(value->type,
					heap_bytes(graph, node) + value->offset,
					ret);
		return;
	case HEAP_ENUM:
		append_enum(graph, node, ret);
		return;
	case HEAP_MIRROR: {
		uint32_t id = graph->nodes.data[node].length;
		if (id && id < heap.classes.n)
			class_shown_short(heap.classes.data[id], ret);
		heap_append(ret, ".class", 6);
		return;
	}
	case HEAP_ARRAY:
		append_array(graph, node, class, ret);
		return;
	case HEAP_SKIP:
		class_shown_short(class, ret);
		return;
	case HEAP_PLAIN:
		break;
	}
	if (class->recipe && class->recipe->shape != SHAPE_FIELDS &&
	    class->recipe->shape != SHAPE_BITS &&
	    class->recipe->shape != SHAPE_SUM)
		append_container(graph, node, ret);
	else if (!append_locale(graph, node, ret))
		append_object(graph, node, class, ret);
}

/* ---- numbers ---- */

uint64_t heap_hash(uint64_t hash, const void *data, size_t n)
{
	const uint8_t *bytes = data;
	for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t)) {
		uint64_t word;
		memcpy(&word, bytes, sizeof(word));
		bytes += sizeof(word);
		hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
		hash ^= hash >> 29;
	}
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * 0x100000001B3U;
	hash ^= hash >> 32;
	return hash * 0x9E3779B97F4A7C15U;
}

struct digest {
	const struct heap_graph *graph;
	size_t left; /* nodes */
};

static uint64_t digest_node(struct digest *digest, uint32_t node,
			    unsigned depth);

static uint64_t digest_items(struct digest *digest, uint32_t node,
			     unsigned depth)
{
	struct heap_items items = {};
	heap_items_of(digest->graph, node, &items);
	uint64_t hash = items.n;
	for (size_t i = 0; i < items.n; i++) {
		uint64_t both[2] = {
			digest_node(digest, items.data[i].key, depth + 1),
			digest_node(digest, items.data[i].value, depth + 1),
		};
		uint64_t one = heap_hash(1, both, sizeof(both));
		hash = items.unordered ? hash + one
				       : heap_hash(hash, &one, sizeof(one));
	}
	free(items.data);
	return hash;
}

static uint64_t digest_fields(struct digest *digest, uint32_t node,
			      const struct heap_class *class, unsigned depth)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < class->n_fields; i++) {
		const struct heap_field *field = &class->fields[i];
		const uint8_t *slot =
			heap_bytes(digest->graph, node) + field->offset;
		if (!field->compared)
			continue;
		if (field->type != 'L') {
			hash = heap_hash(hash, slot,
					 heap_type_size(field->type));
			continue;
		}
		uint64_t its = digest_node(
			digest, heap_follow(digest->graph, slot), depth + 1);
		hash = heap_hash(hash, &its, sizeof(its));
	}
	return hash;
}

static uint64_t digest_array(struct digest *digest, uint32_t node,
			     const struct heap_class *class, unsigned depth)
{
	uint32_t n = digest->graph->nodes.data[node].length;
	const uint8_t *data = heap_bytes(digest->graph, node) +
			      heap_array_base(class->element);
	if (class->element != 'L')
		return heap_hash(n, data,
				 (size_t)n * heap_type_size(class->element));
	uint64_t hash = n;
	for (uint32_t i = 0; i < n && digest->left; i++) {
		uint64_t its = digest_node(digest,
					   heap_element(digest->graph, node, i),
					   depth + 1);
		hash = heap_hash(hash, &its, sizeof(its));
	}
	return hash;
}

static uint64_t digest_node(struct digest *digest, uint32_t node,
			    unsigned depth)
{
	const struct heap_class *class =
		node ? heap_class_at(digest->graph, node) : NULL;
	if (!class)
		return node ? 2 : 1;
	uint64_t hash = class->name_hash;
	if (class_is_value(class) || class->kind == HEAP_BUILDER ||
	    class->kind == HEAP_MIRROR || class->kind == HEAP_SKIP) {
		struct heap_string text = {};
		if (class->kind == HEAP_STRING || class->kind == HEAP_BUILDER)
			heap_string_text(digest->graph, node, &text);
		else
			heap_value(digest->graph, node, &text);
		hash = heap_hash(hash, text.data, text.n);
		free(text.data);
		return hash;
	}
	if (!digest->left || depth > DIGEST_DEPTH)
		return hash;
	digest->left--;
	uint64_t inner = class->kind == HEAP_ARRAY
				 ? digest_array(digest, node, class, depth)
				 : digest_fields(digest, node, class, depth) +
					   digest_items(digest, node, depth);
	return heap_hash(hash, &inner, sizeof(inner));
}

uint64_t heap_digest(const struct heap_graph *graph, uint32_t node)
{
	struct digest digest = { graph, DIGEST_NODES };
	return digest_node(&digest, node, 0);
}

/* Graphs: nodes, their bytes, and what is in them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vm/vm_heap_internal.h"

struct heap heap;

/* ---- memory ---- */

/* The VM could not go on either: it is ended as if the controller were gone. */
static void heap_no_memory(void)
{
	static const char text[] = "polygraph: out of memory in the VM\n";
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(124);
	_exit(125);
}

void *heap_room(void *data, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return data;
	size_t more = *cap ? *cap * 2 : 16;
	if (more <= n)
		more = n + 1;
	void *grown = reallocarray(data, more, size);
	if (!grown)
		heap_no_memory();
	*cap = more;
	return grown;
}

void *heap_zeroed(size_t n, size_t size)
{
	void *data = calloc(n ? n : 1, size);
	if (!data)
		heap_no_memory();
	return data;
}

/* So little is cleared faster than new memory of the kernel is first written. */
#define SPARSE_MIN ((size_t)256 << 10)

void *heap_sparse(size_t size)
{
	if (size <= SPARSE_MIN)
		return heap_zeroed(size, 1);
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (data == MAP_FAILED)
		heap_no_memory();
	return data;
}

void heap_sparse_free(void *data, size_t size)
{
	if (size <= SPARSE_MIN)
		free(data);
	else if (data)
		munmap(data, size);
}

int heap_compare_numbers(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

char *heap_text(const char *text)
{
	char *copy = strdup(text);
	if (!copy)
		heap_no_memory();
	return copy;
}

void heap_append(struct heap_string *string, const char *text, size_t n)
{
	if (string->n + n + 1 > string->cap)
		string->data = heap_room(string->data, string->n + n + 1,
					 &string->cap, 1);
	memcpy(string->data + string->n, text, n);
	string->n += n;
	string->data[string->n] = '\0';
}

void heap_appendf(struct heap_string *string, const char *fmt, ...)
{
	char small[256];
	va_list list;
	va_start(list, fmt);
	int n = vsnprintf(small, sizeof(small), fmt, list);
	va_end(list);
	if (n < 0)
		return;
	if ((size_t)n < sizeof(small)) {
		heap_append(string, small, (size_t)n);
		return;
	}
	char *large = heap_zeroed((size_t)n + 1, 1);
	va_start(list, fmt);
	vsnprintf(large, (size_t)n + 1, fmt, list);
	va_end(list);
	heap_append(string, large, (size_t)n);
	free(large);
}

/* ---- nodes by address ---- */

/*
 * Objects lie at multiples of eight, tags are any numbers: what is left of eight
 * selects one of eight sets of chunks.
 */
#define ADDRESS_BITS 47
#define CHUNK_BITS 20
#define CHUNK_SIZE (sizeof(uint32_t) << CHUNK_BITS)
#define CHUNKS ((size_t)8 << (ADDRESS_BITS - 3 - CHUNK_BITS))

static size_t address_chunk(uint64_t address)
{
	return (address >> (CHUNK_BITS + 3)) * 8 + address % 8;
}

static size_t address_place(uint64_t address)
{
	return address >> 3 & ((1U << CHUNK_BITS) - 1);
}

uint32_t heap_graph_find(const struct heap_graph *graph, uint64_t address)
{
	size_t chunk = address_chunk(address);
	if (!address || !graph->chunks || chunk >= CHUNKS ||
	    !graph->chunks[chunk])
		return 0;
	return graph->chunks[chunk][address_place(address)];
}

static void heap_graph_index(struct heap_graph *graph, uint64_t address,
			     uint32_t node)
{
	size_t chunk = address_chunk(address);
	if (chunk >= CHUNKS)
		return; /* not of this process: it is met anew each time */
	if (!graph->chunks)
		graph->chunks = heap_sparse(CHUNKS * sizeof(*graph->chunks));
	if (!graph->chunks[chunk]) {
		graph->chunks[chunk] = heap_sparse(CHUNK_SIZE);
		HEAP_PUSH(&graph->used, chunk);
	}
	graph->chunks[chunk][address_place(address)] = node;
}

uint32_t heap_graph_add(struct heap_graph *graph, uint64_t address)
{
	const struct heap_node none = {};
	if (!graph->nodes.n)
		HEAP_PUSH(&graph->nodes, none);
	const struct heap_node node = { .address = address };
	heap_graph_index(graph, address, (uint32_t)graph->nodes.n);
	HEAP_PUSH(&graph->nodes, node);
	return (uint32_t)graph->nodes.n - 1;
}

void heap_graph_free(struct heap_graph *graph)
{
	for (size_t i = 0; i < graph->used.n; i++)
		heap_sparse_free(graph->chunks[graph->used.data[i]],
				 CHUNK_SIZE);
	heap_sparse_free(graph->chunks, CHUNKS * sizeof(*graph->chunks));
	free(graph->used.data);
	free(graph->nodes.data);
	free(graph->bytes.data);
	free(graph->locals.data);
	free(graph->roots);
	*graph = (struct heap_graph){};
}

/* ---- bytes ---- */

uint8_t *heap_graph_bytes(struct heap_graph *graph, uint32_t node, size_t n)
{
	size_t at = graph->bytes.n, end = at + ((n + 7) & ~(size_t)7);
	if (end > graph->bytes.cap)
		graph->bytes.data =
			heap_room(graph->bytes.data, end, &graph->bytes.cap, 1);
	graph->bytes.n = end;
	graph->nodes.data[node].bytes = (uint32_t)(at / 8);
	return graph->bytes.data + at;
}

static const uint8_t *heap_past_bytes(const struct heap_past *past,
				      uint32_t node)
{
	size_t low = 0, high = past->nodes.n;
	while (low + 1 < high) {
		size_t middle = (low + high) / 2;
		if (past->nodes.data[middle].node <= node)
			low = middle;
		else
			high = middle;
	}
	return past->bytes.data + past->nodes.data[low].bytes;
}

const uint8_t *heap_bytes(const struct heap_graph *graph, uint32_t node)
{
	const struct heap_node *it = &graph->nodes.data[node];
	if (graph->past && it->changed)
		return heap_past_bytes(graph->past, node);
	return graph->bytes.data + (size_t)it->bytes * 8;
}

const struct heap_class *heap_class_at(const struct heap_graph *graph,
				       uint32_t node)
{
	uint32_t id = graph->nodes.data[node].class;
	return id < heap.classes.n ? heap.classes.data[id] : NULL;
}

uint64_t heap_decode(const uint8_t *slot)
{
	if (heap.layout.reference == sizeof(uint32_t)) {
		uint32_t narrow;
		memcpy(&narrow, slot, sizeof(narrow));
		return narrow ? heap.layout.base +
					((uint64_t)narrow << heap.layout.shift)
			      : 0;
	}
	uint64_t wide;
	memcpy(&wide, slot, sizeof(wide));
	return wide;
}

uint32_t heap_follow(const struct heap_graph *graph, const uint8_t *slot)
{
	return heap_graph_find(graph, heap_decode(slot));
}

unsigned heap_type_size(char type)
{
	switch (type) {
	case 'Z':
	case 'B':
		return 1;
	case 'C':
	case 'S':
		return 2;
	case 'I':
	case 'F':
		return 4;
	case 'J':
	case 'D':
		return 8;
	default:
		return heap.layout.reference;
	}
}

uint32_t heap_array_base(char element)
{
	return element == 'L' ? heap.layout.array_references
			      : heap.layout.array;
}

int64_t heap_integer(char type, const uint8_t *slot)
{
	uint64_t value = 0;
	unsigned size = heap_type_size(type);
	memcpy(&value, slot, size);
	if (type == 'B')
		return (int8_t)value;
	if (type == 'S')
		return (int16_t)value;
	if (type == 'I')
		return (int32_t)value;
	return (int64_t)value;
}

/* ---- fields by name ---- */

const struct heap_field *heap_field_named(const struct heap_class *class,
					  const char *name)
{
	/* Of two with one name the one of the class itself is meant. */
	for (size_t i = class ? class->n_fields : 0; i-- > 0;) {
		if (!strcmp(class->fields[i].name, name))
			return &class->fields[i];
	}
	return NULL;
}

uint32_t heap_ref(const struct heap_graph *graph, uint32_t node,
		  const char *name)
{
	const struct heap_field *field =
		node ? heap_field_named(heap_class_at(graph, node), name)
		     : NULL;
	return field && field->type == 'L'
		       ? heap_follow(graph,
				     heap_bytes(graph, node) + field->offset)
		       : 0;
}

int64_t heap_number(const struct heap_graph *graph, uint32_t node,
		    const char *name)
{
	const struct heap_field *field =
		node ? heap_field_named(heap_class_at(graph, node), name)
		     : NULL;
	return field && field->type != 'L'
		       ? heap_integer(field->type,
				      heap_bytes(graph, node) + field->offset)
		       : 0;
}

uint32_t heap_element(const struct heap_graph *graph, uint32_t array,
		      uint32_t i)
{
	const struct heap_class *class = heap_class_at(graph, array);
	if (!array || !class || class->element != 'L' ||
	    i >= graph->nodes.data[array].length)
		return 0;
	return heap_follow(graph, heap_bytes(graph, array) +
					  heap_array_base('L') +
					  (size_t)i * heap.layout.reference);
}

/* ---- text ---- */

static void heap_append_character(struct heap_string *ret, uint32_t code)
{
	char utf[4];
	size_t n = 0;
	if (code < 0x80) {
		utf[n++] = (char)code;
	} else if (code < 0x800) {
		utf[n++] = (char)(0xC0 | code >> 6);
		utf[n++] = (char)(0x80 | (code & 0x3F));
	} else if (code < 0x10000) {
		utf[n++] = (char)(0xE0 | code >> 12);
		utf[n++] = (char)(0x80 | (code >> 6 & 0x3F));
		utf[n++] = (char)(0x80 | (code & 0x3F));
	} else {
		utf[n++] = (char)(0xF0 | code >> 18);
		utf[n++] = (char)(0x80 | (code >> 12 & 0x3F));
		utf[n++] = (char)(0x80 | (code >> 6 & 0x3F));
		utf[n++] = (char)(0x80 | (code & 0x3F));
	}
	heap_append(ret, utf, n);
}

static void heap_append_utf16(struct heap_string *ret, const uint8_t *data,
			      size_t n)
{
	for (size_t i = 0; i + 1 < 2 * n; i += 2) {
		uint32_t code = data[i] | (uint32_t)data[i + 1] << 8;
		if (code >= 0xD800 && code < 0xDC00 && i + 3 < 2 * n) {
			uint32_t low = data[i + 2] | (uint32_t)data[i + 3] << 8;
			if (low >= 0xDC00 && low < 0xE000) {
				code = 0x10000 + ((code - 0xD800) << 10) +
				       (low - 0xDC00);
				i += 2;
			}
		}
		/* Half of a pair is no character. */
		heap_append_character(
			ret, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
	}
}

bool heap_string_text(const struct heap_graph *graph, uint32_t node,
		      struct heap_string *ret)
{
	const struct heap_class *class = heap_class_at(graph, node);
	uint32_t value = heap_ref(graph, node, "value");
	const struct heap_class *array =
		value ? heap_class_at(graph, value) : NULL;
	heap_append(ret, "", 0);
	if (!class || !array || array->kind != HEAP_ARRAY)
		return false;
	const uint8_t *data =
		heap_bytes(graph, value) + heap_array_base(array->element);
	size_t n = graph->nodes.data[value].length;
	bool wide =
		array->element == 'C' || heap_number(graph, node, "coder") != 0;
	if (array->element == 'B' && wide)
		n /= 2;
	if (class->kind == HEAP_BUILDER) {
		int64_t count = heap_number(graph, node, "count");
		if (count < 0 || (uint64_t)count > n)
			return false;
		n = (size_t)count;
	}
	if (wide) {
		heap_append_utf16(ret, data, n);
		return true;
	}
	for (size_t i = 0; i < n; i++)
		heap_append_character(ret, data[i]);
	return true;
}

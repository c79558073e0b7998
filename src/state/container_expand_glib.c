/*
 * GLib's containers whose layout is not in its headers.
 */
#include "base/macro.h"
#include "state/containers_internal.h"

/* The element's size is in the part of a GArray that is GLib's own. */
#define GARRAY_ELEMENT_SIZE 16
#define GARRAY_ELEMENT_SIZE_MAX (1U << 20)

/* What is known of an element is its size: words, one of four bytes a number. */
struct err *expand_garray(struct expansion *x)
{
	uint64_t data, n;
	uint32_t size;
	if (!container_number(x, PLACE_FIRST, &data) ||
	    !container_number(x, PLACE_COUNT, &n))
		return NULL;
	if (n) {
		if (!view_read(x->view, x->address + GARRAY_ELEMENT_SIZE, &size,
			       sizeof(size)) ||
		    !size || size > GARRAY_ELEMENT_SIZE_MAX ||
		    !container_fits(x->view, data, n * size))
			return NULL;
		type_id type;
		if (size == 1 || size == 4)
			TRY(container_named(x->containers, TYPE_UNKNOWN,
					    size == 1 ? "unsigned char"
						      : "unsigned int",
					    &type));
		else
			TRY(container_opaque(x->containers, size, &type));
		TRY(container_push_run(x, data, n, type, size));
	}
	x->sound = true;
	return NULL;
}

/*
 * GHashTable since 2.32. The flags are there since 2.60 and were padding
 * before; from 2.62 to 2.86 the size has 64 bits. Entries whose hash is 0 are
 * free, 1 removed. Keys and values are arrays of pointers or, where no entry
 * needs more (since 2.60), of 32 bits; they are one array where each value is
 * its key (sets).
 */
struct ghash {
	uint32_t size, mod, mask, nnodes, noccupied;
	uint32_t flags;
	uint64_t keys, hashes, values;
};
struct ghash_wide {
	uint64_t size;
	uint32_t mod, mask, nnodes, noccupied;
	uint32_t flags, padding;
	uint64_t keys, hashes, values;
};
enum { GHASH_BIG_KEYS = 1 << 0, GHASH_BIG_VALUES = 1 << 1 };
#define GHASH_SIZE_MAX (1U << 28)
#define GHASH_CHUNK 256

/* How large an entry is: the block knows, else the flag. 0: neither fits. */
static uint32_t ghash_entry_size(const struct expansion *x, uint64_t array,
				 uint32_t n, bool big)
{
	struct view_block block;
	if (x->view->block && x->view->block(x->view->data, array, &block) &&
	    block.start == array) {
		if (block.size >= n * 8ULL)
			return 8;
		return block.size >= n * 4ULL ? 4 : 0;
	}
	return big ? 8 : 4;
}

static struct err *entry_type(struct expansion *x, uint32_t size, type_id *ret)
{
	if (size == 8)
		return container_void_pointer(x->containers, ret);
	return container_named(x->containers, TYPE_UNKNOWN, "unsigned int",
			       ret);
}

/* The divisor, a prime, is never 0, which distinguishes the two. */
static bool ghash_read_table(const struct expansion *x, struct ghash *ret)
{
	struct ghash_wide wide;
	if (!view_read(x->view, x->address, ret, sizeof(*ret)))
		return false;
	if (ret->mod || !ret->size)
		return true;
	if (!view_read(x->view, x->address, &wide, sizeof(wide)))
		return false;
	*ret = (struct ghash){ .size = (uint32_t)wide.size,
			       .mod = wide.mod,
			       .mask = wide.mask,
			       .nnodes = wide.nnodes,
			       .noccupied = wide.noccupied,
			       .flags = wide.flags,
			       .keys = wide.keys,
			       .hashes = wide.hashes,
			       .values = wide.values };
	return true;
}

struct err *expand_ghash(struct expansion *x)
{
	struct ghash table;
	if (!ghash_read_table(x, &table) || table.size > GHASH_SIZE_MAX ||
	    (table.size & (table.size - 1)) || table.nnodes > table.noccupied ||
	    table.noccupied > table.size || table.nnodes > x->max)
		return NULL;
	if (!table.nnodes) {
		x->sound = true;
		return NULL;
	}
	uint32_t key_size = ghash_entry_size(x, table.keys, table.size,
					     table.flags & GHASH_BIG_KEYS);
	uint32_t value_size = ghash_entry_size(x, table.values, table.size,
					       table.flags & GHASH_BIG_VALUES);
	if (table.mask != table.size - 1 || !key_size || !value_size ||
	    !container_fits(x->view, table.keys,
			    (uint64_t)table.size * key_size) ||
	    !container_fits(x->view, table.values,
			    (uint64_t)table.size * value_size))
		return NULL;
	struct container_element element = {};
	TRY(entry_type(x, key_size, &element.key_type));
	TRY(entry_type(x, value_size, &element.type));
	uint32_t hashes[GHASH_CHUNK];
	for (uint32_t i = 0; i < table.size; i++) {
		if (i % GHASH_CHUNK == 0 &&
		    !view_read(x->view, table.hashes + i * 4ULL, hashes,
			       MIN(table.size - i, (uint32_t)GHASH_CHUNK) * 4))
			return NULL;
		if (hashes[i % GHASH_CHUNK] < 2)
			continue;
		if (x->out->n == table.nnodes)
			return NULL;
		element.key = table.keys + (uint64_t)i * key_size;
		element.address = table.values + (uint64_t)i * value_size;
		TRY(vec_push(x->out, element));
	}
	x->sound = x->out->n == table.nnodes;
	return NULL;
}

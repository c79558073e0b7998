/*
 * Containers of the C++ library that need more than a shape.
 */
#include <string.h>

#include "base/macro.h"
#include "state/containers_internal.h"

/*
 * Strings before C++11's ABI: one pointer to the characters; in front of them
 * are the length, the capacity and the number of owners less one.
 */
struct err *expand_string_cow(struct expansion *x)
{
	uint64_t text, size = x->container->element_size;
	struct {
		uint64_t length, capacity;
		int32_t owners;
		uint32_t padding;
	} rep;
	if (!container_number(x, PLACE_FIRST, &text))
		return NULL;
	if (text) {
		if (!view_read(x->view, text - sizeof(rep), &rep,
			       sizeof(rep)) ||
		    rep.length > rep.capacity ||
		    rep.length > CONTAINER_BYTES_MAX / size ||
		    !container_fits(x->view, text, rep.length * size))
			return NULL;
		TRY(container_push_run(x, text, rep.length,
				       x->container->element, size));
	}
	x->sound = true;
	return NULL;
}

/*
 * libc++ keeps short strings in place of {capacity, size, pointer}: bit 0 of the
 * first byte says long, and a short one's length is in the other seven. With
 * the alternate layout ({pointer, size, capacity}) it is the last byte and its
 * highest bit. The capacity of long ones counts the terminator.
 */
struct err *expand_string_libcxx(struct expansion *x)
{
	const uint64_t size = x->container->element_size;
	bool alternate = !x->container->places[PLACE_FIRST].offsets[0];
	uint8_t rep[24];
	if (!view_read(x->view, x->address, rep, sizeof(rep)))
		return NULL;
	uint64_t words[3];
	memcpy(words, rep, sizeof(words));
	bool is_long = alternate ? rep[23] & 0x80 : rep[0] & 1;
	uint64_t text, length;
	if (is_long) {
		uint64_t capacity =
			alternate ? words[2] << 1 >> 1 : words[0] & ~1ULL;
		text = alternate ? words[0] : words[2];
		length = words[1];
		if (length >= capacity || length > CONTAINER_BYTES_MAX / size ||
		    !container_fits(x->view, text, (length + 1) * size))
			return NULL;
	} else {
		text = x->address + (alternate ? 0 : size);
		length = alternate ? rep[23] : rep[0] >> 1;
		/* One character for the length, one for the terminator. */
		if ((length + 2) * size > sizeof(rep))
			return NULL;
	}
	TRY(container_push_run(x, text, length, x->container->element, size));
	x->sound = true;
	return NULL;
}

/*
 * Bits: the whole bytes of them as a run, and two words: how many bits there
 * are, and those of the last byte that is not whole. Where no byte is whole,
 * their block is structure: what is written there is still looked at.
 */
static struct err *push_bits(struct expansion *x, uint64_t first, uint64_t bits)
{
	uint64_t bytes = bits / 8;
	uint8_t tail = 0;
	if (bits > CONTAINER_BYTES_MAX ||
	    !container_fits(x->view, first, bytes) ||
	    (bits % 8 && !view_read(x->view, first + bytes, &tail, 1)))
		return NULL;
	TRY(container_push_run(x, first, bytes, x->container->element, 1));
	if (bits && !bytes)
		TRY(container_structure(x, first));
	container_word(x, bits);
	container_word(x, tail & ((1U << bits % 8) - 1));
	x->sound = true;
	return NULL;
}

struct err *expand_bits_libstdcxx(struct expansion *x)
{
	uint64_t first, last, offset;
	if (!container_number(x, PLACE_FIRST, &first) ||
	    !container_number(x, PLACE_LAST, &last) ||
	    !container_number(x, PLACE_EXTRA, &offset))
		return NULL;
	offset &= UINT32_MAX; /* known by its place only: 8 bytes were read */
	if (last < first || (last - first) % 8 || offset >= 64 ||
	    last - first > CONTAINER_BYTES_MAX / 8)
		return NULL;
	return push_bits(x, first, (last - first) * 8 + offset);
}

struct err *expand_bits_libcxx(struct expansion *x)
{
	uint64_t first, bits;
	if (!container_number(x, PLACE_FIRST, &first) ||
	    !container_number(x, PLACE_COUNT, &bits))
		return NULL;
	return push_bits(x, first, bits);
}

/* libstdc++: two iterators, and a map of buffers of 512 bytes or one element. */
struct err *expand_deque_libstdcxx(struct expansion *x)
{
	struct {
		uint64_t cur, first, last, node;
	} start, finish;
	const struct container *container = x->container;
	const uint64_t size = container->element_size;
	uint64_t at, end;
	if (!place_address(x->view, x->address, &container->places[PLACE_FIRST],
			   &at) ||
	    !view_read(x->view, at, &start, sizeof(start)) ||
	    !place_address(x->view, x->address, &container->places[PLACE_LAST],
			   &at) ||
	    !view_read(x->view, at, &finish, sizeof(finish)))
		return NULL;
	if (start.cur == finish.cur && start.node == finish.node) {
		x->sound = true;
		return NULL;
	}
	const uint64_t buffer = size < 512 ? 512 / size * size : size;
	if (start.last - start.first != buffer || start.cur < start.first ||
	    start.cur >= start.last || (start.cur - start.first) % size ||
	    finish.last - finish.first != buffer || finish.cur < finish.first ||
	    finish.cur >= finish.last || (finish.cur - finish.first) % size ||
	    finish.node < start.node || (finish.node - start.node) % 8)
		return NULL;
	uint64_t cur = start.cur;
	for (uint64_t node = start.node;; node += 8) {
		end = node == finish.node ? finish.cur : start.last;
		if (node != start.node) {
			uint64_t first;
			if (!container_u64(x->view, node, &first) || !first ||
			    (node == finish.node && first != finish.first))
				return NULL;
			cur = first;
			if (node != finish.node)
				end = first + buffer;
		}
		if (end < cur || !container_fits(x->view, cur, end - cur))
			return NULL;
		for (; cur < end; cur += size) {
			if (x->out->n == x->max)
				return NULL;
			TRY(container_push(x, cur, 0));
		}
		if (node == finish.node)
			break;
	}
	x->sound = true;
	return NULL;
}

/* libc++: a map of buffers of 4096 bytes or 16 elements, start and size. */
struct err *expand_deque_libcxx(struct expansion *x)
{
	const uint64_t size = x->container->element_size;
	const uint64_t in_buffer = size < 256 ? 4096 / size : 16;
	uint64_t map, map_end, start, count, buffer = 0;
	if (!container_number(x, PLACE_FIRST, &map) ||
	    !container_number(x, PLACE_LAST, &map_end) ||
	    !container_number(x, PLACE_EXTRA, &start) ||
	    !container_number(x, PLACE_COUNT, &count))
		return NULL;
	if (count > x->max || map_end < map || (map_end - map) % 8 ||
	    start > CONTAINER_BYTES_MAX ||
	    (count && (start + count - 1) / in_buffer >= (map_end - map) / 8))
		return NULL;
	for (uint64_t i = start; i < start + count; i++) {
		if ((i == start || i % in_buffer == 0) &&
		    (!container_u64(x->view, map + i / in_buffer * 8,
				    &buffer) ||
		     !container_fits(x->view, buffer, in_buffer * size)))
			return NULL;
		TRY(container_push(x, buffer + i % in_buffer * size, 0));
	}
	x->sound = true;
	return NULL;
}

/* A span whose length is part of its type. */
struct err *expand_span(struct expansion *x)
{
	const struct container *container = x->container;
	const struct type *type =
		type_get(x->containers->pool, container->type);
	uint64_t first;
	if (type->n_arguments < 2 || !type->arguments[1].is_value ||
	    type->arguments[1].value < 0 ||
	    !container_number(x, PLACE_FIRST, &first))
		return NULL;
	uint64_t n = first ? (uint64_t)type->arguments[1].value : 0;
	uint64_t size = container->element_size;
	if (n > CONTAINER_BYTES_MAX / size ||
	    !container_fits(x->view, first, n * size))
		return NULL;
	TRY(container_push_run(x, first, n, container->element, size));
	x->sound = true;
	return NULL;
}

/*
 * The number of owners: after the control block's vptr; libc++ counts one less.
 */
static bool read_owner_count(const struct expansion *x, uint64_t control,
			     int64_t *ret)
{
	if (x->container->recipe->library == RECIPE_LIBCXX) {
		int64_t n;
		if (!view_read(x->view, control + 8, &n, sizeof(n)) ||
		    n == INT64_MAX)
			return false;
		*ret = n + 1;
		return true;
	}
	int32_t n;
	if (!view_read(x->view, control + 8, &n, sizeof(n)))
		return false;
	*ret = n;
	return true;
}

struct err *expand_shared(struct expansion *x)
{
	uint64_t target, control;
	int64_t n;
	if (!container_number(x, PLACE_FIRST, &target) ||
	    !container_number(x, PLACE_EXTRA, &control) ||
	    (control && (!read_owner_count(x, control, &n) || n < 1)))
		return NULL;
	return container_push_target(x, target);
}

/* Empty and expired cannot be distinguished by the program. */
struct err *expand_weak(struct expansion *x)
{
	uint64_t target, control;
	int64_t n = 0;
	if (!container_number(x, PLACE_FIRST, &target) ||
	    !container_number(x, PLACE_EXTRA, &control) ||
	    (control && (!read_owner_count(x, control, &n) || n < 0)))
		return NULL;
	return container_push_target(x, n ? target : 0);
}

static struct err *push_typed(struct expansion *x, uint64_t at, type_id type)
{
	TRY(container_push(x, at, 0));
	x->out->data[x->out->n - 1].type = type;
	x->sound = true;
	return NULL;
}

/*
 * A value of a type that only its handler (@code) knows, in @size bytes or,
 * where these begin with the address of a heap block, in that block: then the
 * rest of the bytes are left over from something else, as are those after a
 * smaller value.
 */
static struct err *push_stored(struct expansion *x, uint64_t code, uint64_t at,
			       uint64_t size)
{
	uint64_t word;
	struct view_block block;
	if (!container_u64(x->view, at, &word) ||
	    !container_fits(x->view, at, size))
		return NULL;
	type_id type;
	enum held_where where;
	TRY(container_held(x->containers, code, &type, &where));
	uint64_t held = type_get(x->containers->pool, type)->size;
	bool is_block = word && x->view->block &&
			x->view->block(x->view->data, word, &block) &&
			block.start == word;
	if (where == HELD_UNKNOWN && held)
		where = held > size ? HELD_IN_BLOCK
			: !is_block ? HELD_IN_PLACE
				    : HELD_UNKNOWN;
	if (held && where == HELD_IN_PLACE && held <= size)
		return push_typed(x, at, type);
	if (held && where == HELD_IN_BLOCK)
		return container_fits(x->view, word, held)
			       ? push_typed(x, word, type)
			       : NULL;
	if (is_block)
		TRY(container_void_pointer(x->containers, &type));
	else
		TRY(container_opaque(x->containers, size, &type));
	return push_typed(x, at, type);
}

struct err *expand_function(struct expansion *x)
{
	uint64_t functor, manager, invoker;
	if (!place_address(x->view, x->address,
			   &x->container->places[PLACE_FIRST], &functor) ||
	    !container_number(x, PLACE_COUNT, &manager) ||
	    !container_number(x, PLACE_EXTRA, &invoker))
		return NULL;
	container_word(x, manager);
	container_word(x, manager ? invoker : 0);
	if (manager)
		return push_stored(x, manager, functor, 16);
	x->sound = true;
	return NULL;
}

/* A polymorphic object, in the function or in a block: the vptr says which. */
struct err *expand_function_libcxx(struct expansion *x)
{
	const struct container_place *first =
		&x->container->places[PLACE_FIRST];
	uint64_t target, vptr = 0;
	if (!container_number(x, PLACE_FIRST, &target) ||
	    (target && !container_u64(x->view, target, &vptr)))
		return NULL;
	container_word(x, vptr);
	const struct type *held = type_get(x->containers->pool, first->type);
	if (target && held->kind == TYPE_POINTER) {
		TRY(container_push(x, target, 0));
		x->out->data[0].type = held->target;
	}
	x->sound = true;
	return NULL;
}

struct err *expand_any(struct expansion *x)
{
	uint64_t storage, manager;
	if (!place_address(x->view, x->address,
			   &x->container->places[PLACE_FIRST], &storage) ||
	    !container_number(x, PLACE_COUNT, &manager))
		return NULL;
	container_word(x, manager);
	if (manager)
		return push_stored(
			x, manager, storage,
			x->container->recipe->library == RECIPE_LIBCXX ? 24
								       : 8);
	x->sound = true;
	return NULL;
}

/* Threads, exceptions: whether there is one. */
struct err *expand_presence(struct expansion *x)
{
	uint64_t word;
	if (!container_number(x, PLACE_FIRST, &word))
		return NULL;
	container_word(x, word != 0);
	x->sound = true;
	return NULL;
}

/*
 * Any memory as a container of each kind. The first byte says which type, the
 * second whether heap blocks are known, the rest is the memory from BASE on.
 * What comes out is bounded, and the same when asked again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "state/containers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Low, so that pointers into it are two bytes. */
#define BASE 0x1000ULL
#define MAX_ELEMENTS 2000

struct memory {
	uint8_t bytes[16 * VIEW_PAGE];
	uint64_t size; /* whole pages */
	bool blocks;
};

static const uint8_t *page(void *data, uint64_t address)
{
	const struct memory *memory = data;
	return address >= BASE && address - BASE < memory->size
		       ? memory->bytes + (address - BASE)
		       : NULL;
}

/* Blocks of 64 bytes, one after the other. */
static bool block(void *data, uint64_t address, struct view_block *ret)
{
	const struct memory *memory = data;
	if (!memory->blocks || address < BASE || address - BASE > memory->size)
		return false;
	*ret = (struct view_block){ .start = address / 64 * 64, .size = 64 };
	return true;
}

/* Known by name alone, so that the offsets apply. */
static const char *const names[] = {
	"std::__cxx11::basic_string<char>",
	"std::__cxx11::basic_string<wchar_t>",
	"std::basic_string<char>",
	"std::__1::basic_string<char>",
	"std::__1::basic_string<wchar_t>",
	"std::basic_string_view<char>",
	"std::vector<bool>",
	"std::__1::vector<bool>",
	"std::vector<unsigned int>",
	"std::__1::vector<unsigned char>",
	"std::deque<unsigned int>",
	"std::__1::deque<unsigned int>",
	"std::list<unsigned char>",
	"std::__1::list<unsigned char>",
	"std::forward_list<unsigned int>",
	"std::set<unsigned int>",
	"std::__1::set<unsigned char>",
	"std::map<unsigned char, unsigned int>",
	"std::unordered_set<unsigned int>",
	"std::__1::unordered_map<unsigned int, unsigned int>",
	"std::shared_ptr<unsigned int>",
	"std::__1::weak_ptr<unsigned int>",
	"std::unique_ptr<unsigned int>",
	"std::function<void ()>",
	"std::__1::function<void ()>",
	"std::any",
	"std::__1::any",
	"std::thread",
	"std::mutex",
	"_GHashTable",
};

static struct type_pool *pool;
static struct containers *containers;
static type_id types[ARRAY_SIZE(names) + 2];

static void must(struct err *err)
{
	if (err)
		abort();
}

static type_id make(struct type type)
{
	type_id id;
	must(type_declare(pool, &id));
	must(type_set(pool, id, &type));
	return id;
}

static void prepare(void)
{
	size_t n = 0;
	must(type_pool_create(&pool));
	for (; n < ARRAY_SIZE(names); n++)
		types[n] = make((struct type){
			.kind = TYPE_OPAQUE, .name = names[n], .align = 1 });
	type_id number = make((struct type){ .kind = TYPE_UNSIGNED,
					     .name = "unsigned int",
					     .size = 4,
					     .align = 4 });
	type_id pointer = make((struct type){ .kind = TYPE_POINTER,
					      .name = "",
					      .size = 8,
					      .align = 8,
					      .target = number });
	const struct type_member variant[] = {
		{ .name = "_M_u", .type = number },
		{ .name = "_M_index", .type = number, .offset = 4 },
	};
	const struct type_argument arguments[] = { { .type = number },
						   { .type = pointer } };
	types[n++] = make((struct type){ .kind = TYPE_STRUCT,
					 .name = "std::variant<a, b>",
					 .size = 8,
					 .align = 4,
					 .members = variant,
					 .n_members = 2,
					 .arguments = arguments,
					 .n_arguments = 2 });
	const struct type_member array[] = {
		{ .name = "data", .type = pointer },
		{ .name = "len", .type = number, .offset = 8 },
	};
	types[n++] = make((struct type){ .kind = TYPE_STRUCT,
					 .name = "_GArray",
					 .size = 16,
					 .align = 8,
					 .members = array,
					 .n_members = 2 });
	must(containers_create(pool, NULL, 0, &containers));
}

static void check(const struct container_contents *contents, bool sound)
{
	if (contents->n > MAX_ELEMENTS ||
	    contents->n_words > ARRAY_SIZE(contents->words))
		abort();
	if (!sound && (contents->n || contents->run || contents->n_words))
		abort();
	if (contents->run &&
	    (contents->n != 1 || !contents->stride ||
	     contents->run > 16 * VIEW_PAGE / contents->stride))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory memory;
	if (!pool)
		prepare();
	if (size < 2 || size - 2 > sizeof(memory.bytes))
		return 0;
	type_id type = types[data[0] % ARRAY_SIZE(types)];
	memory.blocks = data[1] & 1;
	memory.size = (size - 2 + VIEW_PAGE - 1) / VIEW_PAGE * VIEW_PAGE;
	memset(memory.bytes, 0, memory.size);
	memcpy(memory.bytes, data + 2, size - 2);
	const struct view view = { .page = page,
				   .block = block,
				   .data = &memory };
	struct container_contents first = {}, again = {};
	bool sound, same;
	must(container_expand(containers, type, &view, BASE, MAX_ELEMENTS,
			      &first, &sound));
	check(&first, sound);
	must(container_expand(containers, type, &view, BASE, MAX_ELEMENTS,
			      &again, &same));
	if (sound != same || first.n != again.n || first.run != again.run ||
	    memcmp(first.words, again.words, sizeof(first.words)))
		abort();
	for (size_t i = 0; i < first.n; i++) {
		if (first.data[i].address != again.data[i].address ||
		    first.data[i].type != again.data[i].type)
			abort();
	}
	container_contents_free(&first);
	container_contents_free(&again);
	return 0;
}

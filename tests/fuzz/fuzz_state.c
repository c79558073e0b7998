/*
 * Any types over any memory: the walk, the comparison and what is said of them
 * end, whatever pointers, sizes and blocks there are. The input is read from
 * its front: types, roots, blocks, memory, and what is written to it between
 * two moments.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "state/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Low, so that pointers into it are two bytes. */
#define BASE 0x1000ULL
#define PAGES 4
#define GRANULE 64
#define GRANULES (PAGES * VIEW_PAGE / GRANULE)
#define TYPES 12
#define MEMBERS 5
#define ROOTS 5

static const char *const names[] = {
	"std::__cxx11::basic_string<char>",
	"std::vector<unsigned int>",
	"std::vector<bool>",
	"std::list<unsigned int>",
	"std::map<unsigned int, unsigned int>",
	"std::unordered_set<unsigned int>",
	"std::shared_ptr<unsigned int>",
	"std::deque<unsigned int>",
};

struct input {
	const uint8_t *data;
	size_t n;
};

static uint8_t next(struct input *input)
{
	if (!input->n)
		return 0;
	input->n--;
	return *input->data++;
}

struct memory {
	uint8_t bytes[PAGES * VIEW_PAGE];
	uint8_t blocks[GRANULES]; /* size, 0: none; 255: as large as can be */
	bool hidden[PAGES];
};

static const uint8_t *page(void *data, uint64_t address)
{
	const struct memory *memory = data;
	uint64_t in = address - BASE;
	return in < sizeof(memory->bytes) && !memory->hidden[in / VIEW_PAGE]
		       ? memory->bytes + in
		       : NULL;
}

static bool block(void *data, uint64_t address, struct view_block *ret)
{
	const struct memory *memory = data;
	uint64_t in = address - BASE;
	if (in >= sizeof(memory->bytes) || !memory->blocks[in / GRANULE])
		return false;
	uint8_t kind = memory->blocks[in / GRANULE];
	*ret = (struct view_block){
		.start = address - in % GRANULE,
		.size = kind == 255 ? (uint64_t)1 << 28
				    : (uint64_t)(kind % GRANULE + 1),
		.stack = kind / GRANULE,
		.exact = kind & 1,
	};
	return kind == 255 || in % GRANULE <= ret->size;
}

static enum state_area area(void *data, uint64_t address)
{
	(void)data;
	return (enum state_area)(address / 512 % 6);
}

static void must(struct err *err)
{
	if (err)
		abort();
}

static void make_type(struct input *input, struct type_pool *pool, type_id id,
		      type_id first)
{
	static const enum type_kind numbers[] = { TYPE_SIGNED,	 TYPE_BOOL,
						  TYPE_UNSIGNED, TYPE_CHAR,
						  TYPE_FLOAT,	 TYPE_COMPLEX,
						  TYPE_ENUM };
	struct type_member members[MEMBERS] = {};
	struct type type = { .name = "", .align = 1 };
	uint8_t how = next(input), more = next(input);
	switch (how % 5) {
	case 0:
		type.kind = numbers[more % ARRAY_SIZE(numbers)];
		type.size = 1ULL << (more / 8 % 6);
		break;
	case 1:
		type.kind = more & 1 ? TYPE_POINTER : TYPE_REFERENCE;
		type.size = 8;
		type.target = first + more / 2 % TYPES;
		break;
	case 2:
		type.kind = TYPE_ARRAY;
		type.target = first + more % TYPES;
		type.count = how < 20 ? TYPE_NO_COUNT : how / 5;
		break;
	case 3:
		type.kind = how & 64 ? TYPE_UNION : TYPE_STRUCT;
		type.size = more % 128;
		type.members = members;
		type.n_members = how / 8 % (MEMBERS + 1);
		for (uint32_t i = 0; i < type.n_members; i++) {
			uint8_t bits = next(input);
			members[i] = (struct type_member){
				.name = "m",
				.type = first + next(input) % TYPES,
				.offset = next(input) % 128,
				.bit_size = bits % 3 ? 0 : bits % 65,
				.bit_offset = bits % 8,
				.base = bits == 1,
				.virtual_base = bits == 4,
				.artificial = bits == 7,
				.vtable_offset = -(int64_t)(bits % 64),
			};
		}
		break;
	default:
		type.kind = TYPE_OPAQUE;
		type.name = more < 128 ? names[more % ARRAY_SIZE(names)] : "";
		type.size = how / 5;
		break;
	}
	must(type_set(pool, id, &type));
}

static void make_memory(struct input *input, struct memory *memory)
{
	uint8_t flags = next(input);
	memset(memory, 0, sizeof(*memory));
	for (size_t i = 0; i < PAGES; i++)
		memory->hidden[i] = i && flags >> i & 1;
	for (size_t i = 0; i < GRANULES; i++)
		memory->blocks[i] = flags & 1 ? 65 : next(input);
	size_t n = MIN(input->n / 2, sizeof(memory->bytes));
	memcpy(memory->bytes, input->data, n);
	input->data += n;
	input->n -= n;
}

static void write_some(struct input *input, struct memory *memory)
{
	while (input->n > 3) {
		size_t at = (next(input) | (size_t)next(input) << 8) %
			    sizeof(memory->bytes);
		uint8_t value = next(input);
		if (next(input) & 1)
			memory->blocks[at / GRANULE] = value;
		else
			memory->bytes[at] = value;
	}
}

static size_t find_pages(const struct memory *before,
			 const struct memory *after, struct state_page *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < PAGES; i++) {
		const uint8_t *was = before->bytes + i * VIEW_PAGE;
		const uint8_t *is = after->bytes + i * VIEW_PAGE;
		if (before->hidden[i] || !memcmp(was, is, VIEW_PAGE))
			continue;
		ret[n++] = (struct state_page){ BASE + i * VIEW_PAGE, was, is };
	}
	return n;
}

static void check(struct state *state, struct memory *before,
		  struct memory *after, size_t roots)
{
	const struct view was = { page, block, before };
	const struct view is = { page, block, after };
	struct state_differences differences = {};
	struct state_page pages[PAGES], back[PAGES];
	size_t n = find_pages(before, after, pages);
	must(state_index(state, &was));
	must(state_compare(state, &was, &was, NULL, 0, &differences));
	if (differences.n)
		abort(); /* nothing was written */
	must(state_compare(state, &was, &is, pages, n, &differences));
	for (size_t i = 0; i < differences.n; i++) {
		if (differences.data[i].root >= roots ||
		    !differences.data[i].path || !differences.data[i].before ||
		    !differences.data[i].after)
			abort();
	}
	for (size_t i = 0; i < roots; i++) {
		char *text = NULL;
		must(state_render(state, &is, i, 40, &text));
		free(text);
		if (state_digest(state, &is, i) != state_digest(state, &is, i))
			abort();
	}
	n = find_pages(after, before, back);
	must(state_compare(state, &is, &was, back, n, NULL));
	must(state_compare(state, &was, &is, pages, n, &differences));
	state_differences_free(&differences);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory before, after;
	struct input input = { data, MIN(size, (size_t)65536) };
	_cleanup_(type_pool_destroyp) struct type_pool *pool = NULL;
	struct containers *containers = NULL;
	struct state *state = NULL;
	type_id types[TYPES];
	struct state_root roots[ROOTS];
	must(type_pool_create(&pool));
	for (size_t i = 0; i < TYPES; i++)
		must(type_declare(pool, &types[i]));
	for (size_t i = 0; i < TYPES; i++)
		make_type(&input, pool, types[i], types[0]);
	must(type_settle(pool, types[0]));
	must(containers_create(pool, NULL, 0, &containers));
	for (size_t i = 0; i < ROOTS; i++) {
		uint8_t how = next(&input);
		uint64_t own = type_get(pool, types[how % TYPES])->size;
		roots[i] = (struct state_root){
			.name = "root",
			.address = BASE + (uint64_t)next(&input) * 16,
			.size = how & 128  ? own
				: how & 64 ? (uint64_t)1 << 28
					   : 8,
			.type = types[how % TYPES],
		};
	}
	const struct state_options options = {
		.roots = roots, .n_roots = ROOTS, .area = area, .paths = 3
	};
	make_memory(&input, &before);
	after = before;
	write_some(&input, &after);
	must(state_create(pool, containers, &options, &state));
	check(state, &before, &after, ROOTS);
	state_destroy(state);
	containers_destroy(containers);
	return 0;
}

/*
 * The walk and the comparison, on types and memory made here: two moments of
 * one memory, blocks as the test says.
 */
#include "state/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "unit.h"

#define BASE 0x100000ULL
#define ROOT_AREA 4096 /* roots lie here */
#define STACK 0x7ffff000ULL
#define STACK_SIZE 0x1000ULL
#define STACK_POINTER (STACK + 0x800)
#define HEAP 0x200000ULL /* blocks of GRANULE bytes from here on */
#define GRANULE 32
#define NODES_MAX 1000000

struct moment {
	uint8_t *roots; /* ROOT_AREA bytes */
	uint8_t *heap;
	uint64_t *sizes; /* by granule; 0: no block begins there */
};

static size_t heap_size = 64 * VIEW_PAGE;
static size_t pages_asked;
static struct moment moments[2]; /* before, after */
static struct type_pool *pool;
static struct containers *containers;
static struct state *state;
static struct state_root roots[4];
static size_t n_roots;
static struct state_differences differences;
static type_id id_int, id_char, id_double, id_bits, id_padded, id_node,
	id_node_pointer, id_void_pointer;

static const uint8_t *page(void *data, uint64_t address)
{
	const struct moment *moment = data;
	pages_asked++;
	if (address - BASE < ROOT_AREA)
		return moment->roots + (address - BASE);
	return address - HEAP < heap_size ? moment->heap + (address - HEAP)
					  : NULL;
}

static bool block(void *data, uint64_t address, struct view_block *ret)
{
	const struct moment *moment = data;
	if (address - HEAP >= heap_size)
		return false;
	uint64_t granule = (address - HEAP) / GRANULE;
	/* Large ones take several. */
	for (unsigned back = 0; back < 8 && granule + 1; back++, granule--) {
		uint64_t start = HEAP + granule * GRANULE;
		if (!moment->sizes[granule])
			continue;
		*ret = (struct view_block){ start, moment->sizes[granule], 1,
					    true };
		return address <= start + ret->size;
	}
	return false;
}

static const struct view views[] = { { page, block, &moments[0] },
				     { page, block, &moments[1] } };

static enum state_area area(void *data, uint64_t address)
{
	(void)data;
	if (address - STACK < STACK_SIZE)
		return address < STACK_POINTER ? STATE_DEAD : STATE_FOREIGN;
	return address - HEAP < heap_size ? STATE_HEAP : STATE_NOWHERE;
}

static type_id make(struct type type)
{
	type_id id;
	if (!type.name)
		type.name = "";
	if (!type.align)
		type.align = 8;
	assert_ok(type_declare(pool, &id));
	assert_ok(type_set(pool, id, &type));
	return id;
}

static type_id pointer_to(type_id target)
{
	return make((struct type){
		.kind = TYPE_POINTER, .size = 8, .target = target });
}

static void make_types(void)
{
	id_int = make((struct type){
		.kind = TYPE_SIGNED, .name = "int", .size = 4, .align = 4 });
	id_char = make((struct type){
		.kind = TYPE_CHAR, .name = "char", .size = 1, .align = 1 });
	id_double = make((struct type){
		.kind = TYPE_FLOAT, .name = "double", .size = 8 });
	type_id id_void = make((struct type){ .kind = TYPE_VOID });
	id_void_pointer = pointer_to(id_void);
	const struct type_member bits[] = {
		{ .name = "a", .type = id_int, .bit_size = 3 },
		{ .name = "b", .type = id_int, .bit_offset = 3, .bit_size = 7 },
	};
	id_bits = make((struct type){ .kind = TYPE_STRUCT,
				      .name = "bits",
				      .size = 4,
				      .align = 4,
				      .members = bits,
				      .n_members = 2 });
	const struct type_member padded[] = {
		{ .name = "c", .type = id_char },
		{ .name = "d", .type = id_double, .offset = 8 },
	};
	id_padded = make((struct type){ .kind = TYPE_STRUCT,
					.name = "padded",
					.size = 16,
					.members = padded,
					.n_members = 2 });
	assert_ok(type_declare(pool, &id_node));
	id_node_pointer = pointer_to(id_node);
	const struct type_member node[] = {
		{ .name = "value", .type = id_int },
		{ .name = "next", .type = id_node_pointer, .offset = 8 },
	};
	assert_ok(type_set(pool, id_node,
			   &(struct type){ .kind = TYPE_STRUCT,
					   .name = "node",
					   .size = 16,
					   .align = 8,
					   .members = node,
					   .n_members = 2 }));
}

static int set_up(void **data)
{
	(void)data;
	for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
		moments[i].roots = calloc(1, ROOT_AREA);
		moments[i].heap = calloc(1, heap_size);
		moments[i].sizes =
			calloc(heap_size / GRANULE + 1, sizeof(uint64_t));
		assert_non_null(moments[i].roots);
		assert_non_null(moments[i].heap);
		assert_non_null(moments[i].sizes);
	}
	n_roots = 0;
	assert_ok(type_pool_create(&pool));
	make_types();
	assert_ok(containers_create(pool, NULL, 0, &containers));
	return 0;
}

static int set_up_large(void **data)
{
	heap_size = ((uint64_t)NODES_MAX * GRANULE / VIEW_PAGE + 1) * VIEW_PAGE;
	return set_up(data);
}

static int tear_down(void **data)
{
	(void)data;
	pages_asked = 0;
	state_differences_free(&differences);
	state_destroy(state);
	state = NULL;
	containers_destroy(containers);
	containers = NULL;
	type_pool_destroy(pool);
	pool = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
		free(moments[i].roots);
		free(moments[i].heap);
		free(moments[i].sizes);
		moments[i] = (struct moment){};
	}
	memset(roots, 0, sizeof(roots));
	n_roots = 0;
	heap_size = 64 * VIEW_PAGE;
	return 0;
}

/* ---- what the tests say ---- */

static uint64_t add_root(const char *name, type_id type)
{
	uint64_t address = BASE + n_roots * 64;
	roots[n_roots++] = (struct state_root){
		.name = name,
		.address = address,
		.size = type_get(pool, type)->size,
		.type = type,
	};
	return address;
}

static void write_to(struct moment *moment, uint64_t address, const void *bytes,
		     size_t n)
{
	uint8_t *to = address >= HEAP ? moment->heap + (address - HEAP)
				      : moment->roots + (address - BASE);
	memcpy(to, bytes, n);
}

/* In one moment. */
static void put(unsigned moment, uint64_t address, uint64_t value)
{
	write_to(&moments[moment], address, &value, sizeof(value));
}

static void put32(unsigned moment, uint64_t address, uint32_t value)
{
	write_to(&moments[moment], address, &value, sizeof(value));
}

/* The address of the block at this granule. */
static uint64_t at(size_t granule)
{
	return HEAP + granule * GRANULE;
}

static uint64_t allocate(unsigned moment, size_t granule, uint64_t size)
{
	moments[moment].sizes[granule] = size;
	return at(granule);
}

static void link_node(unsigned moment, size_t granule, int value, uint64_t next)
{
	uint64_t node = allocate(moment, granule, 16);
	put32(moment, node, (uint32_t)value);
	put(moment, node + 8, next);
}

/* All that was done until now is there before and after. */
static void begin(void)
{
	memcpy(moments[1].roots, moments[0].roots, ROOT_AREA);
	memcpy(moments[1].heap, moments[0].heap, heap_size);
	memcpy(moments[1].sizes, moments[0].sizes,
	       heap_size / GRANULE * sizeof(uint64_t));
	const struct state_options options = {
		.roots = roots, .n_roots = n_roots, .area = area, .paths = 3
	};
	assert_ok(state_create(pool, containers, &options, &state));
	assert_ok(state_index(state, &views[0]));
}

/* What differs, as "path: before -> after; …"; the second moment becomes the first. */
static const char *compare(void)
{
	static char text[4096];
	VEC(struct state_page) pages = VEC_INIT;
	for (uint64_t i = 0; i < heap_size + ROOT_AREA; i += VIEW_PAGE) {
		uint64_t address = i < heap_size ? HEAP + i : BASE;
		const uint8_t *was = page(&moments[0], address);
		const uint8_t *is = page(&moments[1], address);
		struct state_page one = { address, was, is };
		if (memcmp(was, is, VIEW_PAGE) != 0)
			assert_ok(vec_push(&pages, one));
	}
	assert_ok(state_compare(state, &views[0], &views[1], pages.data,
				pages.n, &differences));
	vec_free(&pages);
	size_t n = 0;
	text[0] = '\0';
	for (size_t i = 0; i < differences.n && n < sizeof(text); i++)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n, "%s%s: %s -> %s",
			i ? "; " : "", differences.data[i].path,
			differences.data[i].before, differences.data[i].after);
	memcpy(moments[0].roots, moments[1].roots, ROOT_AREA);
	memcpy(moments[0].heap, moments[1].heap, heap_size);
	memcpy(moments[0].sizes, moments[1].sizes,
	       heap_size / GRANULE * sizeof(uint64_t));
	return text;
}

/* ---- tests ---- */

static void test_numbers(void **data)
{
	(void)data;
	uint64_t number = add_root("number", id_int);
	put32(0, number, 5);
	begin();
	assert_string_equal(compare(), "");
	put32(1, number, 6);
	assert_string_equal(compare(), "number: 5 -> 6");
	assert_string_equal(compare(), "");
}

static void test_nan_is_itself(void **data)
{
	(void)data;
	uint64_t number = add_root("number", id_double);
	put(0, number, 0x7ff8000000000001);
	begin();
	put(1, number, 0x7ff8000000000002);
	assert_string_equal(compare(), "");
	put(1, number, 0x3ff0000000000000);
	assert_string_equal(compare(), "number: nan -> 1");
}

static void test_bit_fields(void **data)
{
	(void)data;
	uint64_t bits = add_root("bits", id_bits);
	begin();
	put32(1, bits, 1U << 3);
	assert_string_equal(compare(), "bits.b: 0 -> 1");
	put32(1, bits, 1U << 3 | 1);
	assert_string_equal(compare(), "bits.a: 0 -> 1");
	/* Beyond the last one: nobody's. */
	put32(1, bits, 1U << 3 | 1 | 1U << 20);
	assert_string_equal(compare(), "");
}

static void test_padding(void **data)
{
	(void)data;
	uint64_t padded = add_root("padded", id_padded);
	begin();
	put32(1, padded + 4, 77);
	assert_string_equal(compare(), "");
}

static void test_same_content_elsewhere(void **data)
{
	(void)data;
	uint64_t head = add_root("head", id_node_pointer);
	put(0, head, at(0));
	link_node(0, 0, 1, at(1));
	link_node(0, 1, 2, 0);
	begin();
	allocate(1, 0, 0);
	allocate(1, 1, 0);
	put(1, head, at(5));
	link_node(1, 5, 1, at(3));
	link_node(1, 3, 2, 0);
	assert_string_equal(compare(), "");
	put32(1, at(3), 9);
	assert_string_equal(compare(), "head->next->value: 2 -> 9");
}

/* Each node lies where another was: values are those of places in the list. */
static void test_places_exchanged(void **data)
{
	(void)data;
	uint64_t head = add_root("head", id_node_pointer);
	put(0, head, at(0));
	for (size_t i = 0; i < 3; i++)
		link_node(0, i, (int)i, i < 2 ? at(i + 1) : 0);
	begin();
	put(1, head, at(2));
	for (size_t i = 0; i < 3; i++)
		link_node(1, 2 - i, (int)i, i < 2 ? at(1 - i) : 0);
	assert_string_equal(compare(), "");
}

static void test_sharing(void **data)
{
	(void)data;
	uint64_t left = add_root("left", id_node_pointer);
	uint64_t right = add_root("right", id_node_pointer);
	put(0, left, at(0));
	put(0, right, at(0));
	link_node(0, 0, 4, 0);
	begin();
	/* Both go to one copy: nothing has changed. */
	put(1, left, at(7));
	put(1, right, at(7));
	link_node(1, 7, 4, 0);
	allocate(1, 0, 0);
	assert_string_equal(compare(), "");
	/* One goes to a copy of its own. */
	put(1, right, at(9));
	link_node(1, 9, 4, 0);
	assert_non_null(strstr(compare(), "right: "));
}

/* What held an object lets it go; what is below it is still found. */
static void test_other_edge(void **data)
{
	(void)data;
	uint64_t left = add_root("left", id_node_pointer);
	uint64_t right = add_root("right", id_node_pointer);
	put(0, left, at(0));
	put(0, right, at(0));
	link_node(0, 0, 4, at(1));
	link_node(0, 1, 5, 0);
	begin();
	put(1, left, 0);
	assert_non_null(strstr(compare(), "left: "));
	put32(1, at(1), 6);
	assert_string_equal(compare(), "right->next->value: 5 -> 6");
}

static void test_cycles(void **data)
{
	(void)data;
	uint64_t ring = add_root("ring", id_node_pointer);
	put(0, ring, at(0));
	for (size_t i = 0; i < 3; i++)
		link_node(0, i, (int)i, at((i + 1) % 3));
	begin();
	put(1, ring, at(1));
	assert_non_null(strstr(compare(), "ring->value: 0 -> 1"));
	/* Rotated on to where it was: two more steps. */
	put(1, ring, at(2));
	assert_true(differences.n > 0);
	assert_non_null(strstr(compare(), "ring->value: 1 -> 2"));
	put32(1, at(0), 30);
	assert_string_equal(compare(), "ring->next->value: 0 -> 30");
}

static void test_grown_in_place(void **data)
{
	(void)data;
	type_id pointer = pointer_to(id_int);
	uint64_t table = add_root("table", pointer);
	put(0, table, allocate(0, 4, 8));
	begin();
	/* The header before it, and the end after it. */
	put(1, at(4) - 8, 0x51);
	allocate(1, 4, 64);
	assert_string_equal(compare(), "");
	put32(1, at(4) + 40, 3);
	assert_string_equal(compare(), "table[10]: 0 -> 3");
}

static void test_freed(void **data)
{
	(void)data;
	uint64_t head = add_root("head", id_node_pointer);
	put(0, head, at(0));
	link_node(0, 0, 1, 0);
	begin();
	allocate(1, 0, 0);
	put(1, at(0), 0x1234567);
	assert_string_equal(
		compare(), "head: &{value = 1, next = NULL} -> (freed memory)");
}

/* What calls that returned had on the stack, and what is still there. */
static void test_dead(void **data)
{
	(void)data;
	uint64_t head = add_root("head", id_node_pointer);
	begin();
	put(1, head, STACK_POINTER - 16);
	assert_string_equal(compare(), "head: NULL -> (dead local variable)");
	assert_true(differences.data[0].dead);
	assert_string_equal(compare(), "");
	put(1, head, STACK_POINTER);
	assert_string_equal(compare(),
			    "head: (dead local variable) -> an address");
	assert_false(differences.data[0].dead);
}

/* Pointers to nowhere, to itself, into the middle, to the end of everything. */
static void test_hostile_pointers(void **data)
{
	(void)data;
	static const uint64_t values[] = {
		1,
		HEAP - 1,
		UINT64_MAX,
		UINT64_MAX - 7,
		HEAP + 16,
		BASE,
		BASE + 64,
		(uint64_t)1 << 63,
		HEAP + 3 * GRANULE + 5,
	};
	uint64_t head = add_root("head", id_node_pointer);
	uint64_t other = add_root("other", id_void_pointer);
	for (size_t i = 0; i < 8; i++)
		link_node(0, i, 0, at(i));
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		put(1, head, values[i]);
		put(1, other, values[ARRAY_SIZE(values) - 1 - i]);
		put(1, at(3) + 8, values[i]);
		compare();
		for (size_t root = 0; root < n_roots; root++) {
			_cleanup_(freep) char *text = NULL;
			assert_ok(state_render(state, &views[1], root, 20,
					       &text));
			assert_true(state_digest(state, &views[1], root) ==
				    state_digest(state, &views[1], root));
		}
	}
	assert_string_equal(compare(), "");
}

static void test_huge_variable(void **data)
{
	(void)data;
	type_id huge;
	assert_ok(
		type_array_of(pool, id_node_pointer, (uint64_t)1 << 40, &huge));
	assert_ok(type_settle(pool, huge));
	add_root("huge", huge);
	begin();
	put(1, BASE + 800, at(0));
	assert_string_equal(compare(), "huge[100]: NULL -> &huge+1048576");
}

/* What leads nowhere is not read before a test has written to it. */
static void test_numbers_are_not_read(void **data)
{
	(void)data;
	type_id many;
	assert_ok(type_array_of(pool, id_int, (uint64_t)1 << 27, &many));
	assert_ok(type_settle(pool, many));
	add_root("many", many);
	pages_asked = 0;
	begin();
	assert_int_equal(pages_asked, 0);
	put32(1, BASE + 800, 7);
	assert_string_equal(compare(), "many[200]: 0 -> 7");
}

/* Its twin: pointers are. */
static void test_pointers_are_read(void **data)
{
	(void)data;
	type_id many;
	assert_ok(type_array_of(pool, id_node_pointer, 128, &many));
	assert_ok(type_settle(pool, many));
	uint64_t root = add_root("many", many);
	put(0, root + 800, at(0));
	link_node(0, 0, 1, 0);
	pages_asked = 0;
	begin();
	assert_int_not_equal(pages_asked, 0);
	put32(1, at(0), 7);
	assert_string_equal(compare(), "many[100]->value: 1 -> 7");
}

static void test_long_list(void **data)
{
	(void)data;
	uint64_t head = add_root("head", id_node_pointer);
	put(0, head, at(0));
	for (size_t i = 0; i < NODES_MAX; i++)
		link_node(0, i, (int)i, i + 1 < NODES_MAX ? at(i + 1) : 0);
	begin();
	assert_int_equal(state_counts(state).nodes, NODES_MAX + 1);
	put32(1, at(NODES_MAX - 1), 5);
	assert_non_null(strstr(compare(), "->value: 999999 -> 5"));
	assert_int_equal(differences.n, 1);
	/* All of them: counted, not each with its path. */
	for (size_t i = 0; i < NODES_MAX; i++)
		put32(1, at(i), 7);
	compare();
	assert_int_equal(differences.n, 3);
	assert_true(state_more(state, 0) > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(test_numbers),
		TEST(test_nan_is_itself),
		TEST(test_bit_fields),
		TEST(test_padding),
		TEST(test_same_content_elsewhere),
		TEST(test_places_exchanged),
		TEST(test_sharing),
		TEST(test_other_edge),
		TEST(test_cycles),
		TEST(test_grown_in_place),
		TEST(test_freed),
		TEST(test_dead),
		TEST(test_hostile_pointers),
		TEST(test_huge_variable),
		TEST(test_numbers_are_not_read),
		TEST(test_pointers_are_read),
		cmocka_unit_test_setup_teardown(test_long_list, set_up_large,
						tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Recognition, users' rows and what blocks say, on types made here and memory
 * of this process. Real layouts: test_containers_std.c.
 */
#include "state/containers.h"

#include <string.h>

#include "base/macro.h"
#include "state/recipes.h"
#include "unit.h"

/* Memory is what the test put into here; pages and blocks are as it says. */
static uint8_t memory[4 * VIEW_PAGE] __attribute__((aligned(VIEW_PAGE)));
static struct view_block blocks[4];
static size_t n_blocks;

#define BASE 0x100000ULL

static const uint8_t *page(void *data, uint64_t address)
{
	(void)data;
	return address >= BASE && address < BASE + sizeof(memory)
		       ? memory + (address - BASE)
		       : NULL;
}

static bool block(void *data, uint64_t address, struct view_block *ret)
{
	(void)data;
	for (size_t i = 0; i < n_blocks; i++) {
		if (address >= blocks[i].start &&
		    address <= blocks[i].start + blocks[i].size) {
			*ret = blocks[i];
			return true;
		}
	}
	return false;
}

static const struct view view = { .page = page, .block = block };

static void put(uint64_t offset, uint64_t value)
{
	memcpy(memory + offset, &value, sizeof(value));
}

static void put32(uint64_t offset, uint32_t value)
{
	memcpy(memory + offset, &value, sizeof(value));
}

static struct type_pool *pool;
static struct containers *containers;
static struct container_contents contents;
static type_id id_int, id_char, id_node, id_node_pointer;

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

static type_id record(const char *name, uint64_t size,
		      const struct type_member *members, uint32_t n)
{
	return make((struct type){ .kind = TYPE_STRUCT,
				   .name = name,
				   .size = size,
				   .members = members,
				   .n_members = n });
}

static type_id opaque(const char *name)
{
	return make((struct type){ .kind = TYPE_OPAQUE, .name = name });
}

static int set_up(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	n_blocks = 0;
	assert_ok(type_pool_create(&pool));
	id_int = make((struct type){
		.kind = TYPE_SIGNED, .name = "int", .size = 4, .align = 4 });
	id_char = make((struct type){
		.kind = TYPE_CHAR, .name = "char", .size = 1, .align = 1 });
	assert_ok(type_declare(pool, &id_node));
	id_node_pointer = pointer_to(id_node);
	const struct type_member members[] = {
		{ .name = "value", .type = id_int },
		{ .name = "next", .type = id_node_pointer, .offset = 8 },
	};
	assert_ok(type_set(pool, id_node,
			   &(struct type){ .kind = TYPE_STRUCT,
					   .name = "node",
					   .size = 16,
					   .align = 8,
					   .members = members,
					   .n_members = 2 }));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	containers_destroy(containers);
	containers = NULL;
	container_contents_free(&contents);
	type_pool_destroy(pool);
	return 0;
}

static void with(const struct container_user *users, size_t n)
{
	assert_ok(containers_create(pool, users, n, &containers));
}

static bool expand(type_id type, uint64_t offset)
{
	bool sound;
	assert_ok(container_expand(containers, type, &view, BASE + offset, 1000,
				   &contents, &sound));
	return sound;
}

static int shape_of(type_id type)
{
	const struct container_recipe *recipe =
		container_recipe(containers, type);
	return recipe ? (int)container_recipe_shape(recipe) : -1;
}

/* ---- which types ---- */

static bool named(const char *row, enum recipe_library library,
		  const char *name)
{
	struct container_recipe recipe = { .type = row, .library = library };
	struct recipe_name parsed;
	recipe_name_parse(name, &parsed);
	return recipe_matches(&recipe, &parsed);
}

static void test_names(void **state)
{
	(void)state;
	enum recipe_library any = RECIPE_ANY, gnu = RECIPE_LIBSTDCXX,
			    llvm = RECIPE_LIBCXX;
	assert_true(named("std::vector", any, "std::vector<int>"));
	assert_true(named("std::vector", gnu, "std::vector<int>"));
	assert_false(named("std::vector", llvm, "std::vector<int>"));
	assert_true(named("std::vector", llvm, "std::__1::vector<int>"));
	assert_true(named("std::vector", llvm, "std::__ndk1::vector<int>"));
	assert_false(named("std::vector", gnu, "std::__1::vector<int>"));
	assert_true(named("std::vector", gnu, "std::__debug::vector<int>"));
	assert_true(named("std::list", gnu, "std::__cxx11::list<a<b>, c>"));
	assert_true(named("std::filesystem::path", any,
			  "std::filesystem::__cxx11::path"));
	assert_true(named("std::filesystem::path", llvm,
			  "std::__1::__fs::filesystem::path"));
	assert_true(named("std::mutex", any, "std::mutex"));
	assert_true(named("_GString", any, "_GString"));
	/* A namespace that is asked for. */
	assert_true(named("std::__cxx11::basic_string", gnu,
			  "std::__cxx11::basic_string<char>"));
	assert_false(named("std::__cxx11::basic_string", gnu,
			   "std::basic_string<char>"));
	/* Others of a similar name, and what is nested. */
	assert_false(named("std::vector", any, "std::vectorised<int>"));
	assert_false(named("std::vector", any, "std::vec"));
	assert_false(named("std::vector", any, "app::std::vector<int>"));
	assert_false(named("std::vector", any, "std::vector<int>::iterator"));
	assert_false(named("std::map", any, "std::map<a, b>::cmp<c>"));
	assert_false(named("std::any", any, "std::any::_Storage"));
	assert_false(named("_GString", any, "_GStringChunk"));
	/* Arguments. */
	assert_true(named("std::vector<bool", any,
			  "std::vector<bool, std::allocator<bool> >"));
	assert_true(named("std::vector<bool", any, "std::vector<bool>"));
	assert_false(named("std::vector<bool", any, "std::vector<bool_t>"));
	assert_false(named("std::vector<bool", any, "std::vector<int>"));
	assert_false(named("std::vector", any, ""));
}

static void test_remembered(void **state)
{
	(void)state;
	type_id text = opaque("std::__cxx11::basic_string<char>");
	with(NULL, 0);
	assert_null(container_recipe(containers, id_int));
	assert_null(container_recipe(containers, TYPE_UNKNOWN));
	assert_null(container_recipe(containers, 1 << 30));
	const struct container_recipe *recipe =
		container_recipe(containers, text);
	assert_non_null(recipe);
	assert_ptr_equal(container_recipe(containers, text), recipe);
	/* Types that came later. */
	type_id mutex = opaque("pthread_mutex_t");
	assert_int_equal(shape_of(mutex), CONTAINER_SKIP);
	assert_false(expand(id_int, 0));
}

/* Debug information that has only names: offsets, and types out of names. */
static void test_declared_only(void **state)
{
	(void)state;
	type_id text = opaque("std::__cxx11::basic_string<char, "
			      "std::char_traits<char>, std::allocator<char> >");
	type_id wide = opaque("std::__cxx11::basic_string<wchar_t>");
	type_id vector = opaque("std::vector<int, std::allocator<int> >");
	type_id pointers = opaque("std::vector<app::thing*>");
	type_id unknown = opaque("std::vector<app::thing>");
	type_id map = opaque("std::map<char, int, std::less<char>, "
			     "std::allocator<std::pair<const char, int> > >");
	type_id optional = opaque("std::optional<int>");
	with(NULL, 0);
	memcpy(memory + 0x200, "hello", 6);
	put(0, BASE + 0x200);
	put(8, 5);
	assert_true(expand(text, 0));
	assert_int_equal(contents.run, 5);
	assert_int_equal(contents.stride, 1);
	assert_int_equal(contents.data[0].address, BASE + 0x200);
	assert_int_equal(contents.data[0].type, id_char);
	assert_int_equal(shape_of(text), CONTAINER_TEXT);
	assert_true(expand(wide, 0));
	assert_int_equal(contents.stride, 4);
	put(8, BASE + 0x200 + 12);
	assert_true(expand(vector, 0));
	assert_int_equal(contents.run, 3);
	assert_int_equal(contents.data[0].type, id_int);
	put(8, BASE + 0x200 + 16);
	assert_true(expand(pointers, 0));
	assert_int_equal(contents.run, 2);
	assert_int_equal(type_get(pool, contents.data[0].type)->kind,
			 TYPE_POINTER);
	assert_int_equal(shape_of(unknown), -1);
	assert_int_equal(shape_of(optional), -1);
	/* One node, whose pair is made of its parts. */
	put(16, BASE + 0x300);
	put(40, 1);
	memory[0x300 + 32] = 'k';
	assert_true(expand(map, 0));
	assert_int_equal(contents.n, 1);
	assert_int_equal(contents.data[0].address, BASE + 0x300 + 32);
	assert_int_equal(contents.data[0].key, BASE + 0x300 + 32);
	assert_int_equal(contents.data[0].key_type, id_char);
	const struct type *pair = type_get(pool, contents.data[0].type);
	assert_int_equal(pair->n_members, 2);
	assert_int_equal(pair->members[1].offset, 4);
	assert_int_equal(pair->members[1].type, id_int);
	assert_int_equal(pair->size, 8);
}

/* A declaration that was given a size does not spoil the next one. */
static void test_completed(void **state)
{
	(void)state;
	type_id text = opaque("std::__cxx11::basic_string<char>");
	type_id table = opaque("_GHashTable");
	type_id other = opaque("app::thing");
	with(NULL, 0);
	assert_ok(containers_complete(containers));
	assert_int_equal(type_get(pool, text)->size, 32);
	assert_true(type_get(pool, table)->size > 0);
	assert_int_equal(type_get(pool, other)->size, 0);
	type_id again = opaque("std::__cxx11::basic_string<char>");
	assert_ok(containers_complete(containers));
	put(0, BASE + 0x200);
	put(8, 5);
	assert_true(expand(text, 0));
	assert_int_equal(contents.run, 5);
	assert_true(expand(again, 0));
	assert_int_equal(contents.run, 5);
}

/* ---- what makes no sense ---- */

static void test_unsound(void **state)
{
	(void)state;
	type_id vector = opaque("std::vector<int>");
	type_id text = opaque("std::__cxx11::basic_string<char>");
	with(NULL, 0);
	const uint64_t ends[][2] = {
		{ BASE + 0x208, BASE + 0x200 },	      /* backwards */
		{ BASE + 0x200, BASE + 0x202 },	      /* half of one */
		{ BASE + 0x200, BASE + 0x200000000 }, /* not there */
		{ 0x10, 0x20 },
		{ 0, 1ULL << 50 },
		{ UINT64_MAX - 3, UINT64_MAX - 3 + 4 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		put(0, ends[i][0]);
		put(8, ends[i][1]);
		assert_false(expand(vector, 0));
		assert_int_equal(contents.n, 0);
	}
	put(0, BASE + 0x200);
	const uint64_t lengths[] = { 1ULL << 41, UINT64_MAX, 1 << 20 };
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		put(8, lengths[i]);
		assert_false(expand(text, 0));
	}
	/* At the end of all memory. */
	put(0, BASE + sizeof(memory) - 4);
	put(8, 4);
	assert_true(expand(text, 0));
	put(8, 5);
	assert_false(expand(text, 0));
	assert_false(expand(text, sizeof(memory) - 8));
}

static void test_blocks(void **state)
{
	(void)state;
	type_id vector = opaque("std::vector<int>");
	with(NULL, 0);
	blocks[n_blocks++] = (struct view_block){ BASE + 0x200, 16, 0, true };
	put(0, BASE + 0x200);
	put(8, BASE + 0x210);
	assert_true(expand(vector, 0));
	put(8, BASE + 0x214);
	assert_false(expand(vector, 0));
	/* Right behind a block is not in it. */
	put(0, BASE + 0x210);
	put(8, BASE + 0x220);
	assert_true(expand(vector, 0));
}

/* A target in the function itself, or in a block of its own. */
static void test_function(void **state)
{
	(void)state;
	type_id function = opaque("std::function<void ()>");
	with(NULL, 0);
	put(0, BASE + 0x200);
	put(8, 0x1234);
	put(16, 0x5000);
	put(24, 0x6000);
	assert_true(expand(function, 0));
	assert_int_equal(contents.n_words, 2);
	assert_int_equal(contents.words[0], 0x5000);
	assert_int_equal(contents.words[1], 0x6000);
	const struct type *type = type_get(pool, contents.data[0].type);
	assert_int_equal(type->kind, TYPE_OPAQUE);
	assert_int_equal(type->size, 16);
	blocks[n_blocks++] = (struct view_block){ BASE + 0x200, 64, 0, true };
	assert_true(expand(function, 0));
	assert_int_equal(contents.data[0].address, BASE);
	type = type_get(pool, contents.data[0].type);
	assert_int_equal(type->kind, TYPE_POINTER);
	assert_int_equal(type_get(pool, type->target)->kind, TYPE_VOID);
	/* Empty: what is left of the invoker does not count. */
	put(16, 0);
	assert_true(expand(function, 0));
	assert_int_equal(contents.n, 0);
	assert_int_equal(contents.words[1], 0);
}

/* GHashTable before 2.60: no flags, only the blocks tell. */
static void test_old_ghash(void **state)
{
	(void)state;
	type_id table = opaque("_GHashTable");
	with(NULL, 0);
	put32(0, 8);
	put32(4, 7);
	put32(8, 7);
	put32(12, 2); /* nodes */
	put32(16, 3); /* and one that was removed */
	put32(20, 0xdeadbee8);
	put(24, BASE + 0x200);
	put(32, BASE + 0x300);
	put(40, BASE + 0x400);
	put32(0x300 + 4 * 1, 77);
	put32(0x300 + 4 * 3, 1);
	put32(0x300 + 4 * 6, 78);
	blocks[n_blocks++] = (struct view_block){ BASE + 0x200, 64, 0, true };
	blocks[n_blocks++] = (struct view_block){ BASE + 0x400, 64, 0, true };
	assert_true(expand(table, 0));
	assert_true(contents.unordered);
	assert_int_equal(contents.n, 2);
	assert_int_equal(contents.data[0].key, BASE + 0x200 + 8);
	assert_int_equal(contents.data[0].address, BASE + 0x400 + 8);
	assert_int_equal(contents.data[1].key, BASE + 0x200 + 48);
	assert_int_equal(type_get(pool, contents.data[1].key_type)->size, 8);
	/* Blocks too small for what it says; counts that do not add up. */
	blocks[1].size = 31;
	assert_false(expand(table, 0));
	blocks[1].size = 64;
	put32(12, 1);
	assert_false(expand(table, 0));
	put32(12, 3);
	assert_false(expand(table, 0));
	put32(12, 2);
	put32(8, 15);
	assert_false(expand(table, 0));
	put32(8, 7);
	put32(0, 9);
	assert_false(expand(table, 0));
	put32(0, 8);
	assert_true(expand(table, 0));
}

/* ---- users' rows ---- */

static void refused(struct container_user user, const char *message,
		    const char *hint)
{
	struct containers *none = NULL;
	_cleanup_(err_destroyp) struct err *err =
		containers_create(pool, &user, 1, &none);
	assert_non_null(err);
	assert_null(none);
	assert_int_equal(err_kind(err), ERR_USAGE);
	assert_string_equal(err_message(err), message);
	assert_non_null(strstr(err_hint_text(err), hint));
}

static void test_refused(void **state)
{
	(void)state;
	refused((struct container_user){ .shape = "skip" },
		"a container without 'type'", "type = ");
	refused((struct container_user){ .type = "ring" },
		"container 'ring' has no 'shape'", "sequence, text, chain");
	refused((struct container_user){ .type = "ring", .shape = "vektor" },
		"container 'ring': there is no shape 'vektor'",
		"sequence, text, chain, pointer, optional, skip");
	refused((struct container_user){ .type = "ring",
					 .shape = "chain",
					 .first = "head" },
		"container 'ring': shape 'chain' needs 'next'",
		"'first', 'count', 'next', 'value', 'element' and 'unordered'");
	refused((struct container_user){ .type = "ring",
					 .shape = "skip",
					 .first = "a",
					 .count = "b" },
		"container 'ring': shape 'skip' does not take 'first' and "
		"'count'",
		"it takes only 'type' and 'shape'");
	refused((struct container_user){ .type = "ring",
					 .shape = "sequence",
					 .first = "a" },
		"container 'ring': shape 'sequence' needs one of 'last' and "
		"'count'",
		"'first'");
	refused((struct container_user){ .type = "ring",
					 .shape = "text",
					 .first = "a",
					 .last = "b",
					 .count = "c" },
		"container 'ring': shape 'text' needs one of 'last' and "
		"'count'",
		"'first'");
}

/* list: impl -> { head, bits }; an own type for each way to hold elements. */
static void test_user_chain(void **state)
{
	(void)state;
	const struct type_member impl_members[] = {
		{ .name = "head", .type = id_node_pointer },
		{ .name = "used",
		  .type = id_int,
		  .offset = 8,
		  .bit_offset = 3,
		  .bit_size = 5 },
	};
	type_id impl = record("impl", 16, impl_members, 2);
	const struct type_member members[] = {
		{ .name = "d", .type = pointer_to(impl) },
	};
	type_id list = record("app::list<int>", 8, members, 1);
	type_id other = record("app::list<char>", 8, NULL, 0);
	const struct container_user users[] = {
		{ .type = "app::list<*",
		  .shape = "chain",
		  .first = "d.head",
		  .count = "d.used",
		  .next = "next",
		  .value = "value",
		  .unordered = true },
	};
	with(users, 1);
	assert_int_equal(shape_of(list), CONTAINER_CHAIN);
	assert_int_equal(shape_of(other), -1); /* said, by members */
	put(0, BASE + 0x100);
	put(0x100, BASE + 0x200);
	put32(0x108, 2U << 3 | 7);
	put(0x208, BASE + 0x300);
	put(0x308, 0);
	assert_true(expand(list, 0));
	assert_true(contents.unordered);
	assert_int_equal(contents.n, 2);
	assert_int_equal(contents.data[1].address, BASE + 0x300);
	assert_int_equal(contents.data[1].type, id_int);
	put32(0x108, 3U << 3);
	assert_false(expand(list, 0));
	/* In a circle, back to the first: that is its end. */
	put32(0x108, 2U << 3);
	put(0x308, BASE + 0x200);
	assert_true(expand(list, 0));
	assert_int_equal(contents.n, 2);
	/* Somewhere else into the circle, or out of memory: not one. */
	put(0x308, BASE + 0x300);
	assert_false(expand(list, 0));
	put(0x308, 0x10);
	assert_false(expand(list, 0));
	put(0, 0);
	assert_false(expand(list, 0));
}

static void test_user_shapes(void **state)
{
	(void)state;
	type_id items;
	assert_ok(type_array_of(pool, id_int, 8, &items));
	const struct type_member members[] = {
		{ .name = "n", .type = id_int },
		{ .name = "there", .type = id_char, .offset = 4 },
		{ .name = "items", .type = items, .offset = 8 },
		{ .name = "target", .type = id_node_pointer, .offset = 40 },
	};
	type_id fixed = record("fixed", 48, members, 4);
	type_id maybe = record("maybe", 48, members, 4);
	type_id owner = record("owner", 48, members, 4);
	type_id as_char = record("as_char", 48, members, 4);
	type_id cache = record("cache", 48, members, 4);
	type_id lost = record("lost", 48, members, 4);
	const struct type_member fancy_members[] = {
		{ .name = "first", .type = lost },
	};
	type_id fancy = record("fancy", 48, fancy_members, 1);
	const struct container_user users[] = {
		{ .type = "fixed",
		  .shape = "sequence",
		  .first = "items",
		  .count = "n" },
		{ .type = "maybe",
		  .shape = "optional",
		  .count = "there",
		  .value = "items" },
		{ .type = "owner", .shape = "pointer", .first = "target" },
		{ .type = "as_char",
		  .shape = "text",
		  .first = "target",
		  .count = "n",
		  .element = "char" },
		{ .type = "fancy", .shape = "pointer", .first = "first" },
		{ .type = "cache", .shape = "skip" },
		{ .type = "lost",
		  .shape = "pointer",
		  .first = "target",
		  .element = "struct nowhere" },
	};
	with(users, ARRAY_SIZE(users));
	put32(0, 3);
	assert_true(expand(fixed, 0));
	assert_int_equal(contents.run, 3);
	assert_int_equal(contents.stride, 4);
	assert_int_equal(contents.data[0].address, BASE + 8);
	put32(0, 9); /* more than the array has */
	assert_false(expand(fixed, 0));
	assert_true(expand(maybe, 0));
	assert_int_equal(contents.words[0], 0);
	assert_int_equal(contents.n, 0);
	memory[4] = 2;
	assert_true(expand(maybe, 0));
	assert_int_equal(contents.words[0], 1);
	assert_int_equal(contents.data[0].type, items);
	assert_true(expand(owner, 0));
	assert_int_equal(contents.n, 0);
	put(40, BASE + 0x200);
	assert_true(expand(owner, 0));
	assert_int_equal(contents.n, 1);
	assert_int_equal(contents.data[0].type, id_node);
	put(40, 0x20);
	assert_false(expand(owner, 0));
	put(40, BASE + 0x200);
	assert_true(expand(as_char, 0));
	assert_int_equal(contents.run, 9);
	assert_int_equal(shape_of(as_char), CONTAINER_TEXT);
	assert_true(expand(cache, 0));
	assert_int_equal(shape_of(cache), CONTAINER_SKIP);
	assert_int_equal(shape_of(lost), -1);
	assert_int_equal(shape_of(fancy), -1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names),	  TEST(test_remembered),
		TEST(test_declared_only), TEST(test_completed),
		TEST(test_unsound),	  TEST(test_blocks),
		TEST(test_function),	  TEST(test_old_ghash),
		TEST(test_refused),	  TEST(test_user_chain),
		TEST(test_user_shapes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
